"""One zip of all that the nodes keep of a round, with a page that opens without a server."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Any

from webapp.errors import Problem, not_found

from .evidence import round_out
from .evidence_fetch import Fetched, fetch_parts
from .evidence_page import evidence_page
from .evidence_schemas import EvidenceRound
from .log_questions import find_attempt
from .models import Attempt, Job

UNPACKED_BYTES = 128 << 20
"""What a node's part may hold; a zip can claim to hold anything."""


@dataclass
class NodeFiles:
    """What one node has sent, by name; or why it has sent nothing."""

    node: str
    why: str = ""
    packed: zipfile.ZipFile | None = None
    names: set[str] = field(default_factory=set)

    def text(self, name: str) -> str:
        """Empty where there is no such file."""
        if self.packed is None or name not in self.names:
            return ""
        return self.packed.read(name).decode("utf-8", "replace")

    def facts(self, name: str) -> dict[str, Any]:
        try:
            value = json.loads(self.text(name) or "{}")
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def evidence_zip(job: Job, attempt_number: int | None, round_number: int) -> IO[bytes]:
    """An unnamed file that holds the zip, open at its beginning.

    Raises:
        Problem: 404 where nothing is kept of that round; 503 where no node that keeps any can be read.
    """
    attempt = find_attempt(job, attempt_number)
    told = None if attempt is None else round_out(job, attempt, round_number)
    if attempt is None or told is None or not told.nodes:
        raise not_found(f"Nothing is kept of round {round_number} of job {job.id}.")
    parts = _fetch(attempt, told)
    try:
        if all(part.packed is None for part in parts):
            raise _nothing(told, parts)
        return _pack(job, attempt, told, parts)
    finally:
        for part in parts:
            if part.packed is not None:
                part.packed.close()


def _nothing(told: EvidenceRound, parts: Sequence[NodeFiles]) -> Problem:
    return Problem(
        503,
        "evidence_unavailable",
        f"No node that keeps evidence of round {told.round} could be read. {' '.join(p.why for p in parts)}",
        what_to_do="Look at the nodes, and try again.",
    )


def _fetch(attempt: Attempt, told: EvidenceRound) -> list[NodeFiles]:
    """In the order of the round's nodes. Those that are not heard are not waited for."""
    asked = [node.node for node in told.nodes if node.state == "kept"]
    fetched = {one.node: one for one in fetch_parts(attempt.id, told.round, asked)}
    return [_open(node.node, node.why, fetched.get(node.node)) for node in told.nodes]


def _open(node: str, why: str, fetched: Fetched | None) -> NodeFiles:
    if fetched is None or fetched.file is None:
        return NodeFiles(node, fetched.why if fetched else why)
    try:
        packed = zipfile.ZipFile(fetched.file)
    except zipfile.BadZipFile as error:
        return NodeFiles(node, f"What {node} has sent cannot be read: {error}.")
    names, room = set(), UNPACKED_BYTES
    for entry in packed.infolist():
        room -= entry.file_size
        if room >= 0 and _is_safe(entry.filename):
            names.add(entry.filename)
    return NodeFiles(node, packed=packed, names=names)


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and not name.endswith("/")


def _pack(job: Job, attempt: Attempt, told: EvidenceRound, parts: Sequence[NodeFiles]) -> IO[bytes]:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked closes it
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("index.html", evidence_page(job, attempt, told, parts))
        for part in parts:
            for name in sorted(part.names):
                assert part.packed is not None
                packed.writestr(f"nodes/{part.node}/{name}", part.packed.read(name))
    file.seek(0)
    return file
