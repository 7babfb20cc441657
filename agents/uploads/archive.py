"""A zip of code: looked through before anything of it is written, and unpacked whole or not at all.

What a zip says of itself may be a lie, so sizes are counted again while it is unpacked.
"""

from __future__ import annotations

import os
import shutil
import stat
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ..wire.code import MOST_BYTES, MOST_FILE_BYTES, MOST_FILES, MOST_UNPACKED_BYTES
from .names import UnsafeUpload, read_name, require_apart, shown

MOST_DIRECTORY_BYTES = 8 << 20
"""Of the list of its files, which is read into memory as a whole."""
HARMLESS_BYTES, MOST_TIMES = 32 << 20, 200
"""What unpacks to more than the former may be at most so many times as large as its zip."""
_PIECE = 1 << 16
_END, _END_BYTES, _LOCATOR, _LOCATOR_BYTES = b"PK\5\6", 22, b"PK\6\7", 20
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class Entry:
    """One file of the archive."""

    path: str
    size: int
    is_executable: bool
    info: zipfile.ZipInfo


def read_entries(archive: Path) -> list[Entry]:
    """The files in it, in its own order; its folders are made where a file needs them.

    Raises:
        UnsafeUpload: it is no zip, or something in it may not be unpacked.
    """
    _require_small_directory(archive)
    try:
        with zipfile.ZipFile(archive) as packed:
            entries = [_read(info) for info in packed.infolist() if not _is_folder(info)]
    except UnsafeUpload:
        raise
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise UnsafeUpload(f"It is no whole zip: {error}.") from error
    require_apart(entry.path for entry in entries)
    _require_size(archive.stat().st_size, entries)
    return entries


def _require_small_directory(archive: Path) -> None:
    size = archive.stat().st_size
    if size > MOST_BYTES:
        raise UnsafeUpload(f"It has {size >> 20} MiB, and {MOST_BYTES >> 20} MiB are the most.")
    with archive.open("rb") as file:
        file.seek(max(0, size - (1 << 16) - _END_BYTES - _LOCATOR_BYTES))
        tail = file.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) - at < _END_BYTES:
        raise UnsafeUpload("It is no zip, or it is cut off.")
    directory = int.from_bytes(tail[at + 12 : at + 16], "little")
    has_locator = tail[max(0, at - _LOCATOR_BYTES) : at].startswith(_LOCATOR)
    if has_locator or directory > MOST_DIRECTORY_BYTES:
        raise UnsafeUpload(f"It lists too many files: {MOST_FILES} are the most.")


def _is_folder(info: zipfile.ZipInfo) -> bool:
    if not info.is_dir():
        return False
    read_name(info.filename)
    _require_plain(info, stat.S_IFDIR)
    return True


def _read(info: zipfile.ZipInfo) -> Entry:
    path = read_name(info.filename)
    _require_plain(info, stat.S_IFREG)
    if info.flag_bits & 1:
        raise UnsafeUpload(f"{shown(path)} is encrypted. Pack it without a password.")
    if info.compress_type not in _METHODS:
        raise UnsafeUpload(f"{shown(path)} is compressed in a way that is not taken. Use deflate.")
    return Entry(path, info.file_size, bool(_mode(info) & 0o100), info)


def _mode(info: zipfile.ZipInfo) -> int:
    """As on Unix; 0 where the zip was made elsewhere."""
    return info.external_attr >> 16


def _require_plain(info: zipfile.ZipInfo, kind: int) -> None:
    """Neither a link, which could lead anywhere, nor a device, a pipe or a socket."""
    found = stat.S_IFMT(_mode(info))
    if found in (0, kind):
        return
    what = "a link" if found == stat.S_IFLNK else "neither a file nor a folder"
    raise UnsafeUpload(f"{shown(info.filename)} is {what}. Pack the files themselves.")


def _require_size(packed_bytes: int, entries: list[Entry]) -> None:
    if not entries:
        raise UnsafeUpload("There is no file in it.")
    if len(entries) > MOST_FILES:
        raise UnsafeUpload(f"It has {len(entries)} files, and {MOST_FILES} are the most.")
    total = sum(entry.size for entry in entries)
    for entry in entries:
        if entry.size > MOST_FILE_BYTES:
            raise _too_large(entry.path)
    if total > MOST_UNPACKED_BYTES:
        raise UnsafeUpload(
            f"It unpacks to {total >> 20} MiB, and {MOST_UNPACKED_BYTES >> 20} MiB are the most. "
            "Leave data and checkpoints out, and put them where all nodes can read them."
        )
    if total > HARMLESS_BYTES and total > MOST_TIMES * packed_bytes:
        raise UnsafeUpload(f"It unpacks to {total // packed_bytes} times its size, which no code does.")


def _too_large(path: str) -> UnsafeUpload:
    return UnsafeUpload(f"{shown(path)} is larger than {MOST_FILE_BYTES >> 20} MiB, the most for one file.")


def unpack(archive: Path, folder: Path) -> None:
    """Write all of it into a new folder. Ended in between, there is no such folder.

    Raises:
        UnsafeUpload: it may not be unpacked. Nothing is left of it.
        OSError: the disk does not take it.
    """
    entries = read_entries(archive)
    aside = folder.with_name(f".{folder.name}.unpacking")
    shutil.rmtree(aside, ignore_errors=True)
    try:
        aside.mkdir(parents=True, mode=0o700)
        with zipfile.ZipFile(archive) as packed:
            for entry in entries:
                _write(packed, entry, aside)
        aside.rename(folder)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UnsafeUpload(f"It is no whole zip: {error}.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _write(packed: zipfile.ZipFile, entry: Entry, folder: Path) -> None:
    path = folder / entry.path
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = 0o700 if entry.is_executable else 0o600
    # Refuses to follow or to replace anything that is there.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file, packed.open(entry.info) as source:
        copy_at_most(source, file, entry.size, entry.path)


def copy_at_most(source: IO[bytes], target: IO[bytes], most: int, path: str) -> int:
    """Copy a file whose size is bounded, whatever was said of it; gives its size.

    Raises:
        UnsafeUpload: there is more of it.
    """
    size = 0
    while piece := source.read(_PIECE):
        size += len(piece)
        if size > most:
            raise UnsafeUpload(f"{shown(path)} is larger than it says, or than may be.")
        target.write(piece)
    return size
