"""The interpreters that this node offers by name: looked at when the node agent starts, all at once."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from ...wire.environments import Environment, environment_of
from ..config import SECRETS
from ..outcome import Refused

_LIMIT_S = 20.0
"""A first start from a slow network disk takes a while."""
_TELL = """
import importlib.metadata, json, sys
try:
    torch = importlib.metadata.version("torch")
except importlib.metadata.PackageNotFoundError:
    torch = ""
print(json.dumps([sys.version.split()[0], torch]))
"""


def find_environments(environments: Mapping[str, str]) -> tuple[Environment, ...]:
    """In order of name. Takes as long as the slowest of them needs to start."""
    if not environments:
        return ()
    with ThreadPoolExecutor(max_workers=len(environments), thread_name_prefix="environment") as pool:
        return tuple(pool.map(lambda pair: _look_at(*pair), sorted(environments.items())))


def _look_at(name: str, path: str) -> Environment:
    if shutil.which(path) is None:
        return Environment(name=name, path=path, trouble=f"does not work: {path} is no executable file")
    try:
        python, torch = _ask(path)
    except subprocess.TimeoutExpired:
        # It may only be slow now, so that nothing is held against it.
        return Environment(name=name, path=path)
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        return Environment(name=name, path=path, trouble=f"does not work: {path} {_why(error)}")
    trouble = "" if torch else "has no torch"
    return Environment(name=name, path=path, python=python, torch=torch, trouble=trouble)


def _ask(path: str) -> tuple[str, str]:
    answer = subprocess.run(
        [path, "-c", _TELL],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_LIMIT_S,
        cwd="/",
        env={key: value for key, value in os.environ.items() if not key.startswith(SECRETS)},
        check=True,
    )
    python, torch = json.loads(answer.stdout.decode().splitlines()[-1])
    return str(python), str(torch)


def _why(error: Exception) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        last = error.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return f"ended with status {error.returncode}{f' and said {last[0]!r}' if last else ''}"
    if isinstance(error, OSError):
        return f"cannot be run ({error.strerror})"
    return "does not answer as Python does"


def interpreter_for(python: str | None, default: str, environments: Mapping[str, str], node: str) -> str:
    """What a job's ``python`` means on this node.

    Raises:
        Refused: it names an environment that is not offered here, or whose interpreter is gone.
    """
    name = environment_of(python)
    if not name:
        return python or default
    path = environments.get(name)
    if path is None:
        offered = f"It offers {', '.join(sorted(environments))}." if environments else "It offers none."
        raise Refused(
            f"{node} offers no environment {name}. {offered} Start its node agent with "
            f"--environment {name}=/path/to/python, or give another python."
        )
    if shutil.which(path) is None:
        raise Refused(
            f"The environment {name} on {node} is gone: {path} is no executable file. "
            f"Put it back, or have --environment {name}=PATH point to where it is now."
        )
    return path
