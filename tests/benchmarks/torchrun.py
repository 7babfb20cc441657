"""Plain torchrun, torchrun at its best, and ft_launcher: what Regroup is compared with."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from tests.system.stack import ROOT, free_port
from webapp.stack.leftovers import MARK, kill_all

from .cases import Kind, Shape
from .marks import Marks
from .phases import Kill
from .sides import MAX_RESTARTS, SCRIPT

FT_LAUNCHER = ROOT / ".venv-bench" / "bin" / "ft_launcher"
"""Of nvidia-resiliency-ext, in an environment of its own; not needed."""
SHORT_WAITS = "last_call_timeout=1,keep_alive_interval=1,keep_alive_max_attempt=3"


@dataclass(frozen=True)
class Torchrun:
    """One way to start it. ``share`` is the part of N that it is measured for."""

    name: str
    program: tuple[str, ...]
    options: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    share: float = 1.0

    def launch(self, shape: Shape, folder: Path, arguments: Sequence[str]) -> TorchrunJob:
        """Start it on so many nodes, all on this machine. Its output goes to files in the folder."""
        folder.mkdir(parents=True)
        marks = Marks(folder / "marks.jsonl")
        command = [*self.program, *self._size(shape), *self.options]
        command += [str(SCRIPT), "--marks", str(marks.path), *arguments]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("REGROUP_")}
        environment |= {**dict(self.env), MARK: str(folder)}
        job = TorchrunJob(marks, time.monotonic(), folder, command, environment)
        for _ in range(shape.nodes):
            job.add_node()
        return job

    def _size(self, shape: Shape) -> list[str]:
        """One node needs no rendezvous given, as people type it; ft_launcher does not find one by itself."""
        size = [f"--nnodes={shape.nnodes}", f"--nproc-per-node={shape.nproc_per_node}"]
        size += [f"--max-restarts={MAX_RESTARTS}"]
        if shape.nodes == 1 and self.name != "ft_launcher":
            return size
        endpoint = f"--rdzv-endpoint=127.0.0.1:{free_port()}"
        return [*size, "--rdzv-backend=c10d", endpoint, "--rdzv-id=benchmark"]


@dataclass
class TorchrunJob:
    marks: Marks
    launched_at: float
    folder: Path
    command: Sequence[str]
    environment: Mapping[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def before_kill(self) -> None:
        """It tells nothing."""

    def account(self, kill: Kill) -> None:
        """It tells nothing."""

    def restarts_spent(self) -> None:
        """It tells nothing."""

    def add_node(self) -> None:
        """One more agent, as on another machine."""
        with (self.folder / f"node-{len(self.processes)}.log").open("wb") as output:
            self.processes.append(
                subprocess.Popen(self.command, env=self.environment, stdout=output, stderr=output)
            )

    def change(self, kind: Kind) -> float:
        """A node is lost by SIGKILL to its agent and its workers, and let go by SIGTERM to its agent."""
        guest = None if kind == "scale-up" else self._guest()
        workers = guest.children(recursive=True) if guest else []
        began_at = time.monotonic()
        if guest is None:
            self.add_node()
        elif kind == "scale-down":
            guest.terminate()
        else:
            for process in (guest, *workers):
                process.kill()
        return began_at

    def undo(self, kind: Kind) -> bool:
        """By a new launch: it does not always bear another node."""
        return False

    def _guest(self) -> psutil.Process:
        """An agent that does not keep the store."""
        agents = [psutil.Process(process.pid) for process in self.processes]
        return next(agent for agent in reversed(agents) if not _listens(agent, self._port))

    @property
    def _port(self) -> int:
        (endpoint,) = [word for word in self.command if word.startswith("--rdzv-endpoint=")]
        return int(endpoint.rpartition(":")[2])

    def has_ended(self) -> bool:
        return all(process.poll() is not None for process in self.processes)

    def says(self) -> str:
        return f"its output is in {self.folder}"

    def end(self) -> None:
        """Its workers would outlive it, so everything that carries its mark goes."""
        kill_all(str(self.folder))
        for process in self.processes:
            process.wait(10)


def _listens(process: psutil.Process, port: int) -> bool:
    connections = process.net_connections("tcp")
    return any(c.status == psutil.CONN_LISTEN and getattr(c.laddr, "port", 0) == port for c in connections)


_RUN = (sys.executable, "-m", "torch.distributed.run")
DEFAULTS = Torchrun("torchrun", _RUN)
BEST = Torchrun(
    "best", _RUN, (f"--rdzv-conf={SHORT_WAITS}",), (("TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "1"),), 0.5
)
FT = Torchrun("ft_launcher", (str(FT_LAUNCHER),), ("--ignore-missing-fault-tol-cfg",), share=0.3)
OTHERS = {other.name: other for other in (DEFAULTS, BEST, FT)}
