"""A copy of one key, fed by a watch, so that looking at it asks nobody.

The copy is only given out while it is known to be news: a read a few times a second proves that etcd answers,
and finds what a watch has missed. A watch that ended, for compaction too, is opened again behind such a read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from .client import Client
from .errors import EtcdError, Kind
from .folder import Entry, Folder

PULSE_S = 0.15
FRESH_S = 0.5
"""How old the last proof may be when somebody looks."""
WAIT_S = 1.0
"""How long the next one is waited for before that is an error."""


@dataclass(frozen=True)
class Seen:
    entry: Entry | None
    revision: int
    """Of the whole store, as of which that is so."""


class Mirror:
    """``on_lost`` is called, by a thread of this, when the key has vanished and nobody here removed it."""

    def __init__(
        self, client: Client, folder: Folder, name: str, on_lost: Callable[[Entry], None], patience_s: float
    ) -> None:
        self._client, self._folder, self._name = client, folder, name
        self._on_lost, self._patience_s = on_lost, patience_s
        self.on_change: Callable[[], None] = lambda: None
        """Called, by whichever thread saw it, when the key is another one."""
        self._changed = threading.Condition()
        self._seen = Seen(None, 0)
        self._kept: Entry | None = None
        self._was_lost = False
        self._proven_at = float("-inf")
        self._trouble: EtcdError | None = None
        self._watched: Any = None
        self._wake, self._is_closed = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="etcd-mirror", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """What vanishes from now on is not missed."""
        self._is_closed = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(WAIT_S)

    @property
    def known(self) -> Entry | None:
        """The last that was seen of the key, however old."""
        return None if self._is_closed else self._seen.entry or self._kept

    def look(self) -> Entry | None:
        """The key as it is now.

        Raises:
            EtcdError: there was no proof for ``FRESH_S``, and none came in ``WAIT_S`` or was refused, and all
                that for ``patience_s``.
        """
        begun = time.monotonic()
        with self._changed:
            while not self._is_news(begun - FRESH_S):
                grace_s = self._patience_s + (0 if self._trouble else WAIT_S)
                if time.monotonic() - begun >= grace_s:
                    silent = f"{self._client.where} has not been heard for {WAIT_S:.0f} s."
                    raise self._trouble or EtcdError(Kind.SILENT, silent)
                self._changed.wait(PULSE_S)
            return self._seen.entry

    def _is_news(self, since: float) -> bool:
        is_lost = self._seen.entry is None and self._kept is not None
        return not is_lost and self._proven_at >= since

    def take(self, seen: Seen, known: int | None = None) -> None:
        """Take over what somebody saw, unless it is older than what is known already.

        ``known``: what this knew before it asked. An answer older than that says that etcd lost its data.
        """
        with self._changed:
            before = self._seen.entry
            has_lost_history = known is not None and seen.revision < known
            if seen.revision >= self._seen.revision or has_lost_history:
                self._was_lost |= _has_vanished(self._kept, seen.entry)
                self._seen, self._kept = seen, seen.entry or self._kept
            if self._was_lost:
                self._wake.set()
            self._changed.notify_all()
            has_changed = self._seen.entry != before
        if has_changed:
            self.on_change()

    def _run(self) -> None:
        while not self._is_closed:
            self._wake.clear()
            try:
                self._pulse()
            except EtcdError as error:
                with self._changed:
                    self._trouble = error
                    self._changed.notify_all()
            self._wake.wait(PULSE_S)

    def _pulse(self) -> None:
        begun, revision = time.monotonic(), self._read()
        if self._was_lost and self._kept is not None and not self._is_closed:
            self._on_lost(self._kept)
            revision = self._read()
            self._was_lost = self._seen.entry is None
        with self._changed:
            self._proven_at, self._trouble = begun, None
            self._changed.notify_all()
        self._client.call(partial(self._watch_from, revision + 1))

    def _read(self) -> int:
        known = self._seen.revision
        entry, revision = self._folder.read(self._name)
        self.take(Seen(entry, revision), known)
        return revision

    def _watch_from(self, revision: int, etcd: Any) -> None:
        """Each connection has a watch of its own: it ends with it."""
        if self._watched is etcd:
            return
        self._watched = etcd
        try:
            etcd.add_watch_callback(
                self._folder.path + self._name, partial(self._hear, etcd), start_revision=revision
            )
        except Exception:
            self._watched = None
            raise

    def _hear(self, etcd: Any, news: Any) -> None:
        """Called by a thread of python-etcd3, with an exception as its last word."""
        if isinstance(news, Exception) or news is None:
            if self._watched is etcd:
                self._watched = None
            self._wake.set()
            return
        for event in news.events:
            is_there = type(event).__name__ != "DeleteEvent"
            entry = Entry(event.value, event.mod_revision, event.create_revision) if is_there else None
            self.take(Seen(entry, event.mod_revision))


def _has_vanished(before: Entry | None, now: Entry | None) -> bool:
    return before is not None and (now is None or now.created != before.created)
