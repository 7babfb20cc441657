"""Runs a script as a worker in both ways, executed and forked, with all that it said."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from agents.runner.command import command, tied
from agents.runner.preload.forked import Forked
from agents.runner.preload.halted import Command
from agents.runner.preload.server import ForkServer, path0
from agents.runner.stopping import StopRequest
from agents.wire.spec import JobSpec

WAYS = ("exec", "preload")
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class Way:
    """One way to start workers of one command. ``env`` comes on top of a small environment."""

    def __init__(self, way: str, folder: Path, spec: JobSpec, env: dict[str, str] | None = None) -> None:
        self._way, self._folder, self._spec = way, folder, spec
        self._count = 0
        self._executed: list[subprocess.Popen[bytes]] = []
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": str(folder / "lib"),
            "PYTHONUNBUFFERED": "1",
            "LC_ALL": "C.UTF-8",
            **(env or {}),
        }
        self.server = self._start_server() if way == "preload" else None

    def _start_server(self) -> ForkServer:
        stop, spec = StopRequest(), self._spec
        workdir = Path(spec.workdir or self._folder)
        what = Command(
            words=command(spec),
            script_arguments=len(spec.args),
            environment=self.environment,
            folder=str(workdir),
            path0=path0(spec, workdir),
            preload=spec.preload,
        )
        return ForkServer(what, "node-a", self._folder, stop.check, stop.fileno())

    def start(self, env: dict[str, str] | None = None) -> tuple[Forked | subprocess.Popen[bytes], Path]:
        """A worker, and the folder of its logs."""
        self._count += 1
        logs = self._folder / f"{self._way}-{self._count}"
        logs.mkdir()
        out, err = logs / "out", logs / "err"
        environment = {**self.environment, **(env or {})}
        with out.open("w") as stdout, err.open("w") as stderr:
            if self.server is not None:
                return self.server.fork(command(self._spec), environment, str(out), str(err)), logs
            process = subprocess.Popen(
                tied(command(self._spec)),
                env=environment,
                cwd=self._spec.workdir or self._folder,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        self._executed.append(process)
        return process, logs

    def run(self, env: dict[str, str] | None = None) -> Ran:
        worker, logs = self.start(env)
        code = worker.wait(PATIENCE_S)
        return Ran(code, (logs / "out").read_text(), (logs / "err").read_text())

    def end(self) -> None:
        if self.server is not None:
            self.server.end()
        for process in self._executed:
            process.kill()
            process.wait()


def run_both(folder: Path, spec: JobSpec, env: dict[str, str] | None = None) -> tuple[Ran, Ran]:
    """What became of it when it was executed, and when it was forked."""
    ran = []
    for name in WAYS:
        way = Way(name, folder, spec, env)
        try:
            ran.append(way.run())
        finally:
            way.end()
    return ran[0], ran[1]


def spec_of(folder: Path, script: str, *args: str, preload: tuple[str, ...] = ()) -> JobSpec:
    path = folder / "job" / "train.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(script)
    return JobSpec(script=str(path), args=args, preload=preload)
