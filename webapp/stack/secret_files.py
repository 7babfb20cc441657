"""Secrets of the local stack: made once, kept in files that only their owner can read."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read: aside first, then renamed over."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    aside.rename(path)


def keep_secret(path: Path, size_bytes: int = 32) -> str:
    """The secret in that file; made up and written when there is none yet."""
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        write_private(path, secrets.token_urlsafe(size_bytes) + "\n")
        return path.read_text().strip()
