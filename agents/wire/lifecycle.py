"""States and their order: pure functions that hub, agent and tests share.

A runner's journal is one ordered stream, and its state is a fold over it. Streams of different
runners never mix, so a late record of an old attempt can only change that old attempt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import Any

from .runner_events import (
    Activity,
    AnyRunnerEvent,
    Cause,
    CheckpointBegun,
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
    TorchMetrics,
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
    TorchMetrics: _BEGUN,
    Activity: _WITH_WORKERS,
    CheckpointBegun: _WITH_WORKERS,
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
    trail: tuple[tuple[int, float], ...] = ()
    """The last steps that were new when recorded, and when: seconds since the epoch by the node's clock."""
    saving_step: int | None = None
    """The step whose checkpoint it began to save and has neither saved nor passed. None: it saves none."""
    saving_since: datetime | None = None
    saved_at: datetime | None = None
    """When its last save was over, by the node's clock."""


@dataclass(frozen=True)
class RunnerState:
    """What one runner's records add up to."""

    last_seq: int = 0
    told_at: datetime | None = None
    """When the newest record was written, by the node's clock: so far all that is told here is known."""
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
    recent_pace: float | None = None
    """The same over the last minutes of training, also of earlier rounds: what time left is told from."""
    paced_s: float = 0.0
    """Over how many seconds of training ``recent_pace`` was seen."""
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
    return replace(_apply(state, event, node), told_at=event.at)


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
        case CheckpointBegun():
            return _of_rank(state, event.rank, saving_step=event.step, saving_since=event.at)
        case CheckpointSaved():
            state = _of_rank(state, event.rank, saving_step=None, saving_since=None, saved_at=event.at)
            return replace(state, checkpoint_step=event.step)
        case Resumed():
            return replace(state, resumed_step=event.step)
        case WorkersReached() | TorchMetrics():
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


def _of_rank(state: RunnerState, rank: int, **changes: Any) -> RunnerState:
    """The state with that worker changed."""
    workers = tuple(replace(w, **changes) if w.ref.rank == rank else w for w in state.workers)
    return replace(state, workers=workers)


TRAIL = 5
"""So many steps of a worker are kept: enough for its pace now."""


def _stepped(worker: WorkerState, step: int, at: datetime) -> WorkerState:
    """A new step ends a save: whoever trains on does not wait for it. The same step again is no news."""
    if step == worker.step:
        return worker
    trail = (*worker.trail, (step, round(at.timestamp(), 3)))[-TRAIL:]
    saved_at = worker.saved_at if worker.saving_step is None else at
    return replace(worker, trail=trail, saving_step=None, saving_since=None, saved_at=saved_at)


def _progressed(state: RunnerState, event: Progress) -> RunnerState:
    by_rank = {report.rank: report for report in event.ranks}

    def updated(worker: WorkerState) -> WorkerState:
        report = by_rank.get(worker.ref.rank)
        if report is None:
            return worker
        return replace(
            _stepped(worker, report.step, event.at),
            step=report.step,
            total=report.total,
            metrics=tuple(sorted(report.metrics.items())),
            progress_at=event.at,
        )

    workers = tuple(map(updated, state.workers))
    done, passed_s = _advance(state, slowest_step(workers), event.at)
    recent, paced_s = recent_pace(state.recent_pace, state.paced_s, done, passed_s)
    return replace(
        state,
        workers=workers,
        reports_progress=True,
        progress_at=event.at,
        pace=_pace(state, done, passed_s),
        recent_pace=recent,
        paced_s=paced_s,
    )


def slowest_step(workers: tuple[WorkerState, ...]) -> int | None:
    """The step that all reporting workers have reached."""
    return min((worker.step for worker in workers if worker.step is not None), default=None)


_SMOOTHING = 0.25


def _advance(state: RunnerState, step: int | None, at: datetime) -> tuple[int, float]:
    """Steps done since the report before, and in how many seconds; no seconds where that is not known."""
    before = slowest_step(state.workers)
    if before is None or step is None or state.progress_at is None or step < before:
        return 0, 0.0
    return step - before, max(0.0, (at - state.progress_at).total_seconds())


def _pace(state: RunnerState, done: int, passed_s: float) -> float | None:
    if passed_s <= 0:
        return state.pace
    newest = done / passed_s
    return newest if state.pace is None else state.pace + _SMOOTHING * (newest - state.pace)


RECENT_S = 120.0
"""What is longer ago than about so many seconds of training hardly counts for the recent pace."""


def recent_pace(
    before: float | None, paced_s: float, done: int, passed_s: float
) -> tuple[float | None, float]:
    """The plain mean for the first two minutes of training, then one that forgets; and the seconds seen."""
    if passed_s <= 0:
        return before, paced_s
    paced_s += passed_s
    share = min(1.0, passed_s / min(paced_s, RECENT_S))
    old = before or 0.0
    return old + share * (done / passed_s - old), paced_s


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
