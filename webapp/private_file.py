"""A file with a key of the hub: for its owner alone, made once, whichever process comes first."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def make_once(path: Path, text: str) -> None:
    """Whole or not at all; one that is there already stays, as a link refuses to replace.

    Raises:
        OSError: it cannot be written.
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    try:
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(aside)
    finally:
        aside.unlink()
