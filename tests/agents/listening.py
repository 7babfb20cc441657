"""Where this machine listens, as the kernel tells."""

from __future__ import annotations

import ipaddress
from pathlib import Path

LISTEN = "0A"


def addresses_listening_on(port: int) -> list[str]:
    """The local addresses with a listening TCP socket on that port."""
    rows = [line.split() for name in ("tcp", "tcp6") for line in _lines(Path("/proc/net") / name)]
    found = [row[1].rpartition(":") for row in rows if row[3] == LISTEN]
    return sorted(_address(text) for text, _, where in found if int(where, 16) == port)


def _lines(table: Path) -> list[str]:
    return table.read_text().splitlines()[1:] if table.exists() else []


def _address(text: str) -> str:
    """The kernel writes each 32 bits in the machine's own order, which is little-endian where we run."""
    words = [bytes.fromhex(text[at : at + 8])[::-1] for at in range(0, len(text), 8)]
    return str(ipaddress.ip_address(b"".join(words)))
