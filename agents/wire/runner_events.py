"""What a runner records: one frozen dataclass for each kind. See ``event.py`` for what they share."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from .event import RunnerEvent

Cause = Literal["start", "failure", "membership"]
"""Why a round began: first of its attempt, a worker failed, or anything else."""

ExitRole = Literal["cause", "peer_lost", "stopped", "finished", "unknown"]
"""cause: it failed by itself. peer_lost: it lost its connection to a worker that had gone.
stopped: the runner ended it. finished: exit status 0. unknown: how it ended is not known."""


ExitKind = Literal[
    "",
    "exception",
    "exit_code",
    "signal",
    "out_of_memory",
    "fork_server",
    "unkillable",
    "peer_lost",
    "stopped",
    "finished",
]
"""What ended a worker. Empty, as from an older runner: not told."""


@dataclass(frozen=True, kw_only=True)
class WorkerRef:
    """One worker process. A pid is only a name together with its start time."""

    rank: int
    local_rank: int
    pid: int
    start_time: int
    """Kernel start time in clock ticks since boot (/proc/PID/stat, field 22)."""


@dataclass(frozen=True, kw_only=True)
class WorkerError:
    """The exception that ended a worker, and where it was read."""

    type: str
    message: str
    file: str | None = None
    line: int | None = None
    read_from: Literal["error file", "stderr"]
    traceback: str = ""


@dataclass(frozen=True, kw_only=True)
class RankProgress:
    rank: int
    step: int
    total: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    """What the script reported beside the step, such as loss."""


@dataclass(frozen=True, kw_only=True)
class TorchMetric:
    """What torch's elastic agent put under one name since the record before."""

    group: str
    name: str
    count: int
    sum: float
    min: float
    max: float


Milestone = Literal["group_begun", "group_up", "checkpoint_loaded", "first_step", "pace_regained"]
"""group_begun: it called init_process_group. group_up: that returned. checkpoint_loaded: it said that it
resumes. first_step: it reported a step. pace_regained: from here on steps took no longer than before."""


@dataclass(frozen=True, kw_only=True)
class Reached:
    """One worker came as far as that for the first time in its round, by its own word."""

    rank: int
    what: Milestone
    at: datetime


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What one node says of its own workers at the end of a round, for settling who is charged."""

    node: str
    role: Literal["cause", "peer_lost", "none"]
    ranks: tuple[int, ...] = ()
    at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class RunnerStarted(RunnerEvent):
    kind: Literal["runner_started"] = "runner_started"
    pid: int
    start_time: int
    boot_id: str
    python: str
    torch_version: str
    endpoint: str
    hosts_store: bool
    start: Literal["warm", "cold"] = "cold"
    """Whether it was forked from a process that had imported torch before."""


@dataclass(frozen=True, kw_only=True)
class RendezvousBegun(RunnerEvent):
    """The node sets out to join the next round."""

    kind: Literal["rendezvous_begun"] = "rendezvous_begun"
    cause: Cause
    previous_round: int | None = None
    gone_gpus: tuple[str, ...] = ()
    """UUIDs of those that the node was given and that do not answer any more: it has fewer workers."""


@dataclass(frozen=True, kw_only=True)
class RendezvousJoined(RunnerEvent):
    """The node is in, and sees who else is; again whenever that changes."""

    kind: Literal["rendezvous_joined"] = "rendezvous_joined"
    joined: tuple[str, ...]
    expected: tuple[str, ...]
    min_nodes: int
    max_nodes: int
    is_spare: bool = False
    """The round is full: the node stands by until a place is free. ``joined`` are those in the round."""


@dataclass(frozen=True, kw_only=True)
class RendezvousCompleted(RunnerEvent):
    """A round is formed. ``round`` counts from 1. ``nodes`` are in order of group rank."""

    kind: Literal["rendezvous_completed"] = "rendezvous_completed"
    round: int
    world_size: int
    group_rank: int
    nodes: tuple[str, ...]
    cause: Cause
    charged: str | None = None
    """The node whose failure budget this round spends: the one of the first cause."""
    claims: tuple[Claim, ...] = ()
    store: str = ""
    """``HOST:PORT`` of this round's own store."""
    absent: dict[str, str] = field(default_factory=dict)
    """Why an assigned node is not in the round, by its name. The next rounds do not wait for it."""
    local_world_sizes: tuple[int, ...] = ()
    """Workers on each of ``nodes``. Empty, as from an older runner: the same number on all."""


