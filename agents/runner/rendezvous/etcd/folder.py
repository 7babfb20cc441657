"""The keys of one attempt in etcd, all under one prefix and one lease."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from .client import Client
from .errors import EtcdError, Kind

LEASE_S = 60
"""How long the keys stay when nobody of the attempt is left to keep them."""
MOST_AT_ONCE = 100
"""etcd takes 128 operations in one transaction."""


@dataclass(frozen=True)
class Entry:
    value: bytes
    revision: int
    """At which it was last written: the token of a compare-and-set. 0 means that there is no such key."""
    created: int
    """The revision at which it came to be. Another one tells that it had vanished in between."""


class Folder:
    """Reads and writes; each call waits ``patience_s`` for etcd to answer. Raises ``EtcdError``."""

    def __init__(self, client: Client, prefix: str, attempt: str) -> None:
        self._client = client
        self.path = f"{prefix}/{quote(attempt, safe='')}/"
        # Everybody comes to the same number, so nobody has to be told.
        self.lease = int.from_bytes(hashlib.sha256(self.path.encode()).digest()[:8], "big") >> 1 | 1

    def read(self, name: str, patience_s: float = 0.0) -> tuple[Entry | None, int]:
        """A key, and the revision of the whole store as of which that is so."""
        answer = self._client.call(lambda etcd: etcd.get_response(self.path + name), patience_s)
        entry = None
        for found in answer.kvs:
            entry = Entry(found.value, found.mod_revision, found.create_revision)
        return entry, int(answer.header.revision)

    def read_all(self, names: Sequence[str], patience_s: float = 0.0) -> list[Entry | None]:
        """In the order of ``names``. As of one moment where there are at most ``MOST_AT_ONCE``."""
        found: list[Entry | None] = []
        for first in range(0, len(names), MOST_AT_ONCE):
            found += self._read_some(names[first : first + MOST_AT_ONCE], patience_s)
        return found

    def _read_some(self, names: Sequence[str], patience_s: float) -> list[Entry | None]:
        def ask(etcd: Any) -> Any:
            return etcd.transaction([], [etcd.transactions.get(self.path + name) for name in names], [])

        _, answers = self._client.call(ask, patience_s)
        return [_entry(answer) for answer in answers]

    def write(self, values: Mapping[str, bytes], patience_s: float = 0.0) -> None:
        self._commit({}, values, patience_s)

    def swap(
        self, name: str, revision: int, values: Mapping[str, bytes], patience_s: float = 0.0
    ) -> tuple[int | None, Entry | None]:
        """Write ``values`` if ``name`` is still as of ``revision``: the new one, else None and what is there.

        When an answer was lost, this may say None although it was this very call that changed the key.
        """
        return self._commit({name: revision}, values, patience_s)

    def _commit(
        self, expected: Mapping[str, int], values: Mapping[str, bytes], patience_s: float
    ) -> tuple[int | None, Entry | None]:
        def ask(etcd: Any) -> Any:
            do, path = etcd.transactions, self.path
            return etcd.transaction(
                [do.mod(path + name) == revision for name, revision in expected.items()],
                [do.put(path + name, value, lease=self.lease) for name, value in values.items()],
                [do.get(path + name) for name in expected],
            )

        try:
            has_won, answers = self._client.call(ask, patience_s)
        except EtcdError as error:
            if error.kind is not Kind.LEASE_GONE:
                raise
            self.grant(patience_s)
            has_won, answers = self._client.call(ask, patience_s)
        if has_won:
            return int(answers[0].response_put.header.revision), None
        return None, _entry(answers[0])

    def delete(self, name: str, patience_s: float = 0.0) -> bool:
        return bool(self._client.call(lambda etcd: etcd.delete(self.path + name), patience_s))

    def count(self, under: str, patience_s: float = 0.0) -> int:
        answer = self._client.call(
            lambda etcd: etcd.get_prefix_response(self.path + under, count_only=True), patience_s
        )
        return int(answer.count)

    def grant(self, patience_s: float = 0.0) -> bool:
        """See that the lease is there with all its time; whether it had to be made."""
        try:
            self._client.call(lambda etcd: etcd.lease(LEASE_S, lease_id=self.lease), patience_s)
        except EtcdError as error:
            if error.kind is not Kind.LEASE_THERE:
                raise
            return False if self.keep_lease() else self.grant(patience_s)
        return True

    def keep_lease(self) -> bool:
        """Let the lease live on; False: it has lapsed, and with it all keys."""
        answers = self._client.call(lambda etcd: list(etcd.refresh_lease(self.lease)))
        return bool(answers) and answers[0].TTL > 0

    def clear(self, patience_s: float = 0.0) -> None:
        """Remove all keys and the lease."""
        self._client.call(lambda etcd: etcd.delete_prefix(self.path), patience_s)
        try:
            self._client.call(lambda etcd: etcd.revoke_lease(self.lease), patience_s)
        except EtcdError as error:
            if error.kind is not Kind.LEASE_GONE:
                raise


def _entry(answer: list[Any]) -> Entry | None:
    if not answer:
        return None
    value, about = answer[0]
    return Entry(value, about.mod_revision, about.create_revision)
