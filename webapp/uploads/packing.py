"""Whatever is uploaded, a script, a zip or the files of a folder, is packed anew as one zip.

Names are sorted and times left out, so that the same files always have the same digest.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from agents.uploads.archive import copy_at_most, read_entries
from agents.uploads.names import UnsafeUpload, is_code, read_name, require_apart
from agents.wire.code import MOST_FILE_BYTES, MOST_FILES

_SINCE = (1980, 1, 1, 0, 0, 0)
_FILE, _PROGRAM = 0o100600, 0o100700
_LEVEL = 6


@dataclass(frozen=True)
class Given:
    """One file as it was uploaded."""

    path: str
    file: IO[bytes]


@dataclass(frozen=True)
class Packed:
    files: list[str]
    left_out: int
    """How many files were no code."""


def pack_zip(archive: Path, target: Path) -> Packed:
    """A zip that somebody made, looked through and packed anew.

    Raises:
        UnsafeUpload: naming what may not be in it.
    """
    entries = read_entries(archive)
    code = sorted((entry for entry in entries if is_code(entry.path)), key=lambda entry: entry.path)
    try:
        with zipfile.ZipFile(archive) as packed, _writing(target) as out:
            for entry in code:
                with packed.open(entry.info) as source:
                    _add(out, entry.path, source, entry.size, entry.is_executable)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UnsafeUpload(f"It is no whole zip: {error}.") from error
    return _checked(target, len(entries) - len(code))


def pack_files(given: Sequence[Given], target: Path) -> Packed:
    """A script alone, or the files of a folder by their paths. What begins with ``#!`` can be executed.

    Raises:
        UnsafeUpload: naming what may not be in it.
    """
    if len(given) > MOST_FILES:
        raise UnsafeUpload(f"There are {len(given)} files, and {MOST_FILES} are the most.")
    named = [(read_name(one.path), one.file) for one in given]
    code = sorted((one for one in named if is_code(one[0])), key=lambda one: one[0])
    require_apart(path for path, _ in code)
    with _writing(target) as out:
        for path, file in code:
            _add(out, path, file, MOST_FILE_BYTES, _begins_program(file))
    return _checked(target, len(named) - len(code))


def _begins_program(file: IO[bytes]) -> bool:
    file.seek(0)
    begins = file.read(2) == b"#!"
    file.seek(0)
    return begins


@contextmanager
def _writing(target: Path) -> Iterator[zipfile.ZipFile]:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL) as out:
        yield out


def _add(out: zipfile.ZipFile, path: str, source: IO[bytes], most: int, is_executable: bool) -> None:
    info = zipfile.ZipInfo(path, _SINCE)
    info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
    info.external_attr = (_PROGRAM if is_executable else _FILE) << 16
    with out.open(info, "w") as file:
        copy_at_most(source, file, most, path)


def _checked(target: Path, left_out: int) -> Packed:
    """As the nodes will look at it, so that nothing is kept that they would refuse."""
    return Packed([entry.path for entry in read_entries(target)], left_out)
