"""python-etcd3 behind one door: several endpoints, bounded calls, one type of error, nothing left stale.

Its own traps, each met here: a failed endpoint is shunned for minutes, several endpoints do not fail over, a
token that expired stays, a login over plain http is refused by gRPC, a client does not survive a fork.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ....wire.endpoint import Endpoint
from ...endpoint import StoreError
from .errors import EtcdError, Kind, understand
from .settings import Settings, authorities

T = TypeVar("T")

TRY_S = 2.0
"""How long one question to one endpoint may take."""
RETRY_S = 0.1
_OPTIONS = {
    # A new connection is to be a new one: silence may be the network's.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_http_proxy": 0,
    "grpc.keepalive_time_ms": 10_000,
    "grpc.keepalive_timeout_ms": 3_000,
}


def require_etcd3() -> Any:
    """python-etcd3, imported by nobody who does not use etcd.

    Raises:
        StoreError: it is not there or cannot be imported.
    """
    try:
        import etcd3
    except Exception as error:
        # With a protobuf that does not fit it raises TypeError.
        raise StoreError(
            f"etcd features off: python-etcd3 cannot be imported by {sys.executable}: "
            f"{type(error).__name__}: {error}. Install it there: "
            f"{sys.executable} -m pip install 'regroup-agent[etcd]'."
        ) from error
    return etcd3


class Client:
    """May be shared by threads. Connects when it is first asked, in the process that asks."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._etcd3 = require_etcd3()
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._connection: Any = None
        self._turn = 0

    @property
    def where(self) -> str:
        """For sentences."""
        return self._settings.where

    def call(self, ask: Callable[[Any], T], patience_s: float = 0.0) -> T:
        """What ``ask`` gives when handed a python-etcd3 client.

        Each endpoint is tried once, and all of them again for ``patience_s`` seconds. ``ask`` may be called
        again after a first call has done its work unseen, so it must bear that.

        Raises:
            EtcdError: none of them could be used.
        """
        deadline, tries = time.monotonic() + patience_s, 0
        while True:
            tries += 1
            try:
                return self._try(ask)
            except EtcdError as trouble:
                if not self._tries_again(trouble, tries, deadline):
                    raise
            if tries >= len(self._settings.endpoints.members):
                time.sleep(RETRY_S)

    def _try(self, ask: Callable[[Any], T]) -> T:
        turn, connection = self._connect()
        try:
            return ask(connection)
        except Exception as error:
            trouble = self._understand(error)
            if trouble is None:
                raise
            if trouble.kind in (Kind.SILENT, Kind.STALE):
                self._drop(turn)
            raise trouble from error

    def _understand(self, error: Exception) -> EtcdError | None:
        return understand(error, self.where, self._settings.conf.etcd_prefix)

    def _tries_again(self, trouble: EtcdError, tries: int, deadline: float) -> bool:
        if trouble.kind is Kind.STALE:
            return tries <= len(self._settings.endpoints.members)
        is_first = tries < len(self._settings.endpoints.members)
        return trouble.kind is Kind.SILENT and (is_first or time.monotonic() < deadline)

    def _connect(self) -> tuple[int, Any]:
        """The connection in use and its number, opened where there is none."""
        if self._pid != os.getpid():
            self._begin()
        with self._lock:
            if self._connection is None:
                members = self._settings.endpoints.members
                try:
                    self._connection = self._open(members[self._turn % len(members)])
                except Exception as error:
                    self._turn += 1
                    raise self._understand(error) or error from error
            return self._turn, self._connection

    def _open(self, place: Endpoint) -> Any:
        credentials = self._credentials() if self._settings.is_secure else None
        endpoint = self._etcd3.Endpoint(
            f"[{place.host}]" if ":" in place.host else place.host,
            place.port,
            secure=self._settings.is_secure,
            creds=credentials,
            time_retry=float("-inf"),
            opts=list(_OPTIONS.items()),
        )
        conf = self._settings.conf
        login = {"user": conf.user, "password": conf.password} if conf.user else {}
        try:
            connection = self._etcd3.MultiEndpointEtcd3Client([endpoint], timeout=TRY_S, **login)
        except Exception:
            endpoint.close()
            raise
        # The token goes along as metadata; as credentials gRPC would take it over TLS alone.
        connection.call_credentials = None
        return connection

    def _credentials(self) -> Any:
        import grpc

        conf = self._settings.conf
        key, chain = self._settings.key_file, conf.ssl_cert
        return grpc.ssl_channel_credentials(
            authorities(self._settings),
            Path(key).read_bytes() if key else None,
            Path(chain).read_bytes() if chain else None,
        )

    def _drop(self, turn: int) -> None:
        """Give up the connection of that turn; who comes next tries the next endpoint."""
        with self._lock:
            if turn != self._turn:
                return
            connection, self._connection = self._connection, None
            self._turn += 1
        if connection is not None:
            connection.close()

    def close(self) -> None:
        """Whoever is asking meanwhile is told that nobody answers."""
        self._drop(self._turn)
