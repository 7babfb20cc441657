"""Code that comes with a job: what the hub keeps of an upload, and how a node gets it."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_BYTES = 64 << 20
"""Of an upload, and of what is kept of it."""
MOST_UNPACKED_BYTES = 256 << 20
MOST_FILE_BYTES = 128 << 20
MOST_FILES = 5000

TICKET = "X-Regroup-Ticket"
"""The header in which a node shows that it may have the code."""

_DIGEST = re.compile(r"^[0-9a-f]{64}$")


def is_digest(text: str) -> bool:
    """Whether it is a SHA-256 as it is written here: 64 digits, in lower case."""
    return _DIGEST.match(text) is not None


@dataclass(frozen=True, kw_only=True)
class CodeSource:
    """Where a node fetches the code of an attempt. ``ticket`` is good for this node and an hour."""

    digest: str
    hub: str
    """The address of the hub as nodes reach it, such as ``http://hub:8000``."""
    ticket: str = ""

    @property
    def path(self) -> str:
        return f"/api/uploads/{self.digest}/content"
