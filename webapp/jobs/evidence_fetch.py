"""Fetches what nodes keep of a round, in slices, from several at a time; one that is silent is named."""

from __future__ import annotations

import base64
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import IO
from uuid import uuid4

from agents.wire.commands import EvidenceSlice, EvidenceSliceAnswer
from webapp.fleet.asking import Silence, ask

AT_ONCE = 8
PART_BYTES = 64 << 20
"""More than that is fetched of no node."""
ALL_S = 45.0
"""What all nodes together may take."""
TRIES = 3
"""A part grows while a command of the job's still writes: reading it then begins anew."""


@dataclass(frozen=True)
class Fetched:
    """The node's zip, open at its beginning; or why there is none, as a sentence."""

    node: str
    file: IO[bytes] | None
    why: str = ""


class _Changed(Exception):
    """The part is another one than when reading it began."""


class _Refused(Exception):
    """It cannot be had. The text is for the person who wants it."""


def fetch_parts(attempt: str, round_number: int, nodes: Iterable[str]) -> list[Fetched]:
    """Of each of these, in their order."""
    deadline = time.monotonic() + ALL_S
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="evidence") as pool:
        return list(pool.map(lambda node: _fetch(node, attempt, round_number, deadline), nodes))


def _fetch(node: str, attempt: str, round_number: int, deadline: float) -> Fetched:
    for _ in range(TRIES):
        file = tempfile.TemporaryFile()  # noqa: SIM115 - whoever asked closes it
        try:
            _read(file, node, attempt, round_number, deadline)
        except _Changed:
            file.close()
            continue
        except _Refused as refusal:
            file.close()
            return Fetched(node, None, str(refusal))
        file.seek(0)
        return Fetched(node, file)
    return Fetched(node, None, f"What {node} keeps changes all the time. Try again in a minute.")


def _read(file: IO[bytes], node: str, attempt: str, round_number: int, deadline: float) -> None:
    version, size, offset = "", 1, 0
    while offset < size:
        if time.monotonic() > deadline:
            raise _Refused(f"{node} was not read to the end within {ALL_S:.0f} s. Try again.")
        request = EvidenceSlice(id=str(uuid4()), attempt=attempt, round=round_number, offset=offset)
        answer = ask(node, request, EvidenceSliceAnswer)
        if isinstance(answer, Silence):
            raise _Refused(answer.why)
        if answer.problem is not None:
            raise _Refused(answer.problem)
        if version not in ("", answer.version):
            raise _Changed
        version, size = answer.version, answer.size
        data = base64.b64decode(answer.data)
        if size > PART_BYTES:
            raise _Refused(
                f"What {node} keeps is too large: {size >> 20} MiB, and {PART_BYTES >> 20} is the most."
            )
        if not data:
            raise _Changed
        file.write(data)
        offset += len(data)
