"""One fork server process as its runner sees it: asked through one pipe, answering in lines on another.

Standard library only.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..exits import signal_of
from ..tracebacks import TAIL_BYTES, last_line
from ..waking import wait_readable
from .halt.sitecustomize import FORK_SERVER, LATER, PATH0, PRELOAD, PYTHONPATH

END_S = 10.0
HALT = Path(__file__).parent / "halt"


@dataclass(frozen=True)
class Command:
    """A worker's command, and what is in force when it starts."""

    words: tuple[str, ...]
    script_arguments: int
    """How many of the words, from the last on, are arguments of the script."""
    environment: Mapping[str, str]
    folder: str
    """Where it runs."""
    path0: str
    """What Python will put first on ``sys.path``."""
    preload: tuple[str, ...]
    later: tuple[str, ...] = ()
    """What may be imported when all is quiet, for the workers of restarts."""


@dataclass(frozen=True)
class Started:
    pid: int
    start_time: int


class Halted:
    """``death`` says in words how the process ended; empty while it lives.

    ``is_ready``: it has imported all, so that a worker comes as soon as it is asked for.
    """

    def __init__(self, command: Command, logs: Path) -> None:
        """Start it. What it says while it imports is kept in unnamed files in ``logs``.

        Raises:
            OSError: the kernel refuses another process, or there is no such folder.
        """
        self._output, self._errors = _unnamed_file(logs), _unnamed_file(logs)
        requests, self._requests = os.pipe()
        self.status, status = os.pipe()
        try:
            self._process = subprocess.Popen(
                command.words,
                stdout=self._output,
                stderr=self._errors,
                cwd=command.folder,
                env=_environment(command, requests, status),
                pass_fds=(requests, status),
                start_new_session=True,
            )
        except OSError:
            # It is tried again and again.
            os.close(self._requests)
            os.close(self.status)
            raise
        finally:
            os.close(requests)
            os.close(status)
        self.death, self.last_words = "", ""
        self.is_ready = False
        self._line = b""
        self._answers: dict[int, Started | OSError] = {}
        self._codes: dict[int, int] = {}

    def ask(self, serial: int, body: bytes) -> None:
        """For a worker. Whether the process still lives shows in its answer."""
        data = serial.to_bytes(8, "big") + len(body).to_bytes(8, "big") + body
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(self._requests, data) :]

    def answer(self, serial: int) -> Started | OSError | None:
        """What has become of that request so far."""
        return self._answers.pop(serial, None)

    def exit_code(self, serial: int) -> int | None:
        """How that worker ended, as ``subprocess`` gives it; None when nothing has been heard of it."""
        return self._codes.get(serial)

    def take(self) -> None:
        """Take in what it has said by now, without waiting."""
        while not self.death and wait_readable([self.status], 0):
            self._hear(os.read(self.status, 1 << 16))

    def _hear(self, data: bytes) -> None:
        *lines, self._line = (self._line + data).split(b"\n")
        for line in lines:
            self._note(*line.decode("utf-8", "replace").split(" ", 2))
        if not data:
            self._bury()

    def _note(self, what: str, *words: str) -> None:
        if what == "ready":
            self.is_ready = True
        elif what == "started":
            pid, start_time = words[1].split()
            self._answers[int(words[0])] = Started(int(pid), int(start_time))
        elif what == "refused":
            self._answers[int(words[0])] = OSError(int(words[1]), os.strerror(int(words[1])))
        elif what == "ended":
            self._codes[int(words[0])] = int(words[1])
        elif what == "cannot":
            print(f"{words[0]} is not preloaded: {words[1]}", file=sys.stderr, flush=True)

    def _bury(self) -> None:
        code = self._process.wait()
        name = signal_of(code)
        self.death = f"was killed by {name}" if name else f"ended with code {code}"
        said = self._read_errors()
        print(f"the fork server (pid {self._process.pid}) {self.death}\n{said}", file=sys.stderr, flush=True)
        self.last_words = last_line(said)
        os.close(self._requests)
        os.close(self.status)
        self._output.close()
        self._errors.close()

    def _read_errors(self) -> str:
        file = self._errors.fileno()
        tail = os.pread(file, TAIL_BYTES, max(0, os.fstat(file).st_size - TAIL_BYTES))
        return tail.decode("utf-8", "replace")

    def end(self) -> None:
        """Kill it, and with it all its workers, and wait until it has gone, ten seconds at most."""
        self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_S)


def _unnamed_file(folder: Path) -> IO[bytes]:
    return tempfile.TemporaryFile(dir=folder)


def _environment(command: Command, requests: int, status: int) -> dict[str, str]:
    pythonpath = command.environment.get("PYTHONPATH", "")
    return {
        **command.environment,
        "PYTHONPATH": os.pathsep.join(filter(None, (str(HALT), pythonpath))),
        PYTHONPATH: pythonpath,
        PATH0: command.path0,
        PRELOAD: ",".join(command.preload),
        LATER: ",".join(command.later),
        FORK_SERVER: f"{requests} {status} {os.getpid()}",
    }
