"""What has been installed already: one stamp for each step, holding a hash of all that went into it.

A mark says that an installation is under way. Found at the next start, it tells of one that was
killed half-way, whose folder cannot be trusted.
"""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def hash_of(inputs: Iterable[Path | str]) -> str:
    """One hash over words and over the content of files; folders count with all that is in them."""
    total = hashlib.sha256()
    for item in inputs:
        for part in _parts(item):
            total.update(part)
            total.update(b"\0")
    return total.hexdigest()


def _parts(item: Path | str) -> Iterator[bytes]:
    if isinstance(item, str):
        yield item.encode()
        return
    files = sorted(item.rglob("*")) if item.is_dir() else [item]
    for file in files:
        if file.is_file():
            yield str(file).encode()
            yield file.read_bytes()


class Stamps:
    """The stamps of one folder. A stamp is removed before its step and written after it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str) -> str | None:
        try:
            return (self._folder / f"{name}.stamp").read_text()
        except OSError:
            return None

    def write(self, name: str, inputs_hash: str) -> None:
        (self._folder / f"{name}.stamp").write_text(inputs_hash)

    @contextmanager
    def renewing(self, name: str, inputs_hash: str) -> Iterator[None]:
        """Around the work of a step: whatever ends it early leaves no stamp."""
        (self._folder / f"{name}.stamp").unlink(missing_ok=True)
        yield
        self.write(name, inputs_hash)

    def was_interrupted(self, name: str) -> bool:
        return (self._folder / f"{name}.under-way").exists()

    @contextmanager
    def under_way(self, name: str) -> Iterator[None]:
        """Around work that cannot be trusted when it is killed or interrupted half-way.

        A tool that fails by itself tidies up after itself; what it leaves can be built upon.
        """
        mark = self._folder / f"{name}.under-way"
        mark.touch()
        try:
            yield
        except Exception:
            mark.unlink()
            raise
        mark.unlink()

    def forget_all(self) -> None:
        for stamp in self._folder.glob("*.stamp"):
            stamp.unlink()

    @contextmanager
    def alone(self, waiting: str) -> Iterator[None]:
        """Keep other installations out; say ``waiting`` when one of them has to be waited for."""
        self._folder.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                print(waiting, flush=True)
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
