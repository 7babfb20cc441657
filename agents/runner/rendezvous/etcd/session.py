"""All that one process has open in etcd for one attempt: client, keys, state, store, lease."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timezone

from ...endpoint import StoreError
from ...torch_hooks import _RendezvousState
from ..meeting import Pause
from .backend import SUMMARY, EtcdBackend
from .client import Client
from .diagnosis import diagnose, say_too_old
from .errors import EtcdError, Kind
from .folder import LEASE_S, Folder
from .lease import Lease
from .settings import Settings
from .store import EtcdStore
from .summary import say_since

OPEN_S = 30
"""How long an etcd that cannot be reached is waited for, where ``join_timeout`` is not shorter."""
LOOK_AGAIN_S = 0.5

Say = Callable[[str], None]


class Session:
    """``patience_s``: how long the state waits out an outage. ``say`` is told what an operator may want."""

    def __init__(
        self,
        name: str,
        client: Client,
        folder: Folder,
        decode: Callable[[bytes], _RendezvousState],
        say: Say,
        read_timeout_s: float,
        patience_s: float,
    ) -> None:
        self._client, self._folder, self._say = client, folder, say
        self.store = EtcdStore(folder, read_timeout_s)
        self.backend = EtcdBackend(name, client, folder, decode, self._restored, patience_s)
        self.restore_too: Callable[[], None] = lambda: None
        """Keys of others than state and store, when all have vanished."""
        self._lease = Lease(folder, say)
        self._lease.start()

    def _restored(self) -> None:
        self.store.restore()
        self.restore_too()
        self._say(f"the keys under {self._folder.path} in etcd had vanished; they are written again")

    def close(self) -> None:
        """End threads and connections; the keys stay until the lease lapses."""
        self._lease.close()
        self.backend.close()
        self._client.close()

    def clear(self) -> None:
        """Remove the keys. Where etcd does not answer they go with their lease."""
        self._lease.close()
        self.backend.close()
        try:
            self._folder.clear()
        except EtcdError as error:
            self._say(f"the keys under {self._folder.path} stay for up to {LEASE_S} s: {error}")


def enter(
    settings: Settings, client: Client, claim: Callable[[], None], timeout_s: float, pause: Pause, say: Say
) -> None:
    """See that this etcd will do and ``claim`` succeeds, and wait where it cannot be reached yet.

    Raises:
        StoreError: it cannot be used, or not in time; says why and what to do.
    """
    deadline, has_said = time.monotonic() + timeout_s, False
    while True:
        try:
            _require_version(client)
            return claim()
        except EtcdError as error:
            problem, passes = _explain(settings, error)
            if not passes:
                raise StoreError(problem) from error
            if time.monotonic() > deadline:
                raise StoreError(f"{problem} It was tried for {timeout_s:.0f} s.") from error
            if not has_said:
                say(f"{problem} It is tried for {timeout_s:.0f} s.")
                has_said = True
        pause(LOOK_AGAIN_S)


def _require_version(client: Client) -> None:
    too_old = say_too_old(client.where, client.call(lambda etcd: str(etcd.status().version)))
    if too_old:
        raise EtcdError(Kind.REFUSED, too_old)


def claim_folder(folder: Folder) -> None:
    """Make the lease and a first key, which shows whether this user may write there."""
    folder.grant()
    since = say_since(datetime.now(timezone.utc))
    folder.swap(SUMMARY, 0, {SUMMARY: f"nobody has joined, {since}".encode()})


def _explain(settings: Settings, error: EtcdError) -> tuple[str, bool]:
    """The sentence, and whether waiting may help."""
    if error.kind not in (Kind.SILENT, Kind.STALE):
        return str(error), False
    problem = diagnose(settings)
    return (problem.text, problem.passes) if problem else (str(error), True)
