"""States and their order: pure functions that hub, agent and tests share.

A runner's journal is one ordered stream, and its state is a fold over it. Streams of different
runners never mix, so a late record of an old attempt can only change that old attempt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from .runner_events import (
    Activity,
    AnyRunnerEvent,
    Cause,
    CheckpointSaved,
    ExitRole,
    Progress,
    RendezvousBegun,
    RendezvousCompleted,
    RendezvousJoined,
    RestartBegun,
    Resumed,
    RunnerFinished,
    RunnerStarted,
    WorkerExited,
    WorkerRef,
    WorkersFinished,
    WorkersReached,
    WorkersStarted,
    WorkersStarting,
)


class JobState(str, Enum):
    QUEUED = "queued"
    WAITING = "waiting"
    FORMING = "forming"
    STARTING = "starting"
    TRAINING = "training"
    RUNNING = "running"
    FINISHING = "finishing"
    STALLED = "stalled"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"
    UNKNOWN = "unknown"

    @property
    def is_terminal(self) -> bool:
        return self in _TERMINAL


_TERMINAL = frozenset({JobState.SUCCEEDED, JobState.FAILED, JobState.STOPPED, JobState.LOST})


class Phase(str, Enum):
    """Where one runner is."""

    LAUNCHING = "launching"
    """Nothing heard of it yet."""
    IDLE = "idle"
    """It runs, and has not set out to join a round."""
    RENDEZVOUS = "rendezvous"
    FORMED = "formed"
    STARTING = "starting"
    UP = "up"
    RESTARTING = "restarting"
    FINISHING = "finishing"
    """Its workers ended with 0; it waits for other nodes."""
    ENDED = "ended"


_BEGUN = frozenset(Phase) - {Phase.ENDED}
_WITH_WORKERS = frozenset({Phase.STARTING, Phase.UP, Phase.RESTARTING, Phase.FINISHING})

ORDER: dict[type[AnyRunnerEvent], frozenset[Phase]] = {
    RunnerStarted: frozenset({Phase.LAUNCHING}),
    RendezvousBegun: frozenset({Phase.IDLE, Phase.RESTARTING, Phase.RENDEZVOUS, Phase.FORMED}),
    RendezvousJoined: frozenset({Phase.RENDEZVOUS}),
    RendezvousCompleted: frozenset({Phase.RENDEZVOUS}),
    WorkersStarting: frozenset({Phase.FORMED}),
    WorkersStarted: frozenset({Phase.STARTING}),
    Progress: _WITH_WORKERS,
    Activity: _WITH_WORKERS,
    CheckpointSaved: _WITH_WORKERS,
    Resumed: _WITH_WORKERS,
    WorkersReached: _WITH_WORKERS,
    WorkerExited: _WITH_WORKERS,
    RestartBegun: frozenset({Phase.UP, Phase.STARTING, Phase.FINISHING}),
    WorkersFinished: frozenset({Phase.UP}),
    RunnerFinished: _BEGUN,
}
"""In which phases a record of each kind may come. Anything else is counted and changes nothing."""


@dataclass(frozen=True)
class WorkerState:
    ref: WorkerRef
    state: str = "running"
    """running, or how it ended: cause, peer_lost, stopped, finished, unknown."""
    said: str = ""
    step: int | None = None
    total: int | None = None
    metrics: tuple[tuple[str, float], ...] = ()
    progress_at: datetime | None = None


@dataclass(frozen=True)
class RunnerState:
    """What one runner's records add up to."""

    last_seq: int = 0
    phase: Phase = Phase.LAUNCHING
    since: datetime | None = None
    """When the phase began, by the node's clock."""
    cause: Cause = "start"
    """Why the current or coming round began."""
    round: int | None = None
    world_size: int = 0
    group_rank: int | None = None
    nodes: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    expected: tuple[str, ...] = ()
    workers: tuple[WorkerState, ...] = ()
    reports_progress: bool = False
    progress_at: datetime | None = None
    pace: float | None = None
    """Steps per second of the slowest rank, smoothed. None until two reports have come."""
    last_output_at: datetime | None = None
    checkpoint_step: int | None = None
    resumed_step: int | None = None
    charged: int = 0
    torch_counter: int = 0
    failure: str = ""
    """The newest failure on this node, in words."""
    outcome: str = ""
    reason: str = ""
    died: bool = False
    """It ended without a word; its node agent has written the last record."""
    has_left: bool = False
    """It left the attempt, and the others go on."""
    is_infrastructure: bool = False
    """What ended it was no fault of the job's."""
    is_spare: bool = False
    """It stands by, as the round is full."""
    hosts_store: bool = False
    gone_gpus: tuple[str, ...] = ()
    """UUIDs of its GPUs that do not answer any more, for each of which it may have a worker fewer."""
    torch_version: str = ""
    start: str = ""
    """``warm`` or ``cold``; empty before it has started."""
    out_of_order: int = 0


