"""What the end of a worker means, and how to say it. Pure."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from pathlib import PurePath

from ..wire.runner_events import ExitKind, ExitRole, WorkerError

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
    "SIGSYS": "a system call that is not allowed here",
}
"""What a process did to get such a signal from the kernel."""

_NOTICE = "it did not handle the preemption notice (a handler for {name} in the script can save a checkpoint)"
_SENDERS = {
    "SIGTERM": "somebody other than its runner sent it",
    "SIGINT": "somebody other than its runner sent it",
    "SIGQUIT": "somebody other than its runner sent it",
    "SIGHUP": "its terminal or session was closed (a script that is to outlive that ignores SIGHUP)",
    "SIGUSR1": _NOTICE.format(name="SIGUSR1"),
    "SIGUSR2": _NOTICE.format(name="SIGUSR2"),
}
"""Who sends such a signal. Nothing is said of SIGKILL: whoever sent it, the process does not know."""

_CODES = {
    120: "what Python says when its output could not be written, as on a full disk",
    126: "what a shell says of a command that cannot be executed",
    127: "what a shell says of a command that it does not find",
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
    oom: str = ""
    """What says that the kernel's out-of-memory killer ended it; empty without such evidence."""
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


def says_lost_peer(text: str) -> bool:
    return _LOST_PEER.search(text) is not None


def has_lost_peer(ending: Ending) -> bool:
    error = ending.error
    text = f"{error.type}: {error.message}\n{error.traceback}" if error else ending.last_line
    return says_lost_peer(text)


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


def ended_by(ending: Ending) -> ExitKind:
    if ending.lost_with:
        return "fork_server"
    role = role_of(ending)
    if role in ("peer_lost", "stopped", "finished"):
        return role
    if ending.oom:
        return "out_of_memory"
    if signal_of(ending.code) or _shell_signal(ending.code):
        return "signal"
    return "exception" if ending.error else "exit_code"


def known_from(ending: Ending) -> str:
    if ending.oom:
        return ending.oom
    # A signal is known from the status alone, whatever the worker wrote before.
    return ending.error.read_from if ending.error and ending.code > 0 else "exit status"


def kind_of_failure(ending: Ending) -> str:
    """What is the same when the same thing fails again. Empty where nothing can be compared.

    A signal from outside says nothing of what the worker did.
    """
    name = signal_of(ending.code) or _shell_signal(ending.code)
    if ending.oom:
        return "out of memory"
    if ending.lost_with or (name is not None and name not in _MEANINGS):
        return ""
    if ending.error:
        return f"{ending.error.type}: {ending.error.message} ({ending.error.file}:{ending.error.line})"
    return f"code {ending.code}: {ending.last_line}"


def say_error(error: WorkerError) -> str:
    """``ValueError: bad learning rate -3 (train.py:12)``."""
    what = f"{error.type}: {error.message}" if error.message else error.type
    return f"{what} ({PurePath(error.file).name}:{error.line})" if error.file else what


def _shell_signal(code: int) -> str | None:
    """Name of the signal that a shell speaks of with that code, when a command of its own was killed."""
    return signal_of(128 - code) if 128 < code < 160 else None


def _meaning(code: int) -> str:
    if code in _CODES:
        return f" ({_CODES[code]})"
    name = _shell_signal(code)
    what = f", {_MEANINGS[name]}" if name in _MEANINGS else ""
    return f" (what a shell says for {name}{what})" if name else ""


def _say_code(ending: Ending) -> str:
    exited = f"exited with code {ending.code}{_meaning(ending.code)}"
    if ending.error:
        return f"{exited}: {say_error(ending.error)}"
    if ending.last_line:
        return f"{exited}; the last line of its stderr: {ending.last_line}"
    return f"{exited} and wrote nothing to stderr"


def _say_signal(name: str) -> str:
    if name in _SENDERS:
        return f"killed by {name}: {_SENDERS[name]}"
    return f"killed by {name}, {_MEANINGS[name]}" if name in _MEANINGS else f"killed by {name}"


def say(ending: Ending) -> str:
    """The end of a worker in words: 'killed by SIGKILL', 'exited with code 1: ValueError: …'."""
    role, name = role_of(ending), signal_of(ending.code)
    if ending.lost_with:
        return f"ended with the fork server, which {ending.lost_with}"
    if role == "stopped":
        return f"stopped by the runner ({name or ending.stopped_by})"
    if ending.code == 0:
        return "exited with code 0"
    if ending.oom:
        return f"killed by SIGKILL: the kernel's out-of-memory killer did it, according to {ending.oom}"
    if name:
        return _say_signal(name)
    if role == "peer_lost":
        return f"lost its connection to another worker and {_say_code(ending)}"
    return _say_code(ending)
