"""Files that are answered piece by piece."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import IO

PIECE_BYTES = 1 << 18


async def pieces_of(file: IO[bytes]) -> AsyncIterator[bytes]:
    """Read in threads, so that a slow disk holds up nobody else. Closes the file."""
    try:
        while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
            yield piece
    finally:
        file.close()
