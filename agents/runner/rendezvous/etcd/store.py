"""Keys beside the state, as torch's ``Store``: what each runner says to the others in a round."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from torch.distributed import DistNetworkError, DistStoreError
from torch.distributed.elastic.rendezvous import RendezvousConnectionError

from ...torch_hooks import Store
from .errors import EtcdError, Kind
from .folder import Folder

T = TypeVar("T")

LOOK_S = 0.02
Text = str | bytes


class StoreSilent(RendezvousConnectionError, DistNetworkError):
    """etcd did not answer. Both of torch's types for it, as callers know one or the other."""


class KeyMissing(DistStoreError, LookupError):
    """A key was not set in time; ``LookupError`` too, as torch's own stores in etcd raise."""


class EtcdStore(Store):
    """``timeout_s``: how long ``get`` and ``wait`` wait for a key, and every call for etcd to answer."""

    def __init__(self, folder: Folder, timeout_s: float) -> None:
        super().__init__()
        self._folder, self._answer_s = folder, timeout_s
        self._turn = threading.Lock()
        self._receipt = f"receipts/{uuid.uuid4().hex[:12]}"
        self._changes = 0
        self._mine: dict[str, bytes] = {}
        self.timeout: timedelta
        self.set_timeout(timedelta(seconds=timeout_s))

    # -- writing --

    def set(self, key: str, value: Text) -> None:
        values = {_name(key): _bytes(value)}
        self._ask(lambda: self._folder.write(values, self._answer_s))
        self._mine.update(values)

    def multi_set(self, keys: list[str], values: list[Text]) -> None:
        for key, value in zip(keys, values, strict=True):
            self.set(key, value)

    def add(self, key: str, amount: int) -> int:
        """Counts exactly once, whatever answers are lost."""
        return int(self._change(key, lambda now: str(int(now or b"0") + amount).encode()))

    def append(self, key: str, value: Text) -> None:
        self._change(key, lambda now: (now or b"") + _bytes(value))

    def compare_set(self, key: str, expected: Text, desired: Text) -> bytes:
        """What is there afterwards. A key that is not there counts as empty, as in ``TCPStore``."""
        return self._change(
            key, lambda now: _bytes(desired) if (now or b"") == _bytes(expected) else now or b""
        )

    def _change(self, key: str, step: Callable[[bytes | None], bytes]) -> bytes:
        with self._turn:
            self._changes += 1
            value = self._ask(lambda: self._change_once(_name(key), step, f"{self._changes} ".encode()))
        self._mine[_name(key)] = value
        return value

    def _change_once(self, name: str, step: Callable[[bytes | None], bytes], mark: bytes) -> bytes:
        """Written with each change is a receipt, so that one whose answer was lost is not made twice."""
        deadline = time.monotonic() + self._answer_s
        while True:
            entry, receipt = self._folder.read_all([name, self._receipt], self._answer_s)
            if receipt is not None and receipt.value.startswith(mark):
                return receipt.value.removeprefix(mark)
            now = entry.value if entry else None
            value = step(now)
            if value == (now or b""):
                return value
            try:
                revision = entry.revision if entry else 0
                won, _ = self._folder.swap(name, revision, {name: value, self._receipt: mark + value})
            except EtcdError as error:
                if error.kind is not Kind.SILENT or time.monotonic() > deadline:
                    raise
            else:
                if won is not None:
                    return value

    def delete_key(self, key: str) -> bool:
        self._mine.pop(_name(key), None)
        return self._ask(lambda: self._folder.delete(_name(key), self._answer_s))

    # -- reading --

    def get(self, key: str) -> bytes:
        """Waits for the key. Raises ``KeyMissing``."""
        return self.multi_get([key])[0]

    def multi_get(self, keys: list[str]) -> list[bytes]:
        return self._wait_for(keys, self.timeout)

    def wait(self, keys: list[str], timeout: timedelta | None = None) -> None:
        """Raises ``KeyMissing`` when not all of them were set in time."""
        self._wait_for(keys, timeout if timeout is not None else self.timeout)

    def check(self, keys: list[str]) -> bool:
        return None not in self._read(keys)

    def num_keys(self) -> int:
        return self._ask(lambda: self._folder.count("kv/", self._answer_s))

    def has_extended_api(self) -> bool:
        return True

    # What torch's PrefixStore calls these two.
    deleteKey = delete_key
    getNumKeys = num_keys

    def _read(self, keys: Sequence[str]) -> list[bytes | None]:
        names = [_name(key) for key in keys]
        found = self._ask(lambda: self._folder.read_all(names, self._answer_s))
        return [entry.value if entry else None for entry in found]

    def _wait_for(self, keys: Sequence[str], timeout: timedelta) -> list[bytes]:
        deadline = time.monotonic() + timeout.total_seconds()
        while True:
            found = self._read(keys)
            values = [value for value in found if value is not None]
            if len(values) == len(found):
                return values
            if time.monotonic() > deadline:
                missing = ", ".join(key for key, value in zip(keys, found, strict=True) if value is None)
                raise KeyMissing(f"Nobody set {missing} in etcd within {timeout.total_seconds():.0f} s.")
            time.sleep(LOOK_S)

    def _ask(self, question: Callable[[], T]) -> T:
        try:
            return question()
        except EtcdError as error:
            raise StoreSilent(str(error)) from error

    # -- when all keys were lost --

    def restore(self) -> None:
        """Write again what this runner has written, where nobody else has."""
        for name, value in dict(self._mine).items():
            self._folder.swap(name, 0, {name: value})


def _name(key: str) -> str:
    return f"kv/{key}"


def _bytes(value: Text) -> bytes:
    return value.encode() if isinstance(value, str) else value
