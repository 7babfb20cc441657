"""One node's part in one attempt, from the store to the end. Imports torch; ``launch`` imports this last."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from dataclasses import dataclass

from torch._C._distributed_c10d import TCPStore
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
from ..wire.events import RendezvousJoined
from ..wire.spec import RdzvConf, StartMessage
from .agent import Agent, GivenUp
from .command import CannotStart, check_files
from .destinations import TORCH_SIGNALS
from .ending import Ending, say_fault
from .endpoint import StoreError, is_gone, join_endpoint, wait_reachable
from .rendezvous.handler import Handler
from .rendezvous.store import connect_store, host_store
from .stopping import StopRequest, StopRequested

SUCCEEDED = "all ranks ended with 0"
BACK_S = 60.0
"""How long a node that cannot reach the store's host any more tries to find it again, or ``join_timeout``."""
LOOK_AGAIN_S = 0.2
ALONE_S = 10.0
"""How long the node that hosts the store waits, beyond the grace of workers, for the others to go."""


@dataclass(frozen=True)
class Place:
    """Where the attempt's store is. ``listen_fd`` only where this runner hosts it."""

    host: str
    port: int
    listen_fd: int | None


def _open_store(place: Place, conf: RdzvConf, stop: StopRequest) -> TCPStore:
    if place.listen_fd is None:
        wait_reachable(place.host, place.port, conf.join_timeout, stop.pause)
        return connect_store(place.host, place.port, conf.read_timeout)
    return host_store(place.host, place.listen_fd, conf.read_timeout)


