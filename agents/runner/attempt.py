"""One node's part in one attempt, from the store to the end. Imports torch; ``launch`` imports this last."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback

from torch.distributed import DistError
from torch.distributed.elastic.agent.server.api import RunResult, WorkerState
from torch.distributed.elastic.multiprocessing import SignalException
from torch.distributed.elastic.rendezvous import (
    RendezvousClosedError,
    RendezvousConnectionError,
    RendezvousTimeoutError,
)

from ..bundle import Bundle
from ..journal import Journal
from ..wire.rdzv import RdzvConf
from ..wire.runner_events import RendezvousJoined
from ..wire.spec import StartMessage
from .agent import Agent
from .command import CannotStart, check_files
from .destinations import TORCH_SIGNALS
from .ending import Ending, GivenUp, Outcome, say_fault
from .endpoint import StoreError
from .keeper_watch import KeeperWatch
from .preload.server import ForkServer
from .rendezvous.handler import Handler
from .rendezvous.meeting import Meeting, Venue
from .rendezvous.places import Gathering
from .stopping import StopRequest, StopRequested, ends_attempt

SUCCEEDED = "all ranks ended with 0"
BACK_S = 60.0
"""How long a node that cannot reach the store's host any more tries to find it again, or ``join_timeout``."""
LOOK_AGAIN_S = 0.2
LINGER_S = 3.0
"""How long a leaving node keeps its round's store beyond the grace. Its node agent kills it after 5 s."""


