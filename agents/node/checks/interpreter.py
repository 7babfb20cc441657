"""Whether the job's interpreter runs here and has torch, and which versions both are."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping

from ...wire.checks import CheckNode, CheckNodeAnswer, Finding
from ..outcome import Refused
from ..probes.environments import interpreter_for
from ..probes.python import locate
from ..spawn import node_environment

LIMIT_S = 15.0
"""A first start from a network file system, beside a job that trains, takes its time."""
_TELL = """
import importlib.metadata, importlib.util, json, sys
try:
    torch = importlib.metadata.version("torch") if importlib.util.find_spec("torch") else ""
except importlib.metadata.PackageNotFoundError:
    torch = "unknown"
module = sys.argv[1].partition(".")[0]
has_module = not module or importlib.util.find_spec(module) is not None
print(json.dumps({"python": sys.version.split()[0], "torch": torch, "has_module": has_module}))
"""


def check(request: CheckNode, node: str, python: str, environments: Mapping[str, str]) -> CheckNodeAnswer:
    environ = node_environment(os.environ, request.local_addr) | request.env
    try:
        wanted = interpreter_for(request.python, python, environments, node)
        path = locate(wanted, environ, request.workdir, node)
        told = _ask(path, request.module or "", environ, request.workdir)
    except Refused as error:
        says, _, what_to_do = str(error).partition(". ")
        return _failed(says if what_to_do else str(error), what_to_do)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return _failed(f"The interpreter on {node} does not answer: {_why(error)}", "Try it by hand there.")
    return _judge(told, path, request.module or "", node)


def _ask(path: str, module: str, environ: dict[str, str], workdir: str | None) -> dict[str, str]:
    answer = subprocess.run(
        [path, "-c", _TELL, module],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LIMIT_S,
        # A module may lie in the job's own folder, and nothing else is looked for there.
        cwd=workdir if module and workdir and os.path.isdir(workdir) else "/",
        env=environ,
        check=True,
    )
    told: dict[str, str] = json.loads(answer.stdout.decode().splitlines()[-1])
    return told


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took longer than {LIMIT_S:.0f} s."
    if isinstance(error, subprocess.CalledProcessError):
        last = error.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"it ended with status {error.returncode}{f': {last[0]}' if last else ''}."
    return f"{error}."


def _judge(told: dict[str, str], path: str, module: str, node: str) -> CheckNodeAnswer:
    if not told["torch"]:
        return _failed(f"{path} on {node} has no torch.", "Install torch there, or give another python.")
    if not told["has_module"]:
        what = "Install it there, give the workdir in which it lies, or give another python."
        return _failed(f"{path} on {node} has no module {module}.", what)
    says = f"Python {told['python']} with torch {told['torch']}, {path}."
    found = Finding(check="python", verdict="ok", says=says)
    return CheckNodeAnswer(findings=(found,), python=told["python"], torch=told["torch"])


def _failed(says: str, what_to_do: str) -> CheckNodeAnswer:
    says = says if says.endswith(".") else f"{says}."
    finding = Finding(check="python", verdict="fail", says=says, what_to_do=what_to_do)
    return CheckNodeAnswer(findings=(finding,))
