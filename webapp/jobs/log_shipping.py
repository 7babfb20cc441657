"""Brings the logs of workers that have ended into the log store, one piece at a time.

A row says how far a stream has come; it is written after its piece, so that whatever is killed in between is
done again and gives the same. A node that does not answer is asked again later, less and less often.
"""

from __future__ import annotations

import base64
import logging
import time
import zlib
from datetime import timedelta
from uuid import uuid4

from django.core.files.storage import Storage
from django.db.models import Exists, OuterRef
from django.utils import timezone

from agents.logs.source import STREAMS
from agents.wire import streams
from agents.wire.log_requests import LogBytes, LogBytesAnswer
from webapp.fleet.asking import Silence, ask
from webapp.redis import get_redis

from .log_store import PIECE_BYTES, TIMES, StoreFailed, get_store, put_piece
from .models import ShippedLog, Worker

log = logging.getLogger("regroup.jobs")

STEP_S = 1.0
"""A task takes no longer, but for the piece that it is at."""
ANSWER_S = 1.0
"""Less than for a person who waits: the other tasks do."""
HELD_S = 30
AT_ONCE = 500
"""Workers that are noted in one step."""
NEW_S = 7 * 24 * 3600.0
"""Workers that ended earlier are not begun with: their nodes have most likely removed the logs."""
SETTLED_S = 2.0
"""A worker's children may still write for a moment."""
LONGEST_PAUSE_S = 600.0


def ship_some() -> int:
    """Gives how many pieces were stored."""
    store = get_store()
    if store is None or not get_redis().set(streams.SHIPPING, "1", nx=True, ex=HELD_S):
        return 0
    try:
        return _ship(store)
    finally:
        get_redis().delete(streams.SHIPPING)


def _ship(store: Storage) -> int:
    _note_ended()
    shipped, until = 0, time.monotonic() + STEP_S
    while time.monotonic() < until:
        due = ShippedLog.objects.filter(state="shipping", next_try_at__lte=timezone.now())
        row = due.select_related("attempt").order_by("next_try_at").first()
        if row is None:
            break
        try:
            shipped += _ship_piece(store, row)
        except StoreFailed as error:
            # Most likely it takes no other either: the next step finds out.
            log.warning("piece of a log is not shipped yet row=%s: %s", row.pk, error)
            _put_off(row)
            break
    return shipped


def _note_ended() -> None:
    """A row for each stream of each worker that has ended since."""
    now = timezone.now()
    known = ShippedLog.objects.filter(
        attempt=OuterRef("attempt"), round=OuterRef("round"), rank=OuterRef("rank")
    )
    ended = Worker.objects.filter(
        ended_at__gte=now - timedelta(seconds=NEW_S), ended_at__lte=now - timedelta(seconds=SETTLED_S)
    )
    rows = [
        ShippedLog(
            attempt_id=worker.attempt_id,
            round=worker.round,
            rank=worker.rank,
            stream=stream,
            node=worker.node,
            next_try_at=now,
        )
        for worker in ended.filter(~Exists(known)).order_by("ended_at")[:AT_ONCE]
        for stream in STREAMS
    ]
    ShippedLog.objects.bulk_create(rows, ignore_conflicts=True)


def _ship_piece(store: Storage, row: ShippedLog) -> int:
    """Whether a piece was stored: 1 or 0. Raises ``StoreFailed``."""
    answer = ask(row.node, _request(row, row.end), LogBytesAnswer, ANSWER_S)
    if isinstance(answer, Silence):
        return _put_off(row, is_node_silent=True)
    if answer.problem is not None and not answer.is_missing:
        return _put_off(row)
    if answer.problem is not None:
        return _end(row, "partial" if row.end > row.first else "none")
    if answer.start > row.end:
        if row.end > 0:
            return _end(row, "partial")
        row.first = answer.start
    return _store(store, row, answer)


def _store(store: Storage, row: ShippedLog, answer: LogBytesAnswer) -> int:
    data = zlib.decompress(base64.b64decode(answer.data))
    if data:
        put_piece(store, row, answer.start, data)
    row.end, row.tries, row.next_try_at = answer.end, 0, timezone.now()
    if answer.end < answer.size:
        row.save(update_fields=["first", "end", "tries", "next_try_at"])
        return 1
    _store_times(store, row)
    _end(row, "complete")
    return 1 if data else 0


def _store_times(store: Storage, row: ShippedLog) -> None:
    answer = ask(row.node, _request(row, 0, of_times=True), LogBytesAnswer, ANSWER_S)
    if isinstance(answer, LogBytesAnswer) and answer.problem is None:
        put_piece(store, row, TIMES, zlib.decompress(base64.b64decode(answer.data)))


def _request(row: ShippedLog, start: int, of_times: bool = False) -> LogBytes:
    return LogBytes(
        id=str(uuid4()),
        attempt=row.attempt_id,
        round=row.round,
        rank=row.rank,
        stream="stderr" if row.stream == "stderr" else "stdout",
        start=start,
        limit=PIECE_BYTES,
        of_times=of_times,
    )


def _put_off(row: ShippedLog, is_node_silent: bool = False) -> int:
    """All that is wanted of a silent node waits: each question to it takes a second."""
    tries = min(row.tries + 1, 20)
    pause_s = min(LONGEST_PAUSE_S, 2.0**tries)
    these = ShippedLog.objects.filter(state="shipping")
    these = these.filter(node=row.node) if is_node_silent else these.filter(pk=row.pk)
    these.update(next_try_at=timezone.now() + timedelta(seconds=pause_s), tries=tries)
    return 0


def _end(row: ShippedLog, state: str) -> int:
    row.state, row.next_try_at = state, timezone.now()
    row.save(update_fields=["first", "end", "state", "next_try_at", "tries"])
    return 0
