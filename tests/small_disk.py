"""A disk with little room, for tests that fill it. Only root may mount one."""

from __future__ import annotations

import subprocess
import threading
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


@contextmanager
def kept_full(disk: Path) -> Iterator[None]:
    """Let nothing there find room meanwhile, also where a file goes."""
    filler, is_over = disk / "filler", threading.Event()
    fill(filler)

    def run() -> None:
        while not is_over.wait(0.02):
            fill(filler)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        filler.unlink()
