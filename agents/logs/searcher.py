"""The process that searches: what it is to do comes as JSON, and what it finds goes out block by block.

It takes one block of each stream in turn, from the end backwards, so that the newest of all of them is
searched first. It may be killed at any time; each line that it has written is whole.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
from dataclasses import dataclass
from typing import Any

from .shown import shown

BLOCK_BYTES = 1 << 18
LINE_BYTES = 8192
"""Of a longer line the rest is not searched."""
TEXT_CHARACTERS = 2000
CONTROLS = bytes(byte for byte in [*range(32), 127] if byte not in b"\t\n")


@dataclass
class _Stream:
    index: int
    path: str
    floor: int
    end: int
    """What is before it is still to be searched."""
    hits: int = 0


def main() -> None:
    os.nice(5)
    seconds = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    asked = json.load(sys.stdin)
    try:
        pattern = re.compile(asked["pattern"], 0 if asked["is_case_sensitive"] else re.IGNORECASE)
    except (re.error, RecursionError, OverflowError) as error:
        _tell(problem=f"The pattern cannot be read: {error}.")
        return
    streams = [_Stream(index, **one) for index, one in enumerate(asked["streams"])]
    while streams:
        streams = [one for one in streams if _search_block(one, pattern, asked["limit"])]


def _search_block(stream: _Stream, pattern: re.Pattern[str], limit: int) -> bool:
    """Whether more of it is to be searched."""
    start, data = _read_back(stream)
    hits, offset = [], start + len(data.removesuffix(b"\n"))
    raws, texts = _lines(data)
    for raw, text in zip(reversed(raws), reversed(texts), strict=True):
        offset -= len(raw)
        if pattern.search(text):
            plain = raw[:LINE_BYTES].rstrip(b"\r").decode("utf-8", "replace")
            hits.append((offset, plain[:TEXT_CHARACTERS]))
            if stream.hits + len(hits) == limit:
                start = offset
                break
        offset -= 1
    stream.hits, stream.end = stream.hits + len(hits), start
    is_full = stream.hits >= limit and start > stream.floor
    _tell(index=stream.index, low=start, hits=hits, is_full=is_full)
    return start > stream.floor and not is_full


def _lines(data: bytes) -> tuple[list[bytes], list[str]]:
    """Each line without its end, and what it looks like. Most blocks hold nothing to take out."""
    raws = data.removesuffix(b"\n").split(b"\n")
    if len(data.translate(None, CONTROLS)) == len(data) and max(map(len, raws)) <= LINE_BYTES:
        # Also where bytes are no text: what stands for them holds no line's end.
        return raws, data.removesuffix(b"\n").decode("utf-8", "replace").split("\n")
    return raws, [shown(raw[:LINE_BYTES].decode("utf-8", "replace")) for raw in raws]


def _read_back(stream: _Stream) -> tuple[int, bytes]:
    """Whole lines that end where the searched part begins; one that fills a block comes in parts."""
    start = max(stream.floor, stream.end - BLOCK_BYTES)
    try:
        with open(stream.path, "rb") as file:
            data = os.pread(file.fileno(), stream.end - start, start)
    except OSError:
        return stream.floor, b""
    if start == stream.floor:
        return start, data
    torn = data.find(b"\n") + 1
    return (start, data) if torn in (0, len(data)) else (start + torn, data[torn:])


def _tell(**facts: Any) -> None:
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
