"""Interpreters of jobs: whether one can be run here, and which torch it has. Torch itself is not imported."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from ..outcome import Refused

_VERSION = "import importlib.metadata as m; print(m.version('torch'))"
_FINDS_TORCH = "import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('torch') else 3)"
_LIMIT_S = 20.0
"""A first start from a slow network disk takes a while."""

_seen_good: set[tuple[str, str]] = set()
"""Interpreters, each with its PYTHONPATH, that had torch. A missing torch is looked for again."""


def torch_version(python: str) -> str | None:
    """The version of torch that is installed there, or None."""
    try:
        answer = _run(python, _VERSION, os.environ)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.decode().strip() or None if answer.returncode == 0 else None


def require_torch(python: str, environ: Mapping[str, str], workdir: str | None, node: str) -> str:
    """The interpreter's absolute path, once it has been seen to run and to find torch.

    Raises:
        Refused: it is not there, cannot be run, or has no torch.
    """
    path = locate(python, environ, workdir, node)
    key = _key(path, environ)
    if key not in _seen_good:
        _try(path, environ, node)
        _seen_good.add(key)
    return path


def note_torch(path: str, environ: Mapping[str, str]) -> None:
    """Somebody has just imported it there."""
    _seen_good.add(_key(path, environ))


def _key(path: str, environ: Mapping[str, str]) -> tuple[str, str]:
    return path, environ.get("PYTHONPATH", "")


def locate(python: str, environ: Mapping[str, str], workdir: str | None, node: str) -> str:
    name = str(Path(workdir or "/", python)) if "/" in python else python
    found = shutil.which(name, path=environ.get("PATH"))
    if found is not None:
        return str(Path(found).absolute())
    if Path(name).exists():
        raise Refused(f"The interpreter {python!r} on {node} is not an executable file.")
    raise Refused(
        f"The interpreter {python!r} does not exist on {node}. "
        "Give a path that exists on every node of the job, or leave python out for the node's default."
    )


def _try(path: str, environ: Mapping[str, str], node: str) -> None:
    try:
        answer = _run(path, _FINDS_TORCH, environ)
    except OSError as error:
        raise Refused(f"The interpreter {path!r} cannot be run on {node}: {error.strerror}.") from error
    except subprocess.TimeoutExpired as error:
        raise Refused(
            f"The interpreter {path!r} on {node} did not answer within {_LIMIT_S:.0f} s."
        ) from error
    if answer.returncode == 3:
        raise Refused(
            f"The interpreter {path!r} on {node} has no torch. Install torch there, "
            "or give another interpreter as python."
        )
    if answer.returncode != 0:
        last = (answer.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"])[-1]
        raise Refused(
            f"The interpreter {path!r} on {node} failed a first try with status {answer.returncode}: {last}"
        )


def _run(python: str, code: str, environ: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [python, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_LIMIT_S,
        cwd="/",  # no folder of the user's that happens to be called torch
        env=dict(environ),
        check=False,
    )
