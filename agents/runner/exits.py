"""What the end of a worker means, and how to say it. Pure."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import PurePath

from ..wire.events import ExitRole, WorkerError

_LOST_PEER = re.compile(
    r"Connection closed by peer|Connection reset by peer|connectFullMesh|SO_ERROR"
    r"|pair closure|gloo[^\n]*(?:Broken pipe|[Tt]imed out)|Connection was likely closed"
    r"|ncclRemoteError|remote process exited|NCCL communicator was aborted|ncclSystemError[^\n]*socket"
    r"|Watchdog caught collective operation timeout|DistStoreError|DistNetworkError"
)
"""What gloo, NCCL and the store say when the other side has gone."""

_MEANINGS = {
    "SIGSEGV": "a segmentation fault",
    "SIGABRT": "the process aborted itself",
    "SIGBUS": "a memory access that cannot be served, often a full /dev/shm",
    "SIGFPE": "an arithmetic fault",
    "SIGILL": "an instruction this processor does not know",
}


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How one worker ended. ``code`` is as ``subprocess`` gives it: negative for a signal."""

    code: int
    stopped_by: str | None = None
    """The signal that the runner itself had sent before the worker ended."""
    error: WorkerError | None = None
    last_line: str = ""
    """The last line of its stderr."""
    lost_with: str = ""
    """How the fork server ended that took the worker along: what the worker itself did is not known then."""


def signal_of(code: int) -> str | None:
    """Name of the signal that ended the process."""
    if code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"


def has_lost_peer(ending: Ending) -> bool:
    error = ending.error
    text = f"{error.type}: {error.message}\n{error.traceback}" if error else ending.last_line
    return _LOST_PEER.search(text) is not None


def role_of(ending: Ending) -> ExitRole:
    """cause, peer_lost, stopped or finished: see ``ExitRole``."""
    if ending.lost_with:
        return "unknown"
    if ending.code > 0 and has_lost_peer(ending):
        return "peer_lost"
    if ending.stopped_by:
        return "stopped"
    if ending.code == 0:
        return "finished"
    # NCCL's watchdog ends the process itself when a remote rank is gone.
    if signal_of(ending.code) == "SIGABRT" and has_lost_peer(ending):
        return "peer_lost"
    return "cause"


def say_error(error: WorkerError) -> str:
    """``ValueError: bad learning rate -3 (train.py:12)``."""
    what = f"{error.type}: {error.message}" if error.message else error.type
    return f"{what} ({PurePath(error.file).name}:{error.line})" if error.file else what


def _say_code(ending: Ending) -> str:
    shell = f" (what a shell says for {signal_of(128 - ending.code)})" if 128 < ending.code < 160 else ""
    if ending.error:
        return f"exited with code {ending.code}{shell}: {say_error(ending.error)}"
    if ending.last_line:
        return f"exited with code {ending.code}{shell}; the last line of its stderr: {ending.last_line}"
    return f"exited with code {ending.code}{shell} and wrote nothing to stderr"


def say(ending: Ending) -> str:
    """The end of a worker in words: 'killed by SIGKILL', 'exited with code 1: ValueError: …'."""
    role, name = role_of(ending), signal_of(ending.code)
    if ending.lost_with:
        return f"ended with the fork server, which {ending.lost_with}"
    if role == "stopped":
        return f"stopped by the runner ({name or ending.stopped_by})"
    if ending.code == 0:
        return "exited with code 0"
    if name:
        meaning = f", {_MEANINGS[name]}" if name in _MEANINGS else ""
        return f"killed by {name}{meaning}"
    if role == "peer_lost":
        return f"lost its connection to another worker and {_say_code(ending)}"
    return _say_code(ending)
