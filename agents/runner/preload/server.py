"""Workers on demand, forked from a process that has imported what they need.

The fork server is killed when the runner ends, and its workers when it ends. It is started before the runner
imports torch, so that both imports run at the same time. Standard library only.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ...bundle import Bundle
from ...wire.spec import JobSpec, StartMessage
from ..command import command
from ..stopping import StopRequest
from ..waking import wait_readable
from .forked import Forked
from .halted import Command, Halted, Started

TRIES = 3
"""How many fork servers may end one after the other while a worker is asked for."""
LOOK_S = 1.0
OF_OPTIMIZERS = ("torch._dynamo",)
"""What torch imports when a script makes its first optimizer: more than a second in each worker."""


class CannotFork(Exception):
    """No fork server will live. The text is for the operator."""


@contextlib.contextmanager
def fork_server_for(
    bundle: Bundle, message: StartMessage, stop: StopRequest, at_once: bool
) -> Iterator[ForkServer | None]:
    """For jobs that want one; ``os.environ`` is that of the workers by now. Ended when it is left.

    ``at_once``: it is begun here. None also where the workdir is missing, which the attempt says itself.
    """
    folder = Path(message.spec.workdir or ".").absolute()
    if message.spec.start != "preload" or not folder.is_dir():
        yield None
        return
    server = _server(bundle, message, folder, stop)
    if at_once:
        server.begin()
    try:
        yield server
    finally:
        server.end()


def _server(bundle: Bundle, message: StartMessage, folder: Path, stop: StopRequest) -> ForkServer:
    spec = message.spec
    what = Command(
        words=command(spec),
        script_arguments=len(spec.args),
        environment=dict(os.environ),
        folder=str(folder),
        path0=path0(spec, folder),
        preload=spec.preload,
        later=OF_OPTIMIZERS if "torch" in spec.preload else (),
    )
    return ForkServer(what, message.node, bundle.folder, stop.check, stop.fileno())


def path0(spec: JobSpec, folder: Path) -> str:
    """What Python puts first on ``sys.path`` for such a command."""
    return str(folder.resolve() if spec.script is None else (folder / spec.script).resolve().parent)


class ForkServer:
    """One process at a time; the next is started when a worker is wanted and the last has ended.

    ``check`` is called while it is waited for, and may raise; ``alarm`` can be read as soon as it would.
    """

    def __init__(self, what: Command, node: str, logs: Path, check: Callable[[], None], alarm: int) -> None:
        self._what, self._node, self._logs = what, node, logs
        self._check, self._alarm = check, alarm
        self._serial = 0
        self._process: Halted | None = None

    @property
    def has_begun(self) -> bool:
        """Whether a worker would come from it sooner than one that is executed."""
        return self._process is not None

    def wait_ready(self, timeout_s: float) -> bool:
        """Begin, if that has not been done, and wait until all is imported: workers then come at once.

        False: the time is up, or it has ended, which the first worker that is asked for will show.

        Raises:
            OSError: the kernel refuses another process. Or what ``check`` raises.
        """
        process, deadline = self.begin(), time.monotonic() + timeout_s
        while not process.is_ready and not process.death and time.monotonic() < deadline:
            wait_readable((process.status, self._alarm), min(LOOK_S, deadline - time.monotonic()))
            self._check()
            process.take()
        return process.is_ready and not process.death

    def begin(self) -> Halted:
        """Start it, or another one when it has ended.

        Raises:
            OSError: the kernel refuses another process.
        """
        if self._process is None or self._process.death:
            self._process = Halted(self._what, self._logs)
        return self._process

    def fork(self, words: tuple[str, ...], environment: dict[str, str], stdout: str, stderr: str) -> Forked:
        """A new worker, whose output goes to these two files, which exist.

        Raises:
            CannotFork: fork servers end as soon as they begin.
            OSError: the kernel refuses another process.
        """
        arguments = list(words[len(words) - self._what.script_arguments :])
        body = marshal.dumps((environment, arguments, stdout, stderr))
        for _ in range(TRIES):
            process = self.begin()
            started = self._ask(process, body)
            if started is not None:
                return Forked(process, self._serial, started)
        raise CannotFork(self._say_dead(process))

    def _ask(self, process: Halted, body: bytes) -> Started | None:
        """None: the fork server ended before it had started one."""
        self._serial += 1
        process.ask(self._serial, body)
        while not process.death:
            answer = process.answer(self._serial)
            if isinstance(answer, OSError):
                raise answer
            if answer is not None:
                return answer
            wait_readable((process.status, self._alarm), LOOK_S)
            self._check()
            process.take()
        return None

    def _say_dead(self, process: Halted) -> str:
        said = f" ({process.last_words})" if process.last_words else ""
        return (
            f"The fork server on {self._node} {process.death}, {TRIES} times before it could start a "
            f"worker{said}. See runner.log; leave out of preload what harms it, or choose start: exec."
        )

    def end(self) -> None:
        """Kill it, and with it all its workers."""
        if self._process is not None:
            self._process.end()
