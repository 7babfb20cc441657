"""Running a tool with one line of progress for the person who waits, and the reason when it fails."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

TAIL_LINES = 25
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class StepFailed(Exception):
    """A tool failed. The text shows the end of what it said and what to do."""


def run_tool(command: Sequence[str], folder: Path, hint: str) -> None:
    """Run a tool to its end, its output kept aside.

    Raises:
        StepFailed: it cannot be started or ended with another status than 0.
    """
    with tempfile.TemporaryFile() as output:
        try:
            tool = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as error:
            raise StepFailed(f"{command[0]} could not be started ({error.strerror}). {hint}") from error
        code = _wait_for(tool)
        if code != 0:
            said = f"{' '.join(command)} ended with exit status {code}. Its last lines:"
            raise StepFailed(f"{said}\n{_tail(output.fileno())}\n{hint}")


def _wait_for(tool: subprocess.Popen[bytes]) -> int:
    """Its exit status. When we are interrupted, it and all its children are ended with us."""
    try:
        return tool.wait()
    except BaseException:
        os.killpg(tool.pid, signal.SIGTERM)
        try:
            tool.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(tool.pid, signal.SIGKILL)
        raise


def _tail(handle: int) -> str:
    size = os.fstat(handle).st_size
    text = os.pread(handle, 20_000, max(0, size - 20_000)).decode(errors="replace")
    text = COLOURS.sub("", text)
    return "\n".join(f"    {line}" for line in text.splitlines()[-TAIL_LINES:])


class ProgressLine:
    """``Python packages … 21 s``: the name at once, the seconds when it is done."""

    def __init__(self, says: str) -> None:
        self._says = says

    def __enter__(self) -> None:
        self._begun = time.monotonic()
        sys.stdout.write(f"  {self._says} … ")
        sys.stdout.flush()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        word = "" if kind is None else " (failed)"
        sys.stdout.write(f"{time.monotonic() - self._begun:.0f} s{word}\n")
        sys.stdout.flush()
