"""A disk with little room, for tests that fill it. Only root may mount one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NEEDS_ROOT = "only root may mount a small disk"


@contextmanager
def mounted(folder: Path, size_mib: int) -> Iterator[Path]:
    """Gives the folder, made and mounted."""
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size_mib}m", "none", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(file: Path) -> None:
    """Let that file take all the room that there is."""
    with file.open("ab", buffering=0) as opened:
        try:
            while True:
                opened.write(b"\0" * 4096)
        except OSError:
            return
