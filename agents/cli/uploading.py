"""Code of this machine that goes along with a job: what is sent, and where the script lies in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..uploads.names import is_code
from ..wire.code import MOST_BYTES, MOST_FILES
from .hub import Hub
from .refusals import ExitCode, Refusal

Json = dict[str, Any]


def upload(hub: Hub, path: Path, say: Callable[[str], None]) -> Json:
    """Send a script, a zip or a folder. Raises ``Refusal`` for what the hub would not take."""
    if not path.exists():
        raise Refusal(f"--upload {path}: there is no such file or folder here.", ExitCode.USAGE)
    files = list(_files_in(path)) if path.is_dir() else [(path.name, path)]
    kept = [(name, file) for name, file in files if is_code(name)]
    _require_few(path, kept)
    code = hub.upload([(name, _read(file)) for name, file in kept], path.absolute().name)
    left = len(files) - len(kept) + int(code.get("left_out", 0))
    without = f"; {left} of .git, __pycache__ and the like stayed behind" if left else ""
    say(f"{path} is uploaded: {_count(code['file_count'])}, {code['digest'][:12]}{without}")
    return code


def script_in(code: Json, path: Path, script: str | None) -> str | None:
    """The script as a path in the uploaded code. It may be named as it lies here, or as it lies in there."""
    if script is None:
        return None
    here = Path(os.path.abspath(script))
    root = path.absolute() if path.is_dir() else path.absolute().parent
    inside = here.relative_to(root).as_posix() if here.is_relative_to(root) else ""
    for name in (inside, os.path.normpath(script)):
        if name in code["files"]:
            return name
    some = ", ".join(code["files"][:5]) + (", …" if len(code["files"]) > 5 else "")
    raise Refusal(f"{script} is not in {path}, which was uploaded. It has: {some}.", ExitCode.USAGE)


def _files_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """What is no code is not looked into. A link to a folder could lead anywhere, and round in a circle."""
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if is_code(name))
        if link := next((name for name in folders if Path(at, name).is_symlink()), None):
            raise Refusal(
                f"{Path(at, link)} is a link to a folder, and is not uploaded. Put the files "
                "themselves there, or upload a zip.",
                ExitCode.USAGE,
            )
        for name in sorted(names):
            yield Path(at, name).relative_to(folder).as_posix(), Path(at, name)


def _require_few(path: Path, files: list[tuple[str, Path]]) -> None:
    if not files:
        raise Refusal(f"{path} has no file that can be uploaded.", ExitCode.USAGE)
    size = sum(file.stat().st_size for _, file in files if file.exists())
    if len(files) > MOST_FILES or size > MOST_BYTES:
        raise Refusal(
            f"{path} has {_count(len(files))} with {size >> 20} MiB, and {MOST_FILES} with "
            f"{MOST_BYTES >> 20} MiB are the most. Leave data and checkpoints out, and put them where all "
            "nodes can read them.",
            ExitCode.USAGE,
        )


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise Refusal(f"{file} cannot be read: {error.strerror}.", ExitCode.USAGE) from error


def _count(files: int) -> str:
    return "1 file" if files == 1 else f"{files} files"