def fold(state: RunnerState, event: AnyRunnerEvent, node: str) -> RunnerState:
    """The state after one record of the runner on ``node``.

    A record seen before, or one behind a gap, changes nothing; the reader asks for what is
    missing. A record of another round changes only the sequence number.
    """
    if event.seq != state.last_seq + 1:
        return state
    state = replace(state, last_seq=event.seq)
    if state.phase not in ORDER[type(event)]:
        return replace(state, out_of_order=state.out_of_order + 1)
    if _of_another_round(state, event):
        return state
    return _apply(state, event, node)


def _of_another_round(state: RunnerState, event: AnyRunnerEvent) -> bool:
    if isinstance(event, RendezvousCompleted | RunnerFinished):
        return False
    return getattr(event, "round", state.round) != state.round


def _move(state: RunnerState, phase: Phase, at: datetime) -> RunnerState:
    return replace(state, phase=phase, since=at if phase is not state.phase else state.since)


def _apply(state: RunnerState, event: AnyRunnerEvent, node: str) -> RunnerState:
    match event:
        case RunnerStarted():
            state = replace(state, hosts_store=event.hosts_store, start=event.start)
            state = replace(state, torch_version=event.torch_version)
            return _move(state, Phase.IDLE, event.at)
        case RendezvousBegun():
            state = replace(state, cause=event.cause, joined=(), is_spare=False, gone_gpus=event.gone_gpus)
            return _move(state, Phase.RENDEZVOUS, event.at)
        case RendezvousJoined():
            return replace(state, joined=event.joined, expected=event.expected, is_spare=event.is_spare)
        case RendezvousCompleted():
            return _formed(state, event, node)
        case WorkersStarting():
            return _move(state, Phase.STARTING, event.at)
        case WorkersStarted():
            workers = tuple(WorkerState(ref) for ref in event.workers)
            return replace(_move(state, Phase.UP, event.at), workers=workers)
        case Progress():
            return _progressed(state, event)
        case Activity():
            return replace(state, last_output_at=event.last_output_at)
        case CheckpointSaved():
            return replace(state, checkpoint_step=event.step)
        case Resumed():
            return replace(state, resumed_step=event.step)
        case WorkersReached():
            return state
        case WorkerExited():
            return _exited(state, event)
        case RestartBegun():
            state = replace(state, cause=event.cause, torch_counter=event.torch_counter)
            return _move(state, Phase.RESTARTING, event.at)
        case WorkersFinished():
            return _move(state, Phase.FINISHING, event.at)
        case RunnerFinished():
            return _ended(state, event)


def _formed(state: RunnerState, event: RendezvousCompleted, node: str) -> RunnerState:
    return replace(
        _move(state, Phase.FORMED, event.at),
        cause=event.cause,
        round=event.round,
        world_size=event.world_size,
        group_rank=event.group_rank,
        nodes=event.nodes,
        joined=event.nodes,
        is_spare=False,
        workers=(),
        reports_progress=False,
        progress_at=None,
        pace=None,
        last_output_at=None,
        resumed_step=None,
        charged=state.charged + (event.charged == node),
    )


def _progressed(state: RunnerState, event: Progress) -> RunnerState:
    by_rank = {report.rank: report for report in event.ranks}

    def updated(worker: WorkerState) -> WorkerState:
        report = by_rank.get(worker.ref.rank)
        if report is None:
            return worker
        return replace(
            worker,
            step=report.step,
            total=report.total,
            metrics=tuple(sorted(report.metrics.items())),
            progress_at=event.at,
        )

    workers = tuple(map(updated, state.workers))
    return replace(
        state,
        workers=workers,
        reports_progress=True,
        progress_at=event.at,
        pace=_pace(state, slowest_step(workers), event.at),
    )


def slowest_step(workers: tuple[WorkerState, ...]) -> int | None:
    """The step that all reporting workers have reached."""
    return min((worker.step for worker in workers if worker.step is not None), default=None)


_SMOOTHING = 0.25


def _pace(state: RunnerState, step: int | None, at: datetime) -> float | None:
    before = slowest_step(state.workers)
    if before is None or step is None or state.progress_at is None:
        return state.pace
    passed_s = (at - state.progress_at).total_seconds()
    if passed_s <= 0 or step < before:
        return state.pace
    newest = (step - before) / passed_s
    return newest if state.pace is None else state.pace + _SMOOTHING * (newest - state.pace)


def _exited(state: RunnerState, event: WorkerExited) -> RunnerState:
    def updated(worker: WorkerState) -> WorkerState:
        if worker.ref != event.worker:
            return worker
        return replace(worker, state=event.role, said=event.said)

    failure = state.failure if event.role != "cause" else f"Rank {event.worker.rank} {event.said}"
    return replace(state, workers=tuple(map(updated, state.workers)), failure=failure)


def _ended(state: RunnerState, event: RunnerFinished) -> RunnerState:
    ended: ExitRole = "unknown"
    workers = tuple(w if w.state != "running" else replace(w, state=ended) for w in state.workers)
    return replace(
        _move(state, Phase.ENDED, event.at),
        died=event.inferred,
        has_left=event.has_left,
        is_infrastructure=event.is_infrastructure,
        is_spare=False,
        workers=workers,
        outcome=event.outcome,
        reason=event.reason,
        charged=max(state.charged, event.charged),
        torch_counter=max(state.torch_counter, event.torch_counter),
    )
