"""The command and the environment of a worker, and what must be true before one is started."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from ..bundle import Bundle
from ..procs import MARK
from ..wire.spec import JobSpec, StartMessage, is_bare_name, workers_on

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
    if not spec.script:
        return
    path = _find_script(spec, node)
    _check_script(path, node)
    if spec.no_python and not os.access(path, os.X_OK):
        raise CannotStart(
            f"The program {path} cannot be executed on {node}. Give its user the right to, or leave out "
            "no_python if it is a Python file."
        )


def _find_script(spec: JobSpec, node: str) -> Path:
    script = spec.script or ""
    if not is_bare_name(spec):
        return Path(spec.workdir or "/") / script
    found = shutil.which(script)
    if found is None:
        raise CannotStart(
            f"The program {script} is not in PATH on {node}. Install it there, or give its path, such as "
            f"/usr/bin/{script}."
        )
    return Path(found)


def _check_script(path: Path, node: str) -> None:
    if not path.exists():
        raise CannotStart(
            f"The script {path} does not exist on {node}. Give a path that is there on every node of the job."
        )
    if not path.is_file():
        raise CannotStart(f"The script {path} on {node} is not a file. Give the path of a file.")
    if not os.access(path, os.R_OK):
        raise CannotStart(f"The script {path} cannot be read on {node}. Give its user the right to read it.")


def command(spec: JobSpec) -> tuple[str, ...]:
    """The training command, without what ties it to the runner."""
    if spec.no_python:
        return (spec.script or "", *spec.args)
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
    if workers_on(message) > 1:
        env.setdefault("OMP_NUM_THREADS", "1")
    env["PYTHONUNBUFFERED"] = "1"
    # Behind what is there, so that nothing of ours can shadow a module of the job.
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (env.get("PYTHONPATH", ""), str(bundle.lib))))
    env[MARK] = bundle.mark
    return env
