"""torch's elastic agent, recording: each override records, asks one pure function, and lets torch act."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from typing import Any

from torch.distributed.elastic.agent.server.api import RunResult, Worker, WorkerGroup, WorkerSpec, WorkerState
from torch.distributed.elastic.agent.server.local_elastic_agent import LocalElasticAgent

from ..bundle import Bundle
from ..journal import Journal
from ..wire.events import (
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
from .budget import Settlement, Standing, claim_of, is_overspent, must_give_up, settle
from .command import command
from .destinations import Destinations
from .preload.handlers import starting
from .preload.server import CannotFork, ForkServer
from .rendezvous.handler import Formed, Handler
from .sentences import cannot_pay, cannot_pay_either, facts_of, stuck
from .stopping import StopRequest
from .tail import Tail
from .workers import Ended, Workers, name_processes

NO_SLEEP_S = 1e-9
"""torch's loop sleeps before each look, and takes no 0; the waiting is in ``_monitor_workers``."""
CAUSE_S = 0.3
"""How long a failure whose cause is not seen yet may wait for it to show."""
IDENTICAL = "TORCH_ELASTIC_WORKER_IDENTICAL"


class GivenUp(Exception):
    """The attempt ends here for want of failure restarts. The text is for the operator."""


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
        exit_barrier_s: float = 24 * 3600.0,
    ) -> None:
        spec = _worker_spec(message, handler)
        self._destinations = Destinations(bundle)
        super().__init__(spec, self._destinations, exit_barrier_timeout=exit_barrier_s)
        self._message, self._bundle, self._journal = message, bundle, journal
        self._handler, self._stop, self._fork_server = handler, stop, fork_server
        self.tail = Tail(bundle, journal)
        self._workers = Workers({}, {}, {})
        self._finished: RunResult | None = None
        self._finished_at = 0.0
        self._claim: Claim | None = None
        self._restart_cause: Cause = "start"
        self._spent: dict[str, int] = {message.node: message.spent}
        self.round = 0
        self._members: tuple[str, ...] = ()
        self.torch_counter = 0
        self.given_up: str | None = None
        self._is_in_round = False
        if earlier is not None:
            self._go_on_from(earlier)
        handler.my_standing = self._standing
        self._is_starting, self._to_pass_on = False, list[int]()
        stop.forward = self._pass_on

    def _go_on_from(self, earlier: Agent) -> None:
        """Know what that agent of this node knew when it lost the others from sight."""
        self.round, self._members, self._spent = earlier.round, earlier._members, earlier._spent
        self.torch_counter = earlier.torch_counter
        self._restart_cause, self._claim = earlier._restart_cause, earlier._claim

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
        )

    # -- rendezvous --

    def _rendezvous(self, worker_group: WorkerGroup) -> None:
        self._stop.check()
        previous = self.round or None
        self._journal.record(RendezvousBegun, cause=self._restart_cause, previous_round=previous)
        super()._rendezvous(worker_group)
        formed = self._handler.formed
        assert formed is not None
        settlement = settle(list(formed.standings))
        if is_overspent(settlement, self._message.spec.max_restarts):
            raise GivenUp(cannot_pay_either(settlement, self._message.spec.max_restarts))
        self._accept(settlement, formed, worker_group)

    def _accept(self, settlement: Settlement, formed: Formed, group: WorkerGroup) -> None:
        self.round, self._spent, self._claim = settlement.round, settlement.spent, None
        self._members = formed.nodes
        self._journal.record(
            RendezvousCompleted,
            round=settlement.round,
            world_size=len(formed.nodes) * self._message.spec.nproc_per_node,
            group_rank=group.group_rank,
            nodes=formed.nodes,
            cause=settlement.cause,
            charged=settlement.charged,
            claims=settlement.claims,
            store=formed.store,
            absent=formed.absent,
        )

    def _assign_worker_ranks(
        self, store: Any, group_rank: int, group_world_size: int, spec: WorkerSpec
    ) -> list[Worker]:
        # All nodes have the same number of workers: ranks need no second exchange, in which a
        # peer that has just died would hold up everybody.
        os.environ[IDENTICAL] = "1"
        try:
            workers: list[Worker] = super()._assign_worker_ranks(store, group_rank, group_world_size, spec)
        finally:
            del os.environ[IDENTICAL]
        return workers

    # -- starting and stopping workers --

    def _start_workers(self, worker_group: WorkerGroup) -> dict[int, Any]:
        self._stop.check()
        self._finished = None
        self._destinations.round = self.round
        # torch tells the workers the difference as TORCHELASTIC_RESTART_COUNT.
        self._remaining_restarts = worker_group.spec.max_restarts - self.charged
        ranks = [worker.global_rank for worker in worker_group.workers]
        self._journal.record(WorkersStarting, round=self.round, ranks=tuple(ranks))
        self._is_in_round = True
        self._is_starting = True
        pids = self._start_processes(worker_group)
        self._begin_fork_server()
        self._workers = self._name_workers(worker_group)
        self._is_starting = False
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
            with starting(self._ready_fork_server()):
                pids: dict[int, Any] = super()._start_workers(group)
        except CannotFork as problem:
            raise GivenUp(str(problem)) from problem
        return pids

    def _ready_fork_server(self) -> ForkServer | None:
        """None: workers are executed. A fork server that begins only now would keep them waiting."""
        server = self._fork_server
        return server if server is not None and server.has_begun else None

    def _begin_fork_server(self) -> None:
        """For the restarts to come: it imports while the first workers, which did not wait for it, do so."""
        if self._fork_server is None or self._fork_server.has_begun:
            return
        try:
            self._fork_server.begin()
        except OSError as error:
            print(f"the fork server cannot be started, it is tried at the next start: {error}", flush=True)

    def _name_workers(self, group: WorkerGroup) -> Workers:
        handlers = self._pcontext.subprocess_handlers  # type: ignore[union-attr]
        processes = {local_rank: handler.proc for local_rank, handler in handlers.items()}
        ranks = {worker.local_rank: worker.global_rank for worker in group.workers}
        folders = {local: self._bundle.rank_folder(self.round, rank) for local, rank in ranks.items()}
        return Workers(processes, name_processes(processes, ranks), folders)

    def _stop_workers(self, worker_group: WorkerGroup) -> None:
        self._end_workers()
        super()._stop_workers(worker_group)

    def _shutdown(self, death_sig: signal.Signals = signal.SIGTERM, timeout: int = 30) -> None:
        self._end_workers()
        super()._shutdown(death_sig, timeout)

    def _end_workers(self) -> None:
        """Our own ladder, with the grace of the spec; what torch does after it finds nothing alive."""
        self._record_exits(self._workers.stop(self._message.spec.shutdown_timeout))

    def _restart_workers(self, worker_group: WorkerGroup) -> None:
        failed = worker_group.state in (WorkerState.FAILED, WorkerState.UNHEALTHY)
        self._end_workers()
        self.tail.flush()
        self._record_restart("failure" if failed else "membership")
        super()._restart_workers(worker_group)

    def _record_restart(self, cause: Cause) -> None:
        self._restart_cause, self._is_in_round = cause, False
        self._journal.record(
            RestartBegun,
            round=self.round,
            cause=cause,
            failed_ranks=self._claim.ranks if self._claim else (),
            torch_counter=self.torch_counter,
        )

    # -- watching workers --

    def _monitor_workers(self, worker_group: WorkerGroup) -> RunResult:
        news = self._handler.news
        self._workers.wait(self._message.spec.monitor_interval, self._stop.fileno(), news.fileno())
        news.clear()
        self._stop.check()
        self._record_exits(self._workers.look())
        if self._workers.has_failed():
            return self._fail(worker_group)
        if not self._workers.is_running():
            return self._finish(worker_group)
        return self._look_for_stuck(worker_group) or RunResult(state=WorkerState.HEALTHY)

    def _look_for_stuck(self, group: WorkerGroup) -> RunResult | None:
        """torch's own watch for workers in uninterruptible sleep, on when its variable is set."""
        limit = self._uninterruptible_state_timeout
        result = self._check_uninterruptible_state_timeout(group, limit) if limit > 0 else None
        if result is not None:
            self.given_up = stuck(self._message.node, limit)
        return result

    def _fail(self, group: WorkerGroup) -> RunResult:
        self._wait_for_cause()
        self._end_workers()
        result: RunResult = super()._monitor_workers(group)
        self._claim = self._claim_now()
        budget = group.spec.max_restarts
        if must_give_up(self._claim, self.charged, budget):
            self.given_up = cannot_pay(self._first_failure(), self._message.node, self.charged, budget)
        # torch's loop restarts when it sees any left. What is really left is settled in the rendezvous.
        self._remaining_restarts = 0 if self.given_up else 1
        self.torch_counter += self._remaining_restarts
        return result

    def _wait_for_cause(self) -> None:
        """A worker that lost its peer may end before the peer whose failure it felt."""
        deadline = time.monotonic() + CAUSE_S
        while self._workers.is_running() and time.monotonic() < deadline:
            if any(ended.role == "cause" for ended in self._workers.ended.values()):
                return
            self._workers.wait(deadline - time.monotonic())
            self._record_exits(self._workers.look())

    def _claim_now(self) -> Claim:
        ended = self._workers.ended.values()
        if self._first_failure().is_lost:
            return Claim(node=self._message.node, role="cause", at=self._first_failure().at)
        roles = {one.worker.rank: one.role for one in ended}
        return claim_of(self._message.node, roles, self._first_failure().at)

    def _first_failure(self) -> Ended:
        """The first cause, else the end of the fork server, else the first that lost a peer."""
        order = {"cause": 0, "unknown": 1, "peer_lost": 2}
        return min(self._workers.ended.values(), key=lambda one: (order.get(one.role, 3), one.at))

    def _finish(self, group: WorkerGroup) -> RunResult:
        """The exit barrier, kept inside torch's loop: a node that must re-form finds this one listening."""
        if self._finished is None:
            self._finished = super()._monitor_workers(group)
            self._finished_at = time.monotonic()
            self.tail.flush()
            self._journal.record(WorkersFinished, round=self.round)
            self._handler.say_finished()
        waited_s = time.monotonic() - self._finished_at
        if self._handler.all_finished() or waited_s > self._exit_barrier_timeout:
            return self._finished
        return RunResult(state=WorkerState.HEALTHY)

    def _exit_barrier(self) -> None:
        """Has been kept in ``_finish``."""

    def _record_exits(self, exits: list[Ended]) -> None:
        for ended in exits:
            self._journal.record(WorkerExited, round=self.round, **facts_of(ended))


def _worker_spec(message: StartMessage, handler: Handler) -> WorkerSpec:
    program: Callable[..., Any] | str
    program, *args = command(message.spec)
    return WorkerSpec(
        role="default",
        local_world_size=message.spec.nproc_per_node,
        rdzv_handler=handler,
        entrypoint=program,
        args=tuple(args),
        max_restarts=message.spec.max_restarts,
        monitor_interval=NO_SLEEP_S,
    )
