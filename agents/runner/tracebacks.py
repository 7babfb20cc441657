"""Reads the exception that ended a Python process out of the last lines of its stderr. Pure."""

from __future__ import annotations

import re
import sysconfig
from dataclasses import dataclass

from ..wire.runner_events import WorkerError

TAIL_BYTES = 1 << 16
"""How much of the end of stderr is looked at."""

_PREFIX = re.compile(r"^\[rank\d+\]: ?")
"""torch puts this before each line of a traceback when a process group is up."""
_HEADER = "Traceback (most recent call last):"
_FRAME = re.compile(r'^ {2}File "(?P<file>[^"]+)", line (?P<line>\d+)')
_EXCEPTION = re.compile(r"^(?P<type>[A-Za-z_][\w.]*)(?:: (?P<message>.*))?$")
_LIBRARY = ("site-packages/", "dist-packages/", sysconfig.get_paths()["stdlib"] + "/", "<frozen ")


@dataclass(frozen=True)
class _Block:
    frames: list[tuple[str, int]]
    type: str
    message: str
    text: str


def _starts(lines: list[str]) -> list[int]:
    """Where a traceback may begin; a syntax error in the script itself has only the File line."""
    headers = [index for index, line in enumerate(lines) if line == _HEADER]
    return headers or [index for index, line in enumerate(lines) if _FRAME.match(line)][-1:]


def _read_block(lines: list[str]) -> _Block | None:
    frames: list[tuple[str, int]] = []
    for line in lines:
        frame = _FRAME.match(line)
        if frame:
            frames.append((frame["file"], int(frame["line"])))
        exception = _EXCEPTION.match(line)
        if frames and exception and line != _HEADER:
            return _Block(frames, exception["type"], exception["message"] or "", "\n".join(lines))
    return None


def _where(frames: list[tuple[str, int]]) -> tuple[str, int]:
    """The last frame of the user's own code, else the last of all."""
    own = [frame for frame in frames if not any(part in frame[0] for part in _LIBRARY)]
    return (own or frames)[-1]


def last_exception(text: str, read_from: str = "stderr") -> WorkerError | None:
    """The last exception whose traceback is in ``text``; None when there is none."""
    lines = [_PREFIX.sub("", line.rstrip("\r")) for line in text.split("\n")]
    for start in reversed(_starts(lines)):
        block = _read_block(lines[start:])
        if block is not None:
            file, line = _where(block.frames)
            return WorkerError(
                type=block.type,
                message=block.message,
                file=file,
                line=line,
                read_from="error file" if read_from == "error file" else "stderr",
                traceback=block.text.strip()[:8192],
            )
    return None


def from_error_file(values: object) -> WorkerError | None:
    """The exception in the file that torch's ``@record`` writes; None when it has another shape."""
    message = values.get("message") if isinstance(values, dict) else None
    if not isinstance(message, dict) or not isinstance(message.get("message"), str):
        return None
    extra = message.get("extraInfo")
    callstack = extra.get("py_callstack") if isinstance(extra, dict) else None
    found = last_exception(callstack, "error file") if isinstance(callstack, str) else None
    if found is not None:
        return found
    name, _, text = message["message"].partition(": ")
    return WorkerError(type=name, message=text, read_from="error file")


def last_line(text: str) -> str:
    """The last line that says something, at most 300 characters of it."""
    said = [line.strip() for line in text.splitlines() if line.strip()]
    return said[-1][:300] if said else ""
