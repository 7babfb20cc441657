"""torch's elastic agent, recording: each override records, asks one pure function, and lets torch act."""

from __future__ import annotations

import math
import signal
import time
from datetime import datetime
from typing import Any

from torch.distributed.elastic.agent.server.api import RunResult, Worker, WorkerGroup, WorkerSpec, WorkerState
from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent
from torch.distributed.elastic.rendezvous import RendezvousClosedError

from ..bundle import Bundle
from ..journal import Journal
from ..wire.plain import now
from ..wire.runner_events import (
    Cause,
    Claim,
    RendezvousBegun,
    RendezvousCompleted,
    RestartBegun,
    WorkerExited,
    WorkersFinished,
    WorkersStarted,
    WorkersStarting,
)
from ..wire.spec import StartMessage
from .budget import Settlement, Standing, is_overspent, must_give_up, settle, why_too_many
from .crew import Crew
from .destinations import Destinations
from .ending import GivenUp
from .first_failure import claim_about, first_failure, kind_of
from .forking import Forking
from .grab import FORCED, Grab
from .guard import Streak, follow
from .metric_handler import gather_torch_metrics
from .oom import OomKiller
from .preload.handlers import starting
from .preload.server import CannotFork, ForkServer
from .ranks import make_workers
from .rendezvous.exchange import Formed
from .rendezvous.handler import Handler
from .sentences import cannot_pay, cannot_pay_either, facts_of, fails_alike, stays, stuck, tries_later
from .stopping import StopRequest, StopRequested, ends_attempt
from .tail import Tail
from .worker_spec import agent_options, worker_spec
from .workers import Ended, Workers, name_processes

FAILED_S = 5.0
"""How long workers may take to end once the job has failed, at most: it is to be over within ten seconds."""
CAUSE_S = 0.3
"""How long a failure whose cause is not seen yet may wait for it to show."""


