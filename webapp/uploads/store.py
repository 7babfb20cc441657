"""What the hub keeps of uploads: for each a zip named by its digest, and beside it a note of what it is.

The note is written last, so that what is half written is not there. The same files again change it alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.conf import settings
from ninja import Schema
from pydantic import ValidationError

from agents.wire.code import is_digest

LEFT_S = 24 * 3600.0


class Upload(Schema):
    digest: str
    name: str
    """As it was called where it came from."""
    size_bytes: int
    """Of the zip that nodes fetch."""
    files: list[str]
    uploaded_by: str
    uploaded_at: datetime


class Gone(Schema):
    """What is kept of an upload that was removed."""

    name: str
    removed_by: str
    removed_at: datetime


@contextmanager
def aside() -> Iterator[Path]:
    """A private file on the same disk, which is gone afterwards."""
    _sweep()
    with NamedTemporaryFile(dir=_folder(), prefix=".", suffix=".new", delete=False) as file:
        path = Path(file.name)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _sweep() -> None:
    """What a process that was killed has left."""
    for left in _folder().glob(".*.new"):
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > LEFT_S:
                left.unlink()


def digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def keep(packed: Path, upload: Upload) -> None:
    """Take over a zip that ``aside`` gave."""
    _sync(packed)
    packed.replace(path_of(upload.digest))
    with aside() as note:
        note.write_text(upload.model_dump_json())
        _sync(note)
        note.replace(_note_of(upload.digest))
    _gone_of(upload.digest).unlink(missing_ok=True)


def discard(upload: Upload, gone: Gone) -> bool:
    """Its note goes first, so that nobody finds half of it. False: it was gone already."""
    with aside() as note:
        note.write_text(gone.model_dump_json())
        note.replace(_gone_of(upload.digest))
    try:
        _note_of(upload.digest).unlink()
    except FileNotFoundError:
        return False
    path_of(upload.digest).unlink(missing_ok=True)
    return True


def find_gone(digest: str) -> Gone | None:
    """None: there was never such an upload here, or its files were removed by hand."""
    if not is_digest(digest):
        return None
    try:
        return Gone.model_validate(json.loads(_gone_of(digest).read_text()))
    except (FileNotFoundError, ValueError, ValidationError):
        return None


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def find(digest: str) -> Upload | None:
    """None: there is none, or it is not whole."""
    if not is_digest(digest) or not path_of(digest).is_file():
        return None
    try:
        return Upload.model_validate(json.loads(_note_of(digest).read_text()))
    except (FileNotFoundError, ValueError, ValidationError):
        return None


def list_uploads() -> list[Upload]:
    """The newest first."""
    notes = _folder().glob("*.json")
    found = [upload for note in notes if (upload := find(note.stem)) is not None]
    return sorted(found, key=lambda upload: upload.uploaded_at, reverse=True)


def path_of(digest: str) -> Path:
    return _folder() / f"{digest}.zip"


def _note_of(digest: str) -> Path:
    return _folder() / f"{digest}.json"


def _gone_of(digest: str) -> Path:
    return _folder() / f"{digest}.gone"


def _folder() -> Path:
    folder = Path(settings.DATA) / "uploads"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
