"""Jobs as requests and answers. These names are public and stay."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, Self

from ninja import Schema
from pydantic import Field, ModelWrapValidatorHandler, ValidationError, field_validator, model_validator
from pydantic_core import InitErrorDetails, PydanticCustomError

from agents.wire.spec import JobSpec
from agents.wire.torchrun import REFUSED, SIGNALS
from webapp.schemas import Answer

from .goodput_schemas import GoodputOut
from .label_schemas import LabelsIn
from .placing_schemas import PlacingIn, PlacingOut
from .stall_schemas import StallOut
from .troubles_schemas import TroubleOut

StateWord = Literal[
    "queued",
    "waiting",
    "forming",
    "starting",
    "training",
    "running",
    "finishing",
    "stalled",
    "restarting",
    "stopping",
    "succeeded",
    "failed",
    "stopped",
    "lost",
    "unknown",
]
StartWord = Literal["", "warm", "cold"]
NodeWord = Literal["online", "unheard", "lost"]
WorkerStateWord = Literal["running", "cause", "peer_lost", "stopped", "finished", "unknown"]


class SpecIn(Schema):
    """torchrun's words. See ``agents.wire.spec.JobSpec``."""

    nnodes: str = "1"
    nodes: int | None = None
    nproc_per_node: int | str = 1
    spares: int = 0
    max_restarts: int = 0
    max_membership_restarts: int | None = None
    max_relaunches: int = 3
    shrink_on_gpu_loss: bool = False
    standalone: bool = False
    rdzv_backend: str = "c10d"
    rdzv_endpoint: str = ""
    rdzv_conf: dict[str, str] = Field(default_factory=dict)
    script: str | None = None
    module: str | None = None
    code: str | None = None
    no_python: bool = False
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    secret_env: list[str] = Field(default_factory=list)
    workdir: str | None = None
    python: str | None = None
    start: str = "preload"
    preload: list[str] = Field(default_factory=lambda: list(JobSpec().preload))
    start_method: str = "spawn"
    role: str = "default"
    monitor_interval: float = 0.1
    shutdown_timeout: float = 30.0
    exit_barrier_timeout: float | None = None
    signals_to_handle: str = SIGNALS
    event_log_handler: str = "null"
    redirects: str = "0"
    tee: str = "0"
    local_ranks_filter: str = ""
    log_line_prefix_template: str | None = None
    duplicate_stdout_filters: list[str] = Field(default_factory=list)
    duplicate_stderr_filters: list[str] = Field(default_factory=list)
    virtual_local_rank: bool = False
    numa_binding: str | None = None
    log_max_bytes: int = 1 << 30
    log_metrics: list[str] = Field(default_factory=list)
    stall_after_s: float | None = None
    stall_log_regex: str = ""
    stall_log_start_s: float = JobSpec().stall_log_start_s
    stall_log_every_s: float | None = None
    on_stall: str = "notify"
    stall_restarts_per_hour: int = 2
    time_limit: str | None = None
    interface: str | None = None
    evidence: str = "fast"
    on_failure: list[str] = Field(default_factory=list)
    on_end: list[str] = Field(default_factory=list)
    hook_timeout_s: float = JobSpec().hook_timeout_s

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_flags(cls, values: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        """What torchrun has and a job cannot is refused with the reason, not left out without a word."""
        refused = [name for name in REFUSED if isinstance(values, dict) and name in values]
        if refused:
            raise ValidationError.from_exception_data(cls.__name__, [_refusal(name) for name in refused])
        return read(values)

    @field_validator("on_failure", "on_end", mode="before")
    @classmethod
    def _read_commands(cls, value: Any) -> Any:
        """One command need not be written as a list."""
        return [value] if isinstance(value, str) else value

    @field_validator("time_limit", mode="before")
    @classmethod
    def _read_seconds(cls, value: Any) -> Any:
        """A number of seconds need not be written as a text."""
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return str(value) if is_number else value

    @field_validator("nproc_per_node")
    @classmethod
    def _read_number(cls, value: int | str) -> int | str:
        return int(value) if isinstance(value, str) and value.strip().isdecimal() else value


def _refusal(name: str) -> InitErrorDetails:
    error = PydanticCustomError("refused", "{why}", {"why": f"A job has no {name}. {REFUSED[name]}"})
    return InitErrorDetails(type=error, loc=(name,), input=None)


class JobIn(PlacingIn, LabelsIn, SpecIn):
    name: str = ""
    copy_of: int | None = None
    """The job whose masked values are meant by those that stand masked here."""


class StopIn(Schema):
    reason: str = ""
    force: bool = False
    """SIGKILL at once instead of after the grace; also for a job that is being stopped already."""


class ScaleIn(Schema):
    nodes: int
    """How many nodes the job shall have, within its ``nnodes``."""
    reason: str = ""


class NodesOut(Answer):
    min: int
    max: int
    wanted: int
    """What was asked for, at once when it is asked; formed and alive follow it by evidence."""
    formed: int
    """Nodes in the newest formed round."""
    alive: int
    """Of those, how many are heard and have a live runner."""


class ScalingOut(Answer):
    """Beside ``nodes``: those who stand by, and whether the number can be changed."""

    spares: int
    """Nodes that are wanted to stand by."""
    standing_by: int
    """Nodes that do so now."""
    why: str
    """Who asked for the number of nodes, and why. Empty: it is what the job was launched with."""
    fixed: str
    """Why the number of nodes cannot be changed now, as a sentence. Empty: it can be."""


class RelaunchesOut(Answer):
    """New attempts after one that ended for no fault of the job's."""

    used: int
    max: int
    next_at: datetime | None
    """When the next attempt begins at the earliest. None: none is due."""


class AttemptOut(Answer):
    id: str
    number: int
    began_at: datetime
    ended_at: datetime | None
    why: str
    """Why it ended; empty while it runs."""
    is_infrastructure: bool
    """It ended for no fault of the job's, such as a lost store host."""
    nodes: list[str]
    rounds: int
    """How many rounds it had."""


class NodeBudget(Answer):
    charged: int
    remaining: int
    torch_counter: int


class RestartsOut(Answer):
    failure: int
    membership: int
    max_restarts: int
    remaining: int
    by_node: dict[str, NodeBudget]


class HeadlineOut(Answer):
    """What goes on, in one sentence, and since when that is so."""

    sentence: str
    since: datetime


class BudgetCause(Answer):
    """What a failure restart was spent on."""

    round: int
    """The round that began with it."""
    at: datetime
    node: str | None
    """Who was charged."""
    sentence: str


class BudgetOut(Answer):
    """Beside ``restarts``: what the newest attempt may still spend, and what it spent."""

    sentence: str
    survives: int
    """So many failures more are survived, on whichever nodes they are."""
    last_causes: list[BudgetCause]
    """The newest first."""
    torch_differs: str
    """Why torch's own counters of this attempt are others. Empty: they are not."""


class WorkerOut(Answer):
    rank: int
    local_rank: int
    node: str
    pid: int
    start_time: int
    round: int
    state: WorkerStateWord
    said: str
    step: int | None
    total: int | None
    metrics: dict[str, float]
    progress_at: datetime | None
    kill: str | None
    """Id of the newest kill command aimed at this very process, if any."""


class MemberOut(Answer):
    node: str
    phase: str
    since: datetime | None
    round: int | None
    group_rank: int | None
    hosts_store: bool
    start: StartWord
    """How its runner was started: forked from a process that had imported torch, or anew."""
    outcome: str
    reason: str
    state: NodeWord
    silent_s: float | None
    slots: int
    incarnation: int
    """Which runner of this node in this attempt it is: 2 after the first one died or left."""
    deaths: list[datetime]
    """When earlier runners of this node died in this attempt."""
    is_spare: bool
    """It stands by, as the round is full."""
    leaves_at: datetime | None
    """Since when it is to leave. None: it is to take part."""
    leaves_why: str
    has_left: bool
    """It left, and the others go on."""
    settled_at: datetime | None
    """When nothing of it was left on the node."""


class FailureOut(Answer):
    """Why a job or a round failed, at the place where a person looks first."""

    rank: int | None
    node: str
    round: int | None
    said: str
    exception: str | None
    file: str | None
    line: int | None
    read_from: str | None
    traceback: str


class Sentence(Answer):
    at: datetime
    state: StateWord
    says: str


class JobSummary(Answer):
    """A row of the list."""

    id: int
    name: str
    state: StateWord
    state_reason: str
    state_since: datetime
    attempt: int | None
    round: int | None
    world_size: int
    workers_alive: int
    nodes: NodesOut
    restarts: RestartsOut
    step: int | None
    created_by: str
    created_at: datetime
    ended_at: datetime | None
    labels: dict[str, str]
    archived_at: datetime | None
    """Since when lists leave it out. None: they have it."""
    version: int


class TimeLimitOut(Answer):
    """How long the job may still run. Waiting in the queue does not count."""

    limit_s: float
    left_s: float
    """As of this answer."""
    is_up_at: datetime | None
    """When it is stopped, if it runs until then. None: no attempt runs."""
    is_too_short: bool
    """By its pace of late, it has more to train than that."""


class JobOut(JobSummary):
    headline: HeadlineOut
    budget: BudgetOut
    goodput: GoodputOut
    troubles: list[TroubleOut]
    attempt_id: str | None
    spec: SpecIn
    """Values of ``env`` that are marked in ``secret_env`` or look secret are masked."""
    store_host: str | None
    store_endpoint: str | None
    total: int | None
    """Steps in all, where the script says so."""
    metrics: dict[str, float]
    steps_per_s: float | None
    time_left_s: float | None
    """By the pace of the last minutes of training in this attempt. None: not known, or it is over."""
    time_limit: TimeLimitOut | None
    """None: it has none."""
    last_output_at: datetime | None
    checkpoint_step: int | None
    resumed_step: int | None
    """From which step the newest round went on. None: not reported."""
    members: list[MemberOut]
    workers: list[WorkerOut]
    failure: FailureOut | None
    past: list[Sentence]
    """Earlier state sentences, newest first."""
    stall: StallOut | None
    """That has been noticed and is not over."""
    notes: str
    scaling: ScalingOut
    placing: PlacingOut
    relaunches: RelaunchesOut
    attempts: list[AttemptOut]
    """All of them, the newest first. What else is told here is of the newest."""
    stopped_by: str | None
    stop_reason: str
    stop_deadline: datetime | None
    """When SIGKILL follows at the latest. None: it is not being stopped."""
    stop_forced: bool
    """Somebody did not want to wait for the grace."""
    last_event: int
    """Newest event cursor of this job: when it grows, there are events to fetch."""
    timeline_version: int
    """Changes when the timeline does."""


class JobPage(Answer):
    items: list[JobSummary]
    next: str | None
