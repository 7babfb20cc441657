"""What the hub asks of a node: commands, each carried out once by its id; and requests, which only read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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


AnyCommand = StartRunner | StopRunner | LeaveRunner | KillWorker


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
    limit: int = 200
    """Lines at most."""


AnyRequest = LogSlice


@dataclass(frozen=True, kw_only=True)
class LogLine:
    offset: int
    text: str


@dataclass(frozen=True, kw_only=True)
class LogSliceAnswer:
    lines: tuple[LogLine, ...] = ()
    start: int = 0
    """Offset of the first line; give it as ``before`` for what precedes."""
    end: int = 0
    """Offset behind the last line; give it as ``after`` for what follows."""
    size: int = 0
    """Bytes in the file now."""
    problem: str | None = None
    """Why there is nothing, in words."""
