"""Whether script and working directory are there and may be used by whoever runs the workers."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ...wire.checks import CheckNode, Finding


def check(request: CheckNode, node: str) -> list[Finding]:
    return [workdir(request, node), _script(request, node)]


def workdir(request: CheckNode, node: str) -> Finding:
    """Of a job without one there is nothing to look at."""
    if request.workdir is None:
        return Finding(check="workdir", verdict="ok", says="The job has a folder of its own on each node.")
    path = Path(request.workdir)
    if not path.is_dir():
        is_file = "is not a folder" if path.exists() else "does not exist"
        return Finding(
            check="workdir",
            verdict="fail",
            says=f"The working directory {request.workdir} {is_file} on {node}.",
            what_to_do="Make it there, or give a folder that every node of the job has.",
        )
    if not os.access(path, os.R_OK | os.X_OK):
        return Finding(
            check="workdir",
            verdict="fail",
            says=f"The working directory {request.workdir} cannot be entered on {node}.",
            what_to_do=f"Let the user of the node agent ({_user()}) read and enter it.",
        )
    return Finding(check="workdir", verdict="ok", says=f"{request.workdir} is there.")


def _script(request: CheckNode, node: str) -> Finding:
    if request.script is None:
        return Finding(
            check="script", verdict="ok", says=f"The module {request.module} is looked for by Python."
        )
    if request.no_python and "/" not in request.script:
        return _program(request.script, request.env.get("PATH", os.environ.get("PATH")), node)
    path = Path(request.workdir or "/", request.script)
    if not path.is_file():
        return Finding(
            check="script",
            verdict="fail",
            says=f"The script {path} does not exist on {node}.",
            what_to_do="Put it there, or give a path that every node of the job can read.",
        )
    wanted, word = (os.X_OK, "executed") if request.no_python else (os.R_OK, "read")
    if not os.access(path, wanted):
        return Finding(
            check="script",
            verdict="fail",
            says=f"The script {path} cannot be {word} on {node}.",
            what_to_do=f"Change its permissions for the user of the node agent ({_user()}).",
        )
    return Finding(check="script", verdict="ok", says=f"{path} is there.")


def _program(name: str, path: str | None, node: str) -> Finding:
    found = shutil.which(name, path=path)
    if found:
        return Finding(check="script", verdict="ok", says=f"{name} is {found}.")
    return Finding(
        check="script",
        verdict="fail",
        says=f"The program {name} is not in the PATH on {node}.",
        what_to_do="Install it there, give its whole path, or set PATH in the job's environment.",
    )


def _user() -> str:
    return f"uid {os.geteuid()}"
