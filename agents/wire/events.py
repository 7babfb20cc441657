"""What store keepers and node agents record, and all kinds of records together. See ``event.py``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .environments import Environment
from .event import KeeperEvent, NodeEvent
from .interfaces import Interface
from .runner_events import AnyRunnerEvent

# --- records of a store keeper -----------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class KeeperStarted(KeeperEvent):
    """The process that is to keep the attempt's store has begun; it listens a moment later."""

    kind: Literal["keeper_started"] = "keeper_started"
    pid: int
    start_time: int
    boot_id: str
    python: str
    torch_version: str
    endpoint: str


@dataclass(frozen=True, kw_only=True)
class KeeperFinished(KeeperEvent):
    """The last record of a store keeper. ended: nobody needed the store any more."""

    kind: Literal["keeper_finished"] = "keeper_finished"
    outcome: Literal["ended", "failed", "stopped", "unknown"]
    reason: str


# --- records of a node agent -------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Gpu:
    index: int
    name: str
    memory_bytes: int
    uuid: str = ""


@dataclass(frozen=True, kw_only=True)
class NodeFacts:
    host: str
    addresses: tuple[str, ...]
    cpus: int
    memory_bytes: int
    slots: int
    gpus: tuple[Gpu, ...] = ()
    gpu_note: str = "none"
    """Why ``gpus`` is empty, in words: 'none' where there are none."""
    python: str = ""
    torch_version: str | None = None
    """Of the default interpreter. None: torch cannot be imported there."""
    agent_version: str = ""
    boot_id: str = ""
    kernel: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    """What jobs may ask of a node, as its operator wrote it."""
    environments: tuple[Environment, ...] = ()
    """Interpreters that jobs may ask for by name."""
    secrets_key: str = ""
    """The public key that secrets of jobs are sealed with. Empty: the node agent cannot open any."""
    interfaces: tuple[Interface, ...] = ()
    """Its network interfaces, as they were when the node agent started."""


@dataclass(frozen=True, kw_only=True)
class NodeStarted(NodeEvent):
    kind: Literal["node_started"] = "node_started"
    pid: int
    facts: NodeFacts


@dataclass(frozen=True, kw_only=True)
class NodeStopping(NodeEvent):
    """The daemon ends; its runners go on."""

    kind: Literal["node_stopping"] = "node_stopping"
    reason: str


@dataclass(frozen=True, kw_only=True)
class CommandReceived(NodeEvent):
    kind: Literal["command_received"] = "command_received"
    command: str


@dataclass(frozen=True, kw_only=True)
class CommandEnded(NodeEvent):
    """done only with evidence; refused: nothing was done, and why; failed: tried, and why not."""

    kind: Literal["command_ended"] = "command_ended"
    command: str
    outcome: Literal["done", "refused", "failed"]
    reason: str
    evidence: dict[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class FaultBegun(NodeEvent):
    """A lasting fault has taken hold: a worker was seen to stand still, or the node will fall silent now."""

    kind: Literal["fault_begun"] = "fault_begun"
    command: str
    says: str


@dataclass(frozen=True, kw_only=True)
class RunnerAdopted(NodeEvent):
    kind: Literal["runner_adopted"] = "runner_adopted"
    attempt: str
    incarnation: int = 1
    """Which of the runners that the node has had in this attempt."""
    pid: int


@dataclass(frozen=True, kw_only=True)
class RunnerSettled(NodeEvent):
    """A runner is over and nothing of it is left: its slots are free."""

    kind: Literal["runner_settled"] = "runner_settled"
    attempt: str
    incarnation: int = 1
    """Which of the runners that the node has had in this attempt."""
    exit_code: int | None = None
    ended_pids: tuple[int, ...] = ()
    """Processes that the node agent itself had to end."""
    unkillable_pids: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class EvidenceKept(NodeEvent):
    """The node's part of what is kept of a round that failed. Told again when it has grown."""

    kind: Literal["evidence_kept"] = "evidence_kept"
    attempt: str
    incarnation: int = 1
    round: int
    size_bytes: int
    cause: str = ""
    """Why the round ended, as far as this node knows, in words."""
    ranks: tuple[int, ...] = ()
    """Those of the node."""
    stacks: tuple[int, ...] = ()
    """Ranks whose stacks were taken before they were ended."""
    missing: tuple[str, ...] = ()
    """What could not be had and why, in words."""
    dropped: tuple[int, ...] = ()
    """Older rounds of the attempt whose evidence on this node has made room for it."""


@dataclass(frozen=True, kw_only=True)
class HookEnded(NodeEvent):
    """A command of the job's ``on_failure`` or ``on_end`` is over on this node; each comes once.

    cut_off: its node agent ended while it ran, so that it was ended too, and is not run again.
    """

    kind: Literal["hook_ended"] = "hook_ended"
    attempt: str
    incarnation: int = 1
    round: int
    """The round that failed. Of ``on_end`` the last one; 0 where none has formed."""
    hook: Literal["on_failure", "on_end"]
    index: int
    """Which of the commands, from 0 on."""
    outcome: Literal["ended", "timed_out", "cut_off", "not_started"]
    exit_code: int | None = None
    """Negative for a signal. None: it did not come to its own end."""
    took_s: float = 0.0
    said: str = ""
    """How it ended, in words."""
    output: str = ""
    """The end of what it wrote, with secrets hidden. More of it is in the evidence."""
    output_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class JournalRepaired(NodeEvent):
    """A torn last line was cut off, or a line could not be read."""

    kind: Literal["journal_repaired"] = "journal_repaired"
    repaired: str
    """The source whose journal it was."""
    cut_bytes: int


AnyKeeperEvent = KeeperStarted | KeeperFinished
AnyNodeEvent = (
    NodeStarted
    | NodeStopping
    | CommandReceived
    | CommandEnded
    | FaultBegun
    | RunnerAdopted
    | RunnerSettled
    | EvidenceKept
    | HookEnded
    | JournalRepaired
)
AnyEvent = AnyRunnerEvent | AnyKeeperEvent | AnyNodeEvent
