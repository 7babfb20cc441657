"""Whether a node can have a job's uploaded code. It keeps it then, so that the launch need not fetch it."""

from __future__ import annotations

import os
from pathlib import Path

from ...uploads.archive import read_entries
from ...uploads.names import UnsafeUpload
from ...wire.checks import CheckNode, Finding
from ..code_cache import fetch
from ..outcome import Failed, Refused
from . import files

WITHIN_S = 5.0
"""The hub waits a little longer for the whole answer."""


def check(request: CheckNode, data: Path, node: str, hub_url: str | None) -> list[Finding]:
    return [files.workdir(request, node), _script(request, data, node, hub_url)]


def _script(request: CheckNode, data: Path, node: str, hub_url: str | None) -> Finding:
    try:
        says = _look(request, data, node, hub_url)
    except (Refused, Failed, UnsafeUpload) as problem:
        return _fail(str(problem))
    except OSError as error:
        return _fail(f"{node} cannot keep the job's code in {data}: {os.strerror(error.errno or 0)}.")
    return Finding(check="script", verdict="ok", says=says)


def _look(request: CheckNode, data: Path, node: str, hub_url: str | None) -> str:
    if request.code is None:
        raise Refused("The job has no code.")
    entries = read_entries(fetch(request.code, data, node, hub_url, WITHIN_S))
    if request.script and request.script.removeprefix("./") not in {entry.path for entry in entries}:
        raise Refused(f"The uploaded code has no {request.script}.")
    return f"{node} has the uploaded code, and its digest is right."


def _fail(says: str) -> Finding:
    return Finding(
        check="script", verdict="fail", says=says, what_to_do="Mend that, or name a path that all nodes have."
    )
