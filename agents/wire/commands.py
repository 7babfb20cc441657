"""What the hub asks of a node: commands, each carried out once by its id; and requests, which only read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .checks import CheckNode
from .log_requests import LogBytes, LogMerge, LogSearch
from .spec import StartMessage


@dataclass(frozen=True, kw_only=True)
class Command:
    id: str
    deadline_s: float = 30.0
    """Seconds after sending within which the node may begin; later it refuses."""
    by: str = ""
    """Who asked: an account's name, or 'regroup' for the hub itself."""
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class StartRunner(Command):
    """Evidence of done: ``pid``, ``start_time`` and, from a store host, ``endpoint``."""

    kind: Literal["start_runner"] = "start_runner"
    message: StartMessage


@dataclass(frozen=True, kw_only=True)
class StopRunner(Command):
    """SIGTERM, ``grace_s`` later SIGKILL. Done when no process of the runner is left."""

    kind: Literal["stop_runner"] = "stop_runner"
    attempt: str
    grace_s: float = 30.0


@dataclass(frozen=True, kw_only=True)
class LeaveRunner(Command):
    """The node leaves the attempt, and the others go on without it: they re-form first, then its workers end.

    SIGTERM to the workers, ``grace_s`` later SIGKILL. Done when no process of the runner is left.
    """

    kind: Literal["leave_runner"] = "leave_runner"
    attempt: str
    grace_s: float = 30.0


@dataclass(frozen=True, kw_only=True)
class KillWorker(Command):
    """Signal one worker, named so that a late click never hits its successor.

    Refused unless the process with that pid has that start time and is not a zombie.
    Evidence of done: ``pid``, ``gone_after_s`` for a signal that ends the process.
    """

    kind: Literal["kill_worker"] = "kill_worker"
    attempt: str
    round: int
    rank: int
    pid: int
    start_time: int
    signal: str = "SIGKILL"


@dataclass(frozen=True, kw_only=True)
class FreezeWorker(Command):
    """One worker stands still (SIGSTOP) and goes on by itself ``seconds`` later, or when its node agent ends.

    Evidence of done: it was seen stopped, and afterwards seen to run or to be gone.
    """

    kind: Literal["freeze_worker"] = "freeze_worker"
    attempt: str
    round: int
    rank: int
    pid: int
    start_time: int
    seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class SlowWorker(Command):
    """One worker is stopped and continued in turns for ``seconds``, so that it runs ``share`` of the time.

    Evidence of done: how often and how long it stood, and that it runs afterwards or is gone.
    """

    kind: Literal["slow_worker"] = "slow_worker"
    attempt: str
    round: int
    rank: int
    pid: int
    start_time: int
    share: float = 0.5
    seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class KillRunner(Command):
    """SIGKILL to the runner of that attempt with that number, and to no later one.

    Evidence of done: ``pid``, and that nothing of it is left, its workers included.
    """

    kind: Literal["kill_runner"] = "kill_runner"
    attempt: str
    incarnation: int = 1
    """Which of the runners that the node has had in this attempt."""


@dataclass(frozen=True, kw_only=True)
class KillAgent(Command):
    """SIGKILL to the node agent itself. Its runners and workers go on.

    Evidence of done: the next node agent says how long nobody was there, and what it has adopted. Where
    nobody starts one, the command stays open.
    """

    kind: Literal["kill_agent"] = "kill_agent"


@dataclass(frozen=True, kw_only=True)
class CutNode(Command):
    """The node agent has no connection to Redis for ``seconds``, also across its own restart. Runners go on.

    Evidence of done: ``cut_at`` and ``healed_at``, told once the way is open again.
    """

    kind: Literal["cut_node"] = "cut_node"
    seconds: float = 30.0


@dataclass(frozen=True, kw_only=True)
class StopFaults(Command):
    """End all faults that run on the node: what stands still goes on. A node that is cut off cannot hear it.

    Evidence of done: ``stopped``, how many ran, and that none does any more.
    """

    kind: Literal["stop_faults"] = "stop_faults"


AnyFault = KillWorker | FreezeWorker | SlowWorker | KillRunner | KillAgent | CutNode
AnyCommand = StartRunner | StopRunner | LeaveRunner | AnyFault | StopFaults


@dataclass(frozen=True, kw_only=True)
class LogSlice:
    """Ask for lines of one worker's log, by byte offset. Answered with a ``LogSliceAnswer``.

    ``after``: lines from that offset on. ``before``: the lines that end before it.
    Neither: the last lines.
    """

    kind: Literal["log_slice"] = "log_slice"
    id: str
    attempt: str
    round: int
    rank: int
    stream: Literal["stdout", "stderr"]
    after: int | None = None
    before: int | None = None
    at_ms: int | None = None
    """Instead of both: lines from those on that were written at that time, by the node's clock."""
    limit: int = 200
    """Lines at most."""


@dataclass(frozen=True, kw_only=True)
class EvidenceSlice:
    """Ask for bytes of the node's part of a round's evidence, which is a zip. See ``EvidenceSliceAnswer``."""

    kind: Literal["evidence_slice"] = "evidence_slice"
    id: str
    attempt: str
    round: int
    offset: int = 0
    limit: int = 1 << 19
    """Bytes at most."""


@dataclass(frozen=True, kw_only=True)
class TakeStacks:
    """Ask where the workers of a round stand in their code now. Answered with a ``StacksAnswer``."""

    kind: Literal["take_stacks"] = "take_stacks"
    id: str
    attempt: str
    round: int
    ranks: tuple[int, ...] = ()
    """Empty: all that the node has."""


AnyRequest = LogSlice | EvidenceSlice | TakeStacks | LogMerge | LogSearch | LogBytes | CheckNode


@dataclass(frozen=True, kw_only=True)
class LogLine:
    offset: int
    text: str
    at_ms: int | None = None
    """See ``log_requests.MergedLine``."""
    within_ms: int | None = None


@dataclass(frozen=True, kw_only=True)
class LogSliceAnswer:
    lines: tuple[LogLine, ...] = ()
    start: int = 0
    """Offset of the first line; give it as ``before`` for what precedes."""
    end: int = 0
    """Offset behind the last line; give it as ``after`` for what follows."""
    size: int = 0
    """Bytes in the file now."""
    dropped: int = 0
    """Bytes at its beginning that the job's cap has dropped."""
    problem: str | None = None
    """Why there is nothing, in words."""


@dataclass(frozen=True, kw_only=True)
class EvidenceSliceAnswer:
    data: str = ""
    """The bytes from ``offset`` on, in base 64."""
    size: int = 0
    """Bytes in all."""
    version: str = ""
    """Another one than before: the part has grown, and reading it begins anew."""
    problem: str | None = None
    """Why there is nothing, in words."""