class Attempt:
    def __init__(
        self, message: StartMessage, bundle: Bundle, journal: Journal, conf: RdzvConf, stop: StopRequest
    ) -> None:
        self._message, self._bundle, self._journal = message, bundle, journal
        self._conf, self._stop = conf, stop
        self._back_s = min(BACK_S, conf.join_timeout)
        self._handler: Handler | None = None
        self._agent: Agent | None = None
        # torch would put its own handlers over ours; it is given a signal that nobody sends.
        os.environ[TORCH_SIGNALS] = "SIGRTMAX"

    def run(self, place: Place) -> Ending:
        """Take part until the attempt is over for this node, and leave it in order."""
        ending = self._run(place)
        if self._agent is not None:
            self._agent.tail.flush()
        self._leave(ending, hosts=place.listen_fd is not None)
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

    def _run(self, place: Place) -> Ending:
        try:
            store = _open_store(place, self._conf, self._stop)
            self._open_handler(store)
            check_files(self._message.spec, self._message.node)
            if self._message.spec.workdir:
                os.chdir(self._message.spec.workdir)
            return self._take_part(place)
        except StopRequested as request:
            return Ending("stopped", str(request))
        except SignalException as request:
            return Ending("stopped", f"stopped on request ({request.sigval.name})")
        except StoreError as problem:
            return Ending("failed", str(problem))
        except (CannotStart, GivenUp) as problem:
            return Ending("failed", str(problem), is_ours=True)
        except RendezvousClosedError:
            return self._closed_by_other()
        except RendezvousTimeoutError:
            return Ending("failed", self._say_timeout(), is_ours=True)
        except (RendezvousConnectionError, DistError):
            traceback.print_exc(file=sys.stderr)
            return Ending("failed", self._say_store_lost(place))
        except Exception as error:  # noqa: BLE001 - whatever it is, the other nodes must be told
            traceback.print_exc(file=sys.stderr)
            return Ending("failed", say_fault(error), is_ours=True)

    def _open_handler(self, store: TCPStore) -> Handler:
        self._handler = Handler(store, self._message, self._conf, self._stop.pause, self._record_joined)
        return self._handler

    def _take_part(self, place: Place) -> Ending:
        """Train until the end. A node that loses the others from sight ends its workers and joins anew."""
        assert self._handler is not None
        handler, earlier = self._handler, None
        while True:
            agent = Agent(self._message, self._bundle, self._journal, handler, self._stop, earlier)
            self._agent = earlier = agent
            try:
                return self._ending_of(agent.run())
            except (RendezvousConnectionError, DistError):
                if place.listen_fd is not None:
                    raise
                traceback.print_exc(file=sys.stderr)
                agent.abandon_round()
                handler = self._find_others_again(place, handler)

    def _find_others_again(self, place: Place, handler: Handler) -> Handler:
        """A fresh way into the rendezvous, once the store's host is reached again.

        Raises:
            StoreError: it says that the store is gone, or says nothing for too long.
        """
        print("the store does not answer; this node tries to come back to it", flush=True)
        lost, deadline = self._say_store_lost(place), time.monotonic() + self._back_s
        handler.fall_silent()
        # There is nothing to leave in order, whatever ends this.
        self._handler = None
        while time.monotonic() < deadline:
            self._stop.pause(LOOK_AGAIN_S)
            if is_gone(place.host, place.port):
                raise StoreError(lost)
            with contextlib.suppress(StoreError, RendezvousConnectionError, DistError):
                wait_reachable(place.host, place.port, deadline - time.monotonic(), self._stop.pause)
                return self._open_handler(connect_store(place.host, place.port, self._conf.read_timeout))
        raise StoreError(self._say_store_silent(place, lost))

    def _ending_of(self, result: RunResult | None) -> Ending:
        """``None``: torch's agent left because the rendezvous was closed while this node stood by."""
        if result is None:
            return self._closed_by_other()
        if result.state == WorkerState.SUCCEEDED:
            return Ending("succeeded", SUCCEEDED, is_ours=True)
        given_up = self._agent.given_up if self._agent else None
        return Ending("failed", given_up or "The workers failed.", is_ours=True)

    def _closed_by_other(self) -> Ending:
        told = self._handler.why_ended() if self._handler else None
        outcome, _, why = (told or "").partition("|")
        if outcome == "succeeded":
            return Ending("succeeded", "the other nodes finished the job before this node could join")
        reason = why or "It did not say why"
        closed = f"{reason.rstrip('.')}; the rendezvous was closed by another node."
        return Ending("stopped" if outcome == "stopped" else "failed", closed)

    def _say_timeout(self) -> str:
        joined = self._handler.joined if self._handler else ()
        missing = ", ".join(node for node in self._message.nodes if node not in joined)
        return (
            f"No round formed within {self._conf.join_timeout} s (join_timeout): {missing or 'nobody'} did "
            f"not join, and at least {self._message.min_nodes} nodes are needed."
        )

    def _say_store_lost(self, place: Place) -> str:
        formed = self._handler.formed if self._handler else None
        name = formed.store_host if formed else None
        host = f"store host {name}" if name else "host of the store"
        return (
            f"The {host} was lost: the rendezvous store at {join_endpoint(place.host, place.port)} "
            "does not answer any more, and with it the attempt ends."
        )

    def _say_store_silent(self, place: Place, lost: str) -> str:
        host = lost.partition(" was lost")[0]
        endpoint = join_endpoint(place.host, place.port)
        return (
            f"{host} was lost from sight: the rendezvous store at {endpoint} has not answered "
            f"{self._message.node} for {self._back_s:.0f} s and longer. See whether that machine runs, and "
            "the network between the two."
        )

    def _record_joined(self, names: tuple[str, ...]) -> None:
        self._journal.record(
            RendezvousJoined,
            joined=names,
            expected=self._message.nodes,
            min_nodes=self._message.min_nodes,
            max_nodes=self._message.max_nodes,
        )

    def _leave(self, ending: Ending, hosts: bool) -> None:
        """Tell the others when it is over for them too; the host of the store goes last."""
        if self._handler is None:
            return
        with contextlib.suppress(DistError):
            if hosts or (ending.is_ours and ending.outcome == "failed"):
                self._handler.end_attempt(f"{ending.outcome}|{self._why_for_others(ending)}")
            self._handler.leave()
            if hosts:
                grace_s = 0.0 if ending.outcome == "stopped" else self._message.spec.grace_s
                self._handler.wait_alone(ALONE_S + grace_s)

    def _why_for_others(self, ending: Ending) -> str:
        if ending.outcome == "stopped":
            return f"{self._message.node}, which hosts the rendezvous store, was {ending.reason}"
        return ending.reason
