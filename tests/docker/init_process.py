"""The first process of a node's container, as the container runs it: with a ``regroup-agent`` on its path."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import psutil

from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
INIT = ROOT / "docker" / "agent_init.py"


class InitProcess:
    """``agent``: a shell script that stands where the installed command is. Ended with all below it."""

    def __init__(
        self,
        folder: Path,
        agent: str,
        arguments: Sequence[str] = (),
        around: Sequence[str] = (),
        **settings: str,
    ) -> None:
        self.folder = folder
        (folder / "bin").mkdir()
        if agent:
            command = folder / "bin" / "regroup-agent"
            command.write_text(f"#!/bin/sh\n{agent}\n")
            command.chmod(0o755)
        self._said = folder / "said"
        environment = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "PYTHONPATH": str(ROOT), **settings}
        with self._said.open("wb") as output:
            self.process = subprocess.Popen(
                [*around, sys.executable, str(INIT), *arguments],
                cwd=folder,
                env=environment,
                stdout=output,
                stderr=output,
            )

    @property
    def said(self) -> str:
        return self._said.read_text()

    def number_in(self, name: str) -> int:
        """What a stand-in has written into that file."""
        file = self.folder / name
        return int(wait_until(lambda: file.exists() and file.read_text().strip(), what=f"the file {name}"))

    def children(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children()

    def stop(self, signum: int = signal.SIGTERM, timeout_s: float = 20.0) -> int:
        self.process.send_signal(signum)
        return self.process.wait(timeout_s)

    def end_all(self) -> None:
        if self.process.poll() is None:
            below = psutil.Process(self.process.pid).children(recursive=True)
            self.process.kill()
            for process in below:
                process.kill()
            self.process.wait()


def is_gone(pid: int) -> bool:
    """Not even a zombie is left."""
    return not Path(f"/proc/{pid}").exists()
