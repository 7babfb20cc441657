"""Whether the checkpoint folder can be written and is the same everywhere: each node leaves a file there.

The files begin with a dot and are removed by who made them: when asked, a minute later, or by a later check.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from pathlib import Path

from ...wire.checks import CheckNode, Finding

PREFIX = ".regroup-check-"
LEFT_S = 60.0
"""So long a file is left for the others at most; one that is ten times as old is of nobody any more."""
SEEN_S = 2.0
"""What a shared folder may take until another node sees a new file: NFS remembers what it has not found."""


def write(request: CheckNode, node: str) -> list[Finding]:
    if request.checkpoint_dir is None:
        says = "No checkpoint folder is named, so that it was not looked at."
        what = "Give checkpoint_dir: without checkpoints each restart begins from the start."
        return [Finding(check="checkpoints", verdict="warn", says=says, what_to_do=what)]
    path = _file(request, node)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_old(path.parent)
        path.write_text(request.run)
    except OSError as error:
        says = f"Nothing can be written to the checkpoint folder {request.checkpoint_dir} on {node}: "
        what = f"Make the folder, and let the user of the node agent (uid {os.geteuid()}) write to it."
        says += f"{error.strerror}."
        return [Finding(check="checkpoints", verdict="fail", says=says, what_to_do=what)]
    _remove_later(path)
    return []


def read_others(request: CheckNode, node: str) -> list[Finding]:
    """``nodes`` of the request are those that have left a file."""
    if request.checkpoint_dir is None or node not in request.nodes:
        return []
    if len(request.nodes) < 2:
        says = f"{request.checkpoint_dir} can be written; there is no other node that could write to it."
        return [Finding(check="checkpoints", verdict="ok", says=says)]
    missing = _wait_for(request)
    if not missing:
        says = f"{request.checkpoint_dir} can be written, and is the same on all nodes."
        return [Finding(check="checkpoints", verdict="ok", says=says)]
    says = (
        f"{node} does not see in {request.checkpoint_dir} what {_listed(missing)} wrote there: "
        "the folder is not shared."
    )
    what = "Mount the same file system there on all nodes, or name another folder that is shared."
    return [Finding(check="checkpoints", verdict="fail", says=says, what_to_do=what)]


def remove(request: CheckNode, node: str) -> None:
    if request.checkpoint_dir is not None:
        with contextlib.suppress(OSError):
            _file(request, node).unlink()


def _file(request: CheckNode, node: str) -> Path:
    run = "".join(letter for letter in request.run if letter.isalnum())
    return Path(request.workdir or "/", request.checkpoint_dir or "", f"{PREFIX}{run}-{node}")


def _wait_for(request: CheckNode) -> list[str]:
    """The nodes whose file cannot be read here; a moment later at the latest it would be."""
    end = time.monotonic() + SEEN_S
    while True:
        missing = [name for name in request.nodes if not _is_there(_file(request, name), request.run)]
        if not missing or time.monotonic() > end:
            return missing
        time.sleep(0.1)


def _is_there(path: Path, run: str) -> bool:
    try:
        return path.read_text() == run
    except OSError:
        return False


def _remove_old(folder: Path) -> None:
    """What a node agent left that was killed in between."""
    for path in folder.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > 10 * LEFT_S:
                path.unlink()


def _remove_later(path: Path) -> None:
    timer = threading.Timer(LEFT_S, lambda: path.unlink(missing_ok=True))
    timer.daemon = True
    timer.start()


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