class Attempt:
    def __init__(
        self,
        message: StartMessage,
        bundle: Bundle,
        journal: Journal,
        conf: RdzvConf,
        stop: StopRequest,
        fork_server: ForkServer | None = None,
    ) -> None:
        self._message, self._bundle, self._journal = message, bundle, journal
        self._conf, self._stop, self._fork_server = conf, stop, fork_server
        self._back_s = min(BACK_S, conf.join_timeout)
        self._keeper = KeeperWatch(bundle, message)
        self._meeting: Meeting | None = None
        self._handler: Handler | None = None
        self._agent: Agent | None = None
        # torch would put its own handlers over ours; it is given a signal that nobody sends.
        os.environ[TORCH_SIGNALS] = "SIGRTMAX"

    def run(self, venue: Venue) -> Ending:
        """Take part until the attempt is over for this node, and leave it in order."""
        ending = self._run(venue)
        if self._agent is not None:
            self._agent.tail.flush()
        self._leave(ending)
        return ending

    @property
    def facts(self) -> dict[str, int | None]:
        """What the last record says beside the outcome."""
        agent = self._agent
        if agent is None:
            return {"round": None, "charged": self._message.spent, "torch_counter": 0}
        return {
            "round": agent.round or None,
            "charged": agent.charged,
            "torch_counter": agent.torch_counter,
        }

    def _run(self, venue: Venue) -> Ending:
        try:
            self._enter(venue)
            check_files(self._message.spec, self._message.node)
            if self._message.spec.workdir:
                os.chdir(self._message.spec.workdir)
            return self._take_part(venue)
        except StopRequested as request:
            return self._stopped(str(request))
        except SignalException as request:
            return self._stopped(f"stopped on request ({request.sigval.name})")
        except StoreError as problem:
            return Ending("failed", str(problem), is_infrastructure=True)
        except CannotStart as problem:
            return Ending("failed", str(problem), is_ours=True)
        except GivenUp as problem:
            outcome: Outcome = "failed" if problem.is_mine else "stopped"
            return Ending(outcome, str(problem), is_ours=True, is_infrastructure=problem.is_infrastructure)
        except RendezvousClosedError:
            return self._closed_by_other()
        except RendezvousTimeoutError:
            return Ending("failed", self._say_timeout(), is_ours=True, is_infrastructure=True)
        except (RendezvousConnectionError, DistError):
            traceback.print_exc(file=sys.stderr)
            return Ending("failed", self._say_lost(venue), is_infrastructure=True)
        except Exception as error:  # noqa: BLE001 - whatever it is, the other nodes must be told
            traceback.print_exc(file=sys.stderr)
            return Ending("failed", say_fault(error), is_ours=True)

    def _stopped(self, reason: str) -> Ending:
        told = f"{self._message.node} was {reason}"
        return Ending("stopped", reason, is_requested=True, for_others=told)

    def _enter(self, venue: Venue, timeout_s: float | None = None) -> Handler:
        meeting = venue.open(self._message.attempt, self._wait_for_store, timeout_s)
        self._meeting = meeting
        self._handler = Handler(meeting, self._message, self._conf, self._stop.pause, self._record_joined)
        return self._handler

    def _wait_for_store(self, seconds: float) -> None:
        self._stop.pause(seconds)
        self._keeper.check()

    def _take_part(self, venue: Venue) -> Ending:
        """Train until the end. A node that loses the others from sight ends its workers and joins anew."""
        assert self._handler is not None
        handler, earlier = self._handler, None
        while True:
            agent = Agent(
                *(self._message, self._bundle, self._journal, handler, self._stop, earlier, self._fork_server)
            )
            self._agent = earlier = agent
            try:
                return self._ending_of(agent.run())
            except (RendezvousConnectionError, DistError):
                traceback.print_exc(file=sys.stderr)
                agent.abandon_round()
                handler = self._find_others_again(venue, handler)

    def _find_others_again(self, venue: Venue, handler: Handler) -> Handler:
        """A fresh way into the rendezvous, once what keeps it is reached again.

        Raises:
            StoreError: it is certainly gone, or says nothing for too long.
        """
        print(f"{venue.where} does not answer; this node tries to come back to it", flush=True)
        lost, deadline = self._say_lost(venue), time.monotonic() + self._back_s
        handler.fall_silent()
        self._close_meeting()
        # There is nothing to leave in order, whatever ends this.
        self._handler = None
        while time.monotonic() < deadline:
            self._stop.pause(LOOK_AGAIN_S)
            if venue.is_gone():
                raise StoreError(lost)
            with contextlib.suppress(StoreError, RendezvousConnectionError, DistError):
                return self._enter(venue, max(LOOK_AGAIN_S, deadline - time.monotonic()))
        raise StoreError(self._say_silent(venue, lost))

    def _close_meeting(self) -> None:
        if self._meeting is not None:
            self._meeting.close()
        self._meeting = None

    def _ending_of(self, result: RunResult | None) -> Ending:
        """``None``: torch's agent left because the rendezvous was closed while this node stood by."""
        if result is None:
            return self._closed_by_other()
        if result.state == WorkerState.SUCCEEDED:
            return self._ending_well()
        given_up = self._agent.given_up if self._agent else None
        return Ending("failed", given_up or "The workers failed.", is_ours=True)

    def _ending_well(self) -> Ending:
        if self._agent is None or not self._agent.waits_no_longer:
            return Ending("succeeded", SUCCEEDED, is_ours=True)
        waited_s = self._message.spec.exit_barrier_timeout
        return Ending(
            "succeeded", f"its ranks ended with 0; the others were waited for for {waited_s:g} s, and go on"
        )

    def _closed_by_other(self) -> Ending:
        told = self._handler.why_ended() if self._handler else None
        outcome, _, why = (told or "").partition("|")
        if outcome == "succeeded":
            return Ending("succeeded", "the other nodes finished the job before this node could join")
        reason = why or "It did not say why"
        # Whoever ended the attempt has failed, if anybody has.
        return Ending("stopped", f"{reason.rstrip('.')}; the rendezvous was closed by another node.")

    def _say_timeout(self) -> str:
        missing = self._handler.missing() if self._handler else {}
        who = ", ".join(f"{name} ({why})" for name, why in missing.items())
        short = f"{who} {'is' if len(missing) == 1 else 'are'} missing" if who else "no other node came"
        return (
            f"No round formed within {self._conf.join_timeout} s (join_timeout): {short}, and at least "
            f"{self._message.min_nodes} nodes are needed."
        )

    def _say_lost(self, venue: Venue) -> str:
        return (
            f"{self._who_keeps()} was lost: {venue.where} does not answer any more, "
            "and with it the attempt ends."
        )

    def _who_keeps(self) -> str:
        formed = self._handler.formed if self._handler else None
        name = formed.store_host if formed else None
        return f"The store host {name}" if name else "What keeps the rendezvous"

    def _say_silent(self, venue: Venue, lost: str) -> str:
        keeper = lost.partition(" was lost")[0]
        return (
            f"{keeper} was lost from sight: {venue.where} has not answered "
            f"{self._message.node} for {self._back_s:.0f} s and longer. See whether its machine runs, and "
            "the network between the two."
        )

    def _record_joined(self, seen: Gathering) -> None:
        assigned = [name for name in self._message.nodes if name in seen.expected]
        self._journal.record(
            RendezvousJoined,
            joined=seen.joined,
            expected=(*assigned, *sorted(seen.expected.difference(assigned))),
            min_nodes=self._message.min_nodes,
            max_nodes=self._message.max_nodes,
            is_spare=seen.is_spare,
        )

    def _leave(self, ending: Ending) -> None:
        """Tell the others when it is over for them too, and what keeps the rendezvous when nobody is left."""
        if self._handler is None:
            return
        with contextlib.suppress(DistError):
            why = f"{ending.outcome}|{ending.for_others or ending.reason}"
            # The hub ends it everywhere: nobody forms a round more for the sake of who leaves first.
            if ending.is_ours or ends_attempt(self._bundle):
                self._handler.end_attempt(why)
            self._handler.leave()
            if ending.is_requested:
                self._handler.wait_for_others(self._stop.asked_at + self._patience_s())
            self._handler.finish(why)
        self._close_meeting()

    def _patience_s(self) -> float:
        """How long the others may take to end their workers, and a little more."""
        return self._message.spec.shutdown_timeout + LINGER_S
