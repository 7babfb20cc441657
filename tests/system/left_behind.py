"""Looking for a word in whatever a stack leaves behind: its files, what Redis holds, its command lines."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import redis

from tests.system.stack import Stack, line_of


def forms_of(word: str) -> tuple[bytes, ...]:
    """As it is, and as it is part of something in base 64, wherever in that it begins."""
    raw = word.encode()
    # What stands before and behind it changes the first and the last letters.
    encoded = [base64.b64encode(b"x" * at + raw) for at in range(3)]
    return raw, *(text[4 * bool(at) : -4] for at, text in enumerate(encoded))


def files_with(folder: Path, word: str) -> list[str]:
    """Each file with what stands around it, packed ones too. What goes away meanwhile leaves nothing."""
    forms, found, looked_at = forms_of(word), [], 0
    for path in folder.rglob("*"):
        try:
            contents = list(_contents(path)) if path.is_file() else []
        except FileNotFoundError:
            continue
        looked_at += len(contents)
        found += [f"{path}: {_around(c, c.index(f))!r}" for f in forms for c in contents if f in c]
    assert looked_at > 20, f"{folder} is not what should be searched"
    return found


def _around(content: bytes, at: int) -> bytes:
    return content[max(0, at - 300) : at + 100]


def _contents(path: Path) -> Iterator[bytes]:
    content = path.read_bytes()
    yield content
    if path.suffix == ".zip":
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            yield from (packed.read(name) for name in packed.namelist())


def keys_with(stack: Stack, word: str) -> list[str]:
    """Of the stack's Valkey server."""
    port, password = ((stack.data / f"valkey_{name}").read_text().strip() for name in ("port", "password"))
    bus: Any = redis.Redis(port=int(port), password=password, socket_timeout=10)
    keys = list(bus.scan_iter())
    assert keys
    forms = forms_of(word)
    held = {key: repr(_value(bus, key)).encode() for key in keys}
    return [repr(key) for key, value in held.items() if any(form in value for form in forms)]


def _value(bus: Any, key: bytes) -> Any:
    read = {
        b"string": bus.get,
        b"list": lambda name: bus.lrange(name, 0, -1),
        b"hash": bus.hgetall,
        b"set": bus.smembers,
        b"zset": lambda name: bus.zrange(name, 0, -1),
        b"stream": bus.xrange,
        b"none": lambda name: None,
    }
    return read[bus.type(key)](key)


def command_lines_with(stack: Stack, word: str) -> list[str]:
    lines = [line_of(process) for process in stack.processes()]
    assert len(lines) > 5
    return [line for line in lines if word in line]
