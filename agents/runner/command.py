"""The command and the environment of a worker, and what must be true before one is started."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ..bundle import Bundle
from ..procs import MARK
from ..wire.spec import JobSpec, StartMessage

WORKER_BOOT = Path(__file__).parent / "worker_boot.py"


class CannotStart(Exception):
    """The job cannot be started on this node. The text is for the operator."""


def check_files(spec: JobSpec, node: str) -> None:
    """Look for the workdir and the script as they are on this node.

    Raises:
        CannotStart: saying which path is wrong and what to do.
    """
    if spec.workdir and not Path(spec.workdir).is_dir():
        raise CannotStart(
            f"The workdir {spec.workdir} is not a folder on {node}. "
            "Make it on every node, or give another workdir."
        )
    if spec.script:
        _check_script(Path(spec.workdir or "/") / spec.script, node)


def _check_script(path: Path, node: str) -> None:
    if not path.exists():
        raise CannotStart(
            f"The script {path} does not exist on {node}. Give a path that is there on every node of the job."
        )
    if not path.is_file():
        raise CannotStart(f"The script {path} on {node} is not a file. Give the path of a Python file.")
    if not os.access(path, os.R_OK):
        raise CannotStart(f"The script {path} cannot be read on {node}. Give its user the right to read it.")


def command(spec: JobSpec) -> tuple[str, ...]:
    """The training command, without what ties it to the runner."""
    what = ("-m", spec.module) if spec.module else (spec.script or "",)
    return (sys.executable, "-u", *what, *spec.args)


def tied(words: tuple[str, ...]) -> tuple[str, ...]:
    """A command as it is executed: the worker dies with this process."""
    return (sys.executable, "-I", "-S", str(WORKER_BOOT), str(os.getpid()), *words)


def environment(bundle: Bundle, message: StartMessage, base: dict[str, str]) -> dict[str, str]:
    """What all workers have in their environment on top of torch's own variables.

    ``base`` is the runner's environment. What the spec says wins over it.
    """
    env = {**base, **message.spec.env}
    if message.spec.nproc_per_node > 1:
        env.setdefault("OMP_NUM_THREADS", "1")
    env["PYTHONUNBUFFERED"] = "1"
    # Behind what is there, so that nothing of ours can shadow a module of the job.
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH", ""), str(bundle.lib))))
    env[MARK] = bundle.mark
    return env