class Agent(LocalElasticAgent):
    def __init__(
        self,
        message: StartMessage,
        bundle: Bundle,
        journal: Journal,
        handler: Handler,
        stop: StopRequest,
        earlier: Agent | None = None,
        fork_server: ForkServer | None = None,
    ) -> None:
        self._destinations = Destinations(bundle, message.spec)
        barrier_s = message.spec.exit_barrier_timeout
        super().__init__(
            worker_spec(message, handler),
            self._destinations,
            exit_barrier_timeout=math.inf if barrier_s is None else barrier_s,
            **agent_options(message.spec),
        )
        self._message, self._bundle, self._journal = message, bundle, journal
        self._handler, self._stop, self._forking = handler, stop, Forking(fork_server)
        self.tail, self._crew = Tail(bundle, journal), Crew(message, bundle)
        gather_torch_metrics(self.tail.put_metrics)
        self._grab = Grab(bundle, message.spec.evidence, message.spec.secret_env)
        self._workers = Workers({}, {}, {})
        self._oom: OomKiller = OomKiller() if earlier is None else earlier._oom
        self._finished: RunResult | None = None
        self._finished_at = 0.0
        self._claim: Claim | None = None
        self._restart_cause: Cause = "start"
        self._noticed_at: datetime | None = None
        self._spent: dict[str, int] = {message.node: message.spent}
        self.round = 0
        self._members: tuple[str, ...] = ()
        self.torch_counter = 0
        self.given_up: str | None = None
        self.waits_no_longer = False
        self._is_in_round = False
        self._grace_s = message.spec.shutdown_timeout
        self._streak, self._started_at = Streak(), 0.0
        if earlier is not None:
            self._go_on_from(earlier)
        handler.my_standing = self._standing
        handler.misses_peer(lambda: self._workers.misses_peer())
        self._is_starting, self._to_pass_on = False, list[int]()
        stop.forward = self._pass_on

    def _go_on_from(self, earlier: Agent) -> None:
        """Know what that agent of this node knew when it lost the others from sight."""
        self.round, self._members, self._spent = earlier.round, earlier._members, earlier._spent
        self.torch_counter = earlier.torch_counter
        self._restart_cause, self._claim = earlier._restart_cause, earlier._claim
        self._streak = earlier._streak

    def abandon_round(self) -> None:
        """The others cannot be reached: the round is over for this node, whose workers have been ended."""
        self.tail.flush()
        if self._is_in_round:
            self._record_restart("membership")

    @property
    def charged(self) -> int:
        """Failure restarts this node has spent in the attempt."""
        return self._spent.get(self._message.node, 0)

    def _standing(self) -> Standing:
        return Standing(
            node=self._message.node,
            round=self.round,
            spent=self._spent,
            members=self._members,
            claim=self._claim,
            hosts_store=self._message.hosts_store,
            workers=self._crew.size,
        )

    # -- rendezvous --

    def _rendezvous(self, worker_group: WorkerGroup) -> None:
        self._stop.check()
        if not self.round and self._handler.has_begun():
            self._forking.wait()
        previous = self.round or None
        worker_group.spec.local_world_size = self._crew.count()
        self._journal.record(
            RendezvousBegun,
            cause=self._restart_cause,
            previous_round=previous,
            gone_gpus=self._crew.gone,
        )
        super()._rendezvous(worker_group)
        formed = self._handler.formed
        assert formed is not None
        settlement = settle(list(formed.standings))
        self._expect_affordable(settlement)
        self._handler.note_settled(settlement)
        self._accept(settlement, formed, worker_group)

    def _expect_affordable(self, settlement: Settlement) -> None:
        spec = self._message.spec
        if is_overspent(settlement, spec.max_restarts):
            is_mine = settlement.charged == self._message.node
            raise GivenUp(cannot_pay_either(settlement, spec.max_restarts), is_mine=is_mine)
        if too_many := why_too_many(settlement, spec.max_membership_restarts):
            raise GivenUp(too_many)

    def _accept(self, settlement: Settlement, formed: Formed, group: WorkerGroup) -> None:
        self.round, self._spent, self._claim = settlement.round, settlement.spent, None
        self._members = formed.nodes
        self._journal.record(
            RendezvousCompleted,
            round=settlement.round,
            world_size=sum(formed.local_world_sizes),
            group_rank=group.group_rank,
            nodes=formed.nodes,
            cause=settlement.cause,
            charged=settlement.charged,
            claims=settlement.claims,
            store=formed.store,
            absent=formed.absent,
            local_world_sizes=formed.local_world_sizes,
        )

    def _assign_worker_ranks(
        self, store: Any, group_rank: int, group_world_size: int, spec: WorkerSpec
    ) -> list[Worker]:
        # From the standings: in a second exchange a peer that has just died would hold up everybody.
        assert self._handler.formed is not None
        return make_workers(self._handler.formed.local_world_sizes, group_rank)

    # -- starting and stopping workers --

    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        self._stop.check()
        self._finished = self._noticed_at = None
        self._destinations.round = self.round
        # torch tells the workers the difference as TORCHELASTIC_RESTART_COUNT.
        self._remaining_restarts = worker_group.spec.max_restarts - self.charged
        ranks = [worker.global_rank for worker in worker_group.workers]
        self._journal.record(WorkersStarting, round=self.round, ranks=tuple(ranks))
        self._is_in_round = True
        self._is_starting = True
        pids = self._start_processes(worker_group)
        self._forking.begin()
        self._workers = self._name_workers(worker_group)
        self._is_starting, self._started_at = False, time.monotonic()
        while self._to_pass_on:
            self._workers.pass_on(self._to_pass_on.pop(0))
        refs = tuple(self._workers.refs.values())
        self._journal.record(WorkersStarted, round=self.round, workers=refs)
        self.tail.watch(self.round, ranks)
        return pids

    def _pass_on(self, signum: int) -> None:
        """To the workers; while they are being started, once all of them are known."""
        if self._is_starting:
            self._to_pass_on.append(signum)
        else:
            self._workers.pass_on(signum)

    def _start_processes(self, group: WorkerGroup) -> dict[int, Any]:
        try:
            with starting(self._forking.begun()):
                pids: dict[int, Any] = super()._start_workers(group)
        except CannotFork as problem:
            raise GivenUp(str(problem)) from problem
        return pids

    def _name_workers(self, group: WorkerGroup) -> Workers:
        handlers = self._pcontext.subprocess_handlers  # type: ignore[union-attr]
        processes = {local_rank: handler.proc for local_rank, handler in handlers.items()}
        ranks = {worker.local_rank: worker.global_rank for worker in group.workers}
        folders = {local: self._bundle.rank_folder(self.round, rank) for local, rank in ranks.items()}
        workers = Workers(processes, name_processes(processes, ranks), folders, self._oom)
        workers.before_force = lambda: self._grab.take(self.round, workers.standing(), FORCED)
        return workers

    def _stop_workers(self, worker_group: WorkerGroup) -> None:
        self._end_workers()
        super()._stop_workers(worker_group)

    def _shutdown(self, death_sig: signal.Signals = signal.SIGTERM, timeout: int = 30) -> None:
        self._end_workers()
        super()._shutdown(death_sig, timeout)

    def _end_workers(self) -> None:
        """Our own ladder, with the grace of the spec; what torch does after it finds nothing alive."""
        # How they stood is of use to nobody where somebody has asked for their end.
        if self._is_in_round and self._stop.signal_name is None and not self._workers.have_finished():
            self._grab.take_once(self.round, self._workers.standing())
        self._record_exits(self._workers.stop(self._grace_s))

    def _restart_workers(self, worker_group: WorkerGroup) -> None:
        failed = worker_group.state in (WorkerState.FAILED, WorkerState.UNHEALTHY)
        self._notice()
        self._end_workers()
        if self._workers.unkillable:
            raise GivenUp(stays(self._workers.unkillable, self._message.node))
        self.tail.flush()
        self._record_restart("failure" if failed else "membership")
        if failed:
            self._back_off()
        else:
            self._follow(None)
        super()._restart_workers(worker_group)

    def _back_off(self) -> None:
        if self._streak.pause_s:
            print(tries_later(self._message.node, self._streak), flush=True)
            self._stop.pause(self._streak.pause_s)

    def _record_restart(self, cause: Cause) -> None:
        self._restart_cause, self._is_in_round = cause, False
        self._journal.record(
            RestartBegun,
            round=self.round,
            cause=cause,
            failed_ranks=self._claim.ranks if self._claim else (),
            torch_counter=self.torch_counter,
            noticed_at=self._noticed_at,
            evidence_s=self._grab.seconds.get(self.round),
        )

    def _notice(self) -> None:
        """The round is over, as far as this node is concerned."""
        self._noticed_at = self._noticed_at or now()

    # -- watching workers --

    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        news = self._handler.news
        self._workers.wait(self._message.spec.monitor_interval, self._stop.fileno(), news.fileno())
        news.clear()
        self._stop.check()
        self._record_exits(self._workers.look())
        if self._workers.has_failed():
            self._notice()
            return self._fail(worker_group)
        if not self._workers.is_running():
            return self._finish(worker_group)
        return self._look_for_stuck(worker_group) or RunResult(state=WorkerState.HEALTHY)

    def _look_for_stuck(self, group: WorkerGroup) -> RunResult | None:
        """torch's own watch for workers in uninterruptible sleep, on when its variable is set."""
        limit = self._uninterruptible_state_timeout
        result = self._check_uninterruptible_state_timeout(group, limit) if limit > 0 else None
        if result is not None:
            self._give_up(stuck(self._message.node, limit))
        return result

    def _invoke_run(self, role: str = "default") -> RunResult:
        try:
            result: RunResult = super()._invoke_run(role)
        except StopRequested as request:
            self._tell_others(request)
            raise
        except RendezvousClosedError:
            if (self._handler.why_ended() or "").startswith("failed|"):
                self._grace_s = min(self._grace_s, FAILED_S)
            raise
        return result

    def _tell_others(self, request: StopRequested) -> None:
        """Before the workers end, which may take a while: the others re-form, or end too, at once."""
        if ends_attempt(self._bundle):
            why = f"stopped|{self._message.node} was {request}"
            self._handler.tell_first(lambda: self._handler.end_attempt(why))
        else:
            self._handler.tell_first(self._handler.leave)

    def _give_up(self, why: str) -> None:
        """The others hear of it before the workers here have ended, which may take a while."""
        self.given_up = why
        self._handler.tell_first(lambda: self._handler.end_attempt(f"failed|{why}"))
        self._grace_s = min(self._grace_s, FAILED_S)

    def _fail(self, group: WorkerGroup) -> RunResult:
        if self._handler.has_lost_member():
            # By consequence, whatever it looks like: the loop re-forms for the member that is missing.
            return RunResult(state=WorkerState.HEALTHY)
        self._wait_for_cause()
        first = first_failure(self._workers.ended.values())
        self._claim = claim_about(self._workers.ended.values(), self._message.node)
        self._follow(kind_of(first))
        if why := self._why_give_up(self._claim, first):
            self._give_up(why)
        self._end_workers()
        result: RunResult = super()._monitor_workers(group)
        # torch's loop restarts when it sees any left. What is really left is settled in the rendezvous.
        self._remaining_restarts = 0 if self.given_up else 1
        self.torch_counter += self._remaining_restarts
        return result

    def _why_give_up(self, claim: Claim, first: Ended) -> str | None:
        node, budget = self._message.node, self._message.spec.max_restarts
        if must_give_up(claim, self.charged, budget):
            return cannot_pay(first, node, self.charged, budget)
        if self._streak.is_hopeless:
            left, saved = budget - self.charged, self.tail.newest_checkpoint
            return fails_alike(first, node, self._streak, left, saved)
        return None

    def _follow(self, failure: str | None) -> None:
        after_s, has_progressed = time.monotonic() - self._started_at, self.tail.has_progressed()
        self._streak = follow(self._streak, failure, after_s, has_progressed)

    def _wait_for_cause(self) -> None:
        """A worker that lost its peer may end before the peer whose failure it felt."""
        deadline = time.monotonic() + CAUSE_S
        while self._workers.is_running() and time.monotonic() < deadline:
            if any(ended.role == "cause" for ended in self._workers.ended.values()):
                return
            self._workers.wait(deadline - time.monotonic())
            self._record_exits(self._workers.look())

    def _finish(self, group: WorkerGroup) -> RunResult:
        """The exit barrier, kept inside torch's loop: a node that must re-form finds this one listening."""
        if self._finished is None:
            self._finished = super()._monitor_workers(group)
            self._finished_at = time.monotonic()
            self.tail.flush()
            self._journal.record(WorkersFinished, round=self.round)
            self._handler.say_finished()
        waited_s = time.monotonic() - self._finished_at
        is_over = self._handler.all_finished()
        self.waits_no_longer = not is_over and waited_s > self._exit_barrier_timeout
        if is_over or self.waits_no_longer:
            return self._finished
        return RunResult(state=WorkerState.HEALTHY)

    def _exit_barrier(self) -> None:
        """Has been kept in ``_finish``."""

    def _record_exits(self, exits: list[Ended]) -> None:
        for ended in exits:
            self._journal.record(WorkerExited, round=self.round, **facts_of(ended))
