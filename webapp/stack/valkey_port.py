"""Valkey's port, chosen once and kept in the data folder: node agents elsewhere hold it in their URL."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from .checks import try_port
from .options import CannotStart
from .secret_files import write_private

LOWEST = 20_000
HIGHEST = 32_767
"""Below the range from which the kernel gives ports to whoever asks for any: nobody sits there by chance."""
TRIES = 100


def keep_port(path: Path, addresses: Sequence[str]) -> int:
    """The port in that file while it is free; otherwise another one, which is written there.

    Raises:
        CannotStart: no free one is found.
    """
    kept = _read(path)
    if kept is not None and _is_free(kept, addresses):
        return kept
    for port in random.sample(range(LOWEST, HIGHEST + 1), TRIES):
        if _is_free(port, addresses):
            write_private(path, f"{port}\n")
            return port
    raise CannotStart(
        f"No free port from {LOWEST} to {HIGHEST} was found for Valkey on {', '.join(addresses)}. "
        f"Write one that is free into {path}."
    )


def _read(path: Path) -> int | None:
    with suppress(OSError, ValueError):
        port = int(path.read_text())
        return port if 1 <= port <= 65_535 else None
    return None


def _is_free(port: int, addresses: Sequence[str]) -> bool:
    try:
        for address in addresses:
            try_port(address, port)
    except OSError:
        return False
    return True
