"""The node's warm process: from it a runner is up in milliseconds; starting one anew takes a second or two.

It serves those alone whose process would be started with the very interpreter and environment that it was
started with itself. Everybody else is started anew.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import socket
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import procs
from ..bundle import Bundle
from ..procs import ProcessRef
from .config import KEEPER_BOOT, RUNNER_BOOT
from .devices import devices_of
from .probes.python import note_torch

log = logging.getLogger("regroup.agent")

BOOT = Path(__file__).parents[1] / "warm" / "boot.py"
ROOM = 1024
"""Bytes for the command and the mark of what is forked."""
ANSWER_S = 3.0
"""How long a fork may take: a process that somebody has stopped would never answer."""
END_S = 5.0
LOOK_S = 2.0
CODE_S = 1.0
"""How long an exit status may take to be told once the process has gone."""
MESSAGE_BYTES = 65536
MODULES = {RUNNER_BOOT: "runner.launch", KEEPER_BOOT: "keeper.launch"}
"""What is to be done instead of starting Python with that file."""


class Child:
    """One that was forked, with the face of ``subprocess.Popen`` as far as it is looked at."""

    def __init__(self, ref: ProcessRef) -> None:
        self.ref, self.pid = ref, ref.pid
        self.returncode: int | None = None
        self.told = threading.Event()
        """Set when its exit status is known, or never will be: its parent, the warm process, is lost."""

    def poll(self) -> int | None:
        if self.returncode is None and not procs.is_alive(self.ref):
            self.told.wait(CODE_S)
        return self.returncode


class WarmProcess:
    """``death`` says why it is of no use any more; empty while it lives."""

    def __init__(self, python: str, environment: Mapping[str, str], output: Path) -> None:
        """Start it. ``environment`` is without a mark.

        Raises:
            OSError: it cannot be started.
        """
        self.python, self.environment = python, dict(environment)
        self.is_ready, self.death = False, ""
        self._answers: queue.SimpleQueue[Child | None] = queue.SimpleQueue()
        self._children: dict[int, Child] = {}
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, output.open("wb") as log_file:
            self._popen = subprocess.Popen(
                [python, str(BOOT), "--socket-fd", str(theirs.fileno()), "--room", "_" * ROOM],
                stdin=subprocess.DEVNULL,
                stdout=log_file,
                stderr=log_file,
                env={**environment, procs.MARK: "_" * ROOM},
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        self.pid = self._popen.pid
        threading.Thread(target=self._hear, name="warm", daemon=True).start()

    def _hear(self) -> None:
        with contextlib.suppress(OSError):
            while text := self._socket.recv(MESSAGE_BYTES):
                self._note(json.loads(text))
        code = self._popen.wait()
        self.death = self.death or f"it ended (exit status {code})"
        self._answers.put(None)
        for child in list(self._children.values()):
            child.told.set()

    def _note(self, words: dict[str, Any]) -> None:
        if "ready" in words:
            note_torch(self.python, self.environment)
            self.is_ready = True
        elif "cannot" in words:
            self.death = words["cannot"]
        elif "started" in words:
            ref = ProcessRef(words["started"], words["start_time"], procs.boot_id())
            child = self._children[ref.pid] = Child(ref)
            self._answers.put(child)
        elif ended := self._children.pop(words["ended"], None):
            ended.returncode = words["code"]
            ended.told.set()

    def fork(self, request: Mapping[str, Any], fds: list[int]) -> Child | None:
        """None: it has died, or gives no answer, and is ended then: it starts nothing any more."""
        with self._lock:
            try:
                socket.send_fds(self._socket, [json.dumps(request).encode()], fds)
                return self._answers.get(timeout=ANSWER_S)
            except (OSError, queue.Empty) as error:
                self.death = self.death or f"it does not answer: {error!r}"
                self.end()
                return None

    def end(self) -> None:
        """What it has forked goes on."""
        self._popen.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(END_S)


class Warm:
    """Keeps one warm process for jobs in ``environment``, in a loop of ``step``."""

    def __init__(self, python: str, environment: Mapping[str, str], data: Path) -> None:
        self._python, self._environment = python, environment
        self._output = data / "warm.log"
        self._process: WarmProcess | None = None
        self._deaths = 0

    def step(self, stopping: threading.Event) -> None:
        """See to it a few seconds from now: what the node agent has to do at its start comes first."""
        if not stopping.wait(LOOK_S):
            self._see_to_it()

    def _see_to_it(self) -> None:
        """Start it, or another one in its place; after three in a row that never got ready no more."""
        process = self._process
        if process is not None and process.is_ready:
            self._deaths = 0
        if process is not None and not process.death:
            return
        if process is not None:
            self._deaths += 1
            log.warning("the warm process is lost pid=%s reason=%s", process.pid, process.death)
        self._process = None
        if self._deaths < 3:
            self._process = WarmProcess(self._python, self._environment, self._output)

    def fork(
        self,
        bundle: Bundle,
        python: str,
        environment: Mapping[str, str],
        boot: Path,
        store: socket.socket | None,
    ) -> Child | None:
        """The bundle's process, which is given its devices besides. None: it has to be started anew."""
        process = self._process
        if process is None or not process.is_ready or process.death or boot not in MODULES:
            return None
        if (python, environment) != (process.python, process.environment):
            return None
        command = [python, str(boot), str(bundle.folder)]
        if max(len(os.fsencode(" ".join(command))), len(bundle.mark)) >= ROOM:
            return None
        request = {
            "module": MODULES[boot],
            "command": command,
            "folder": str(bundle.folder),
            "mark": bundle.mark,
            "variables": devices_of(bundle).variables,
        }
        with bundle.own_log.open("ab") as output:
            fds = [output.fileno()] if store is None else [output.fileno(), store.fileno()]
            return process.fork(request, fds)

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
