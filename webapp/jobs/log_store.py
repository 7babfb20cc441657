"""The log store: a folder or an S3 bucket that holds the logs of workers that have ended, in packed pieces.

``<job>/<attempt>/<round>/rank-<rank>/<stream>/<offset>.gz``, and ``times.gz`` beside them. A piece is found
by its offset, and is written whole or not at all, so that writing it twice does no harm.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage

from agents.logs.source import Stream
from agents.logs.times import Times, decode

from .models import ShippedLog
from .store_words import plain_place, why_failed

PIECE_BYTES = 2 << 20
TIMES = "times"
LIMITS: dict[str, Any] = {
    "connect_timeout": 2,
    "read_timeout": 10,
    "retries": {"total_max_attempts": 2, "mode": "standard"},
    "request_checksum_calculation": "when_required",
    "response_checksum_validation": "when_required",
}
"""A page and a step of shipping wait for S3: boto3 itself would for minutes. Not every S3 knows checksums."""


class StoreFailed(Exception):
    """The log store did not take or give a piece. The text says what happened, as a sentence."""


def get_store() -> Storage | None:
    """None: there is no log store."""
    return _open(settings.LOG_STORE) if settings.LOG_STORE else None


@cache
def _open(place: str) -> Storage:
    if not place.startswith("s3://"):
        return FileSystemStorage(location=place, allow_overwrite=True)
    # A second to import, and of use to few. The packages bring no types.
    from botocore.config import Config  # type: ignore[import-untyped]
    from storages.backends.s3 import S3Storage  # type: ignore[import-untyped]

    parts = urlsplit(place)
    # Keys come from the environment or the machine's role, as boto3 looks for them.
    options = dict(parse_qsl(parts.query))
    style, version = options.pop("addressing_style", None), options.pop("signature_version", None)
    bucket: Storage = S3Storage(
        bucket_name=parts.netloc,
        location=parts.path.strip("/"),
        file_overwrite=True,
        client_config=Config(s3={"addressing_style": style}, signature_version=version, **LIMITS),
        **options,
    )
    return bucket


def piece_name(row: ShippedLog, piece: int | str) -> str:
    where = f"{row.attempt.job_id}/{row.attempt.number}/{row.round}/rank-{row.rank}/{row.stream}"
    return f"{where}/{piece if isinstance(piece, str) else format(piece, '015d')}.gz"


def put_piece(store: Storage, row: ShippedLog, piece: int | str, data: bytes) -> None:
    """Raises ``StoreFailed``."""
    name = piece_name(row, piece)
    try:
        store.save(name, ContentFile(gzip.compress(data, 6, mtime=0)))
    except Exception as error:  # each kind of store raises its own
        raise _failed(store, f"does not take {name}", error) from error


def get_piece(store: Storage, row: ShippedLog, piece: int | str) -> bytes:
    """Raises ``StoreFailed``."""
    name = piece_name(row, piece)
    try:
        return gzip.decompress(_read(store, name))
    except Exception as error:  # each kind of store raises its own
        raise _failed(store, f"does not give {name}", error) from error


def _read(store: Storage, name: str) -> bytes:
    if isinstance(store, FileSystemStorage):
        with store.open(name) as file:
            return bytes(file.read())
    # One question instead of three; and to the storage's own first one, a HEAD, S3 gives no reason.
    bucket: Any = store
    return bytes(bucket.bucket.Object(f"{bucket.location}/{name}".lstrip("/")).get()["Body"].read())


def _failed(store: Storage, what: str, error: Exception) -> StoreFailed:
    place = settings.LOG_STORE
    return StoreFailed(f"The log store {plain_place(place)} {what}: {why_failed(place, store, error)}.")


@dataclass
class StoredSource:
    """A stream as far as the log store has it. See ``agents.logs.source.LogSource``."""

    store: Storage
    row: ShippedLog
    _pieces: dict[int, bytes] = field(default_factory=dict)
    _times: Times | None = None

    @property
    def rank(self) -> int:
        return self.row.rank

    @property
    def stream(self) -> Stream:
        return "stderr" if self.row.stream == "stderr" else "stdout"

    @property
    def size(self) -> int:
        return self.row.end

    @property
    def floor(self) -> int:
        return self.row.first

    @property
    def is_paused(self) -> bool:
        return True

    @property
    def unnoted_since_ms(self) -> int | None:
        return None

    @property
    def times(self) -> Times:
        if self._times is None:
            self._times = self._read_times()
        return self._times

    def _read_times(self) -> Times:
        try:
            noted = decode(get_piece(self.store, self.row, TIMES))
        except StoreFailed:
            noted = decode(b"")
        # What was written after the last note was written before it was shipped.
        return noted.with_end(self.ended_ms, self.row.end)

    @property
    def ended_ms(self) -> int:
        """By then all of it had been written."""
        return int(self.row.next_try_at.timestamp() * 1000)

    def piece_before(self, offset: int) -> int:
        """Where the piece with the byte before it begins."""
        return self.floor + (offset - 1 - self.floor) // PIECE_BYTES * PIECE_BYTES

    def read(self, start: int, count: int) -> bytes:
        end, found = min(start + count, self.size), b""
        while start < end:
            begin = self.floor + (start - self.floor) // PIECE_BYTES * PIECE_BYTES
            part = self._piece(begin)[start - begin : end - begin]
            if not part:
                raise StoreFailed(f"The log store has lost a part of {piece_name(self.row, begin)}.")
            found, start = found + part, start + len(part)
        return found

    def _piece(self, begin: int) -> bytes:
        if begin not in self._pieces:
            self._pieces[begin] = get_piece(self.store, self.row, begin)
        return self._pieces[begin]
