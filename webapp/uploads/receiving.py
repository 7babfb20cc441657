"""Takes what a browser or a script sends, and keeps it; what may not be unpacked on nodes is refused here."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import IO, cast

from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from agents.uploads.names import UnsafeUpload
from agents.wire.code import MOST_BYTES
from webapp.accounts.models import Account
from webapp.errors import Problem, refuse_field

from .packing import Given, Packed, pack_files, pack_zip
from .schemas import UploadItem, UploadOut
from .store import Upload, aside, digest_of, keep

LONGEST_NAME = 200


def receive(account: Account, files: Sequence[UploadedFile[bytes]], paths: str, name: str) -> UploadOut:
    """``paths``: a JSON list with the path of each file, where these are of a folder.

    Raises:
        Problem: 422 for what no node could use, 503 where the disk does not take it.
    """
    given = _with_paths(files, paths)
    _require_small(files)
    try:
        with aside() as target:
            packed = _pack(given, target)
            upload = _note(account, given, packed, target, name)
            keep(target, upload)
    except UnsafeUpload as error:
        raise refuse_field(
            "files", f"The upload is not taken. {error}", "Mend that, and upload it again."
        ) from error
    except OSError as error:
        raise Problem(
            503,
            "uploads_unwritable",
            f"The upload cannot be kept in the hub's data folder: {error.strerror}.",
            what_to_do="Make room on its disk, or let the hub's user write there.",
        ) from error
    return upload_out(upload, packed.left_out)


def _with_paths(files: Sequence[UploadedFile[bytes]], paths: str) -> list[Given]:
    try:
        named = json.loads(paths) if paths else [file.name or "" for file in files]
    except ValueError as error:
        raise refuse_field("paths", "paths is no JSON.", "Send a JSON list of texts.") from error
    if not isinstance(named, list) or not all(isinstance(path, str) for path in named):
        raise refuse_field(
            "paths", "paths is no list of texts.", "Send the path of each file, in their order."
        )
    if len(named) != len(files):
        raise refuse_field(
            "paths", f"paths has {len(named)}, and there are {len(files)} files.", "Send one for each file."
        )
    return [Given(path, cast(IO[bytes], file)) for path, file in zip(named, files, strict=True)]


def _require_small(files: Sequence[UploadedFile[bytes]]) -> None:
    size = sum(file.size or 0 for file in files)
    if size > MOST_BYTES:
        raise refuse_field(
            "files",
            f"The upload has {size >> 20} MiB, and {MOST_BYTES >> 20} MiB are the most.",
            "Leave data and checkpoints out, and put them where all nodes can read them.",
        )


def _pack(given: list[Given], target: Path) -> Packed:
    if len(given) != 1 or not given[0].path.lower().endswith(".zip"):
        return pack_files(given, target)
    with aside() as archive:
        with archive.open("wb") as file:
            shutil.copyfileobj(given[0].file, file)
        return pack_zip(archive, target)


def _note(account: Account, given: list[Given], packed: Packed, target: Path, name: str) -> Upload:
    return Upload(
        digest=digest_of(target),
        name=(name.strip() or given[0].path.split("/")[0])[:LONGEST_NAME],
        size_bytes=target.stat().st_size,
        files=packed.files,
        uploaded_by=account.username,
        uploaded_at=timezone.now(),
    )


def upload_out(upload: Upload, left_out: int = 0) -> UploadOut:
    return UploadOut(
        **upload.dict(), file_count=len(upload.files), script=likely_script(upload.files), left_out=left_out
    )


def upload_item(upload: Upload, used_by: list[int]) -> UploadItem:
    return UploadItem(
        **upload.dict(exclude={"files"}),
        file_count=len(upload.files),
        script=likely_script(upload.files),
        used_by=used_by,
    )


def likely_script(files: Sequence[str]) -> str | None:
    """The only one there is, or the one that is called as such files are, as near to the top as it gets."""
    programs = [path for path in files if path.endswith((".py", ".sh"))]
    if len(files) == 1 or len(programs) == 1:
        return (programs or list(files))[0]
    usual = [path for path in programs if path.rpartition("/")[2] in ("train.py", "main.py", "run.py")]
    depth = min((path.count("/") for path in usual), default=0)
    nearest = [path for path in usual if path.count("/") == depth]
    return nearest[0] if len(nearest) == 1 else None
