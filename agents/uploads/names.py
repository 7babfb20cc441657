"""Which names a file may have in an upload. Pure: nothing is looked at but the text."""

from __future__ import annotations

from collections.abc import Iterable

NOT_CODE = frozenset({".git", "__pycache__", "__MACOSX", ".DS_Store"})
"""Files with these in their path are left out: they are large, or differ each time, and no job reads them."""
LONGEST_PART, LONGEST = 255, 1024


class UnsafeUpload(ValueError):
    """What was uploaded cannot be taken. The text is a sentence that names the file, and why."""


def is_code(path: str) -> bool:
    return NOT_CODE.isdisjoint(path.split("/"))


def read_name(name: str) -> str:
    """The path below the folder of the code, without a slash at its end.

    Raises:
        UnsafeUpload: it leads out of that folder, or no file here can have that name.
    """
    path = name.removesuffix("/")
    if not path:
        raise UnsafeUpload("It holds a file without a name.")
    if path.startswith("/") or path[1:2] == ":":
        raise UnsafeUpload(
            f"{shown(name)} is an absolute path. Paths have to begin in the folder of the code."
        )
    if "\\" in path:
        raise UnsafeUpload(f"{shown(name)} has a backslash. Write paths with slashes.")
    if any(ord(letter) < 32 or ord(letter) == 127 or "\ud800" <= letter <= "\udfff" for letter in path):
        raise UnsafeUpload(f"{shown(name)} has a character that cannot be in a file's name.")
    _check_parts(name, path.split("/"))
    return path


def _check_parts(name: str, parts: list[str]) -> None:
    if ".." in parts:
        raise UnsafeUpload(f"{shown(name)} leads out of the folder of the code by its '..'.")
    if "." in parts or "" in parts:
        raise UnsafeUpload(f"{shown(name)} has an empty part, or one that is a dot alone.")
    sizes = [len(part.encode()) for part in parts]
    if max(sizes) > LONGEST_PART or sum(sizes) + len(parts) > LONGEST:
        raise UnsafeUpload(
            f"{shown(name)} is too long: {LONGEST} bytes are the most, "
            f"and {LONGEST_PART} between two slashes."
        )


def require_apart(paths: Iterable[str]) -> None:
    """Each path is there once, and no file is a folder of another one.

    Raises:
        UnsafeUpload: naming the one that is not.
    """
    files: set[str] = set()
    for path in paths:
        if path in files:
            raise UnsafeUpload(f"{shown(path)} is in it twice.")
        files.add(path)
    for path in files:
        parts = path.split("/")
        for end in range(1, len(parts)):
            if (folder := "/".join(parts[:end])) in files:
                raise UnsafeUpload(
                    f"{shown(folder)} is a file in it, and a folder with {shown(path)} as well."
                )


def shown(name: str) -> str:
    """As it can be put into a sentence, whatever is in it."""
    return ascii(name) if len(name) <= 120 else f"{name[:120]!a}…"