@dataclass(frozen=True, kw_only=True)
class WorkersStarting(RunnerEvent):
    kind: Literal["workers_starting"] = "workers_starting"
    round: int
    ranks: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class WorkersStarted(RunnerEvent):
    kind: Literal["workers_started"] = "workers_started"
    round: int
    workers: tuple[WorkerRef, ...]


@dataclass(frozen=True, kw_only=True)
class WorkerExited(RunnerEvent):
    kind: Literal["worker_exited"] = "worker_exited"
    round: int
    worker: WorkerRef
    exit_code: int | None = None
    """None when the exit status is not known. Negative signals are given in ``signal``."""
    signal: str | None = None
    role: ExitRole
    said: str
    """How it ended, in words."""
    error: WorkerError | None = None
    ended_by: ExitKind = ""
    known_from: str = ""
    """Where the runner read that: the exit status, the error file, stderr, the kernel log …"""


@dataclass(frozen=True, kw_only=True)
class RestartBegun(RunnerEvent):
    kind: Literal["restart_begun"] = "restart_begun"
    round: int
    """The round that ends here."""
    cause: Cause
    failed_ranks: tuple[int, ...] = ()
    torch_counter: int
    """Failure restarts that torch itself would have charged to this node so far."""
    noticed_at: datetime | None = None
    """When the runner knew that the round is over; ``at`` is when its workers were gone. None: not told."""
    evidence_s: float | None = None
    """What noting how its workers stood took before they were ended. None: that was not done."""


@dataclass(frozen=True, kw_only=True)
class Progress(RunnerEvent):
    """The newest report of each local rank; reports in between are not kept."""

    kind: Literal["progress"] = "progress"
    round: int
    ranks: tuple[RankProgress, ...]


@dataclass(frozen=True, kw_only=True)
class TorchMetrics(RunnerEvent):
    """What torch's ``put_metric`` told the runner, gathered over half a minute."""

    kind: Literal["torch_metrics"] = "torch_metrics"
    metrics: tuple[TorchMetric, ...]


@dataclass(frozen=True, kw_only=True)
class Activity(RunnerEvent):
    """Workers that report no progress: when they last wrote to stdout or stderr."""

    kind: Literal["activity"] = "activity"
    round: int
    last_output_at: datetime


@dataclass(frozen=True, kw_only=True)
class CheckpointBegun(RunnerEvent):
    """A worker says that it begins to save a checkpoint, so that nobody takes the pause for a stall."""

    kind: Literal["checkpoint_begun"] = "checkpoint_begun"
    round: int
    rank: int
    step: int


@dataclass(frozen=True, kw_only=True)
class CheckpointSaved(RunnerEvent):
    kind: Literal["checkpoint_saved"] = "checkpoint_saved"
    round: int
    rank: int
    step: int
    path: str


@dataclass(frozen=True, kw_only=True)
class Resumed(RunnerEvent):
    """A worker says from which checkpoint it goes on."""

    kind: Literal["resumed"] = "resumed"
    round: int
    rank: int
    step: int
    path: str


@dataclass(frozen=True, kw_only=True)
class WorkersReached(RunnerEvent):
    """How far workers are on the way to their first steps; each milestone of a rank comes once in a round."""

    kind: Literal["workers_reached"] = "workers_reached"
    round: int
    reached: tuple[Reached, ...]


@dataclass(frozen=True, kw_only=True)
class WorkersFinished(RunnerEvent):
    """All local workers ended with 0; the node waits for the others."""

    kind: Literal["workers_finished"] = "workers_finished"
    round: int


@dataclass(frozen=True, kw_only=True)
class RunnerFinished(RunnerEvent):
    """The last record of a runner. ``charged`` counts the node's failure restarts so far."""

    kind: Literal["runner_finished"] = "runner_finished"
    outcome: Literal["succeeded", "failed", "stopped", "unknown"]
    reason: str
    round: int | None = None
    charged: int = 0
    torch_counter: int = 0
    has_left: bool = False
    """It was asked to leave the attempt, or left it on a signal: the others go on without this node."""
    is_infrastructure: bool = False
    """What ended it was no fault of the job's, such as a lost store host: a new attempt may do better."""


AnyRunnerEvent = (
    RunnerStarted
    | RendezvousBegun
    | RendezvousJoined
    | RendezvousCompleted
    | WorkersStarting
    | WorkersStarted
    | WorkerExited
    | RestartBegun
    | Progress
    | TorchMetrics
    | Activity
    | CheckpointBegun
    | CheckpointSaved
    | Resumed
    | WorkersReached
    | WorkersFinished
    | RunnerFinished
)
