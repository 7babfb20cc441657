"""Connections to Redis or Valkey, the same for nodes and hub: one server, or the master that Sentinel names.

Two forms of address::

    redis://[[USER]:PASSWORD@]HOST:PORT[/DB]                       also rediss:// and unix://
    sentinel://[[USER]:PASSWORD@]HOST:PORT[,HOST:PORT…]/MASTER[/DB]

In the second, hosts and ports are those of the sentinels, and user and password those of the servers.
``?sentinel_password=`` is for sentinels that ask for one too.

Of this package only this module imports redis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from redis import Connection, ConnectionPool, Redis, SSLConnection, UnixDomainSocketConnection
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import ReadOnlyError
from redis.sentinel import Sentinel

SENTINEL = "sentinel"
SCHEMES = ("redis", "rediss", "unix", SENTINEL)
FORMS = "redis://HOST:PORT/0, rediss://HOST:PORT/0, unix://PATH or sentinel://HOST:PORT,HOST:PORT/MASTER/0"
SENTINEL_PORT = 26379


@dataclass(frozen=True)
class Watched:
    """A master and the sentinels that know which server it is at present."""

    sentinels: tuple[tuple[str, int], ...]
    master: str
    db: int = 0
    username: str | None = None
    password: str | None = None
    sentinel_password: str | None = None

    @property
    def credentials(self) -> dict[str, str]:
        """For the servers, as redis-py names them."""
        given = {"username": self.username, "password": self.password}
        return {name: value for name, value in given.items() if value}

    @property
    def sentinel_credentials(self) -> dict[str, str]:
        return {"password": self.sentinel_password} if self.sentinel_password else {}


def check_url(url: str) -> None:
    """Raises ``ValueError``, whose text never holds the password, for what is no address of Redis."""
    scheme = url.partition("://")[0]
    if "://" not in url or scheme not in SCHEMES:
        raise ValueError(f"It must be an address of Redis or Valkey: {FORMS}.")
    if scheme == SENTINEL:
        read_watched(url)


def read_watched(url: str) -> Watched | None:
    """The sentinels of such an address; None for an address of one server.

    Raises:
        ValueError: it begins with ``sentinel://`` and makes no sense after that.
    """
    parts = urlsplit(url)
    if parts.scheme != SENTINEL:
        return None
    credentials, _, hosts = parts.netloc.rpartition("@")
    master, _, db = parts.path.strip("/").partition("/")
    if not hosts or not master or not (db or "0").isdecimal():
        raise ValueError(
            "An address of sentinels names their hosts, then the master's name: sentinel://HOST:PORT,HOST:PORT/MASTER/0."
        )
    username, _, password = credentials.partition(":")
    return Watched(
        sentinels=tuple(_host_and_port(host) for host in hosts.split(",")),
        master=unquote(master),
        db=int(db or 0),
        username=unquote(username) or None,
        password=unquote(password) or None,
        sentinel_password=parse_qs(parts.query).get("sentinel_password", [None])[0],
    )


def _host_and_port(text: str) -> tuple[str, int]:
    parts = urlsplit(f"//{text.strip()}")
    try:
        host, port = parts.hostname, parts.port or SENTINEL_PORT
    except ValueError:
        host, port = None, 0
    if not host:
        raise ValueError(f"{text!r} is no sentinel; write HOST:PORT.")
    return host, port


def server_of(url: str) -> tuple[str, int] | None:
    """A host and port on the way to Redis, for finding out which route leads there; None for a path."""
    watched = read_watched(url)
    if watched is not None:
        return watched.sentinels[0]
    parts = urlsplit(url)
    return (parts.hostname, parts.port or 6379) if parts.hostname else None


def connect(url: str, **options: Any) -> Redis:
    """A client. ``options`` are redis-py's; a connection is opened with the first question.

    A server that has become a read-only replica counts as a connection that was lost: it is closed, so that
    the next one goes where the address, or Sentinel, leads by then.
    """
    watched = read_watched(url)
    if watched is None:
        connection = _CONNECTIONS[urlsplit(url).scheme]
        return Redis(connection_pool=ConnectionPool.from_url(url, connection_class=connection, **options))
    timeouts = {name: value for name, value in options.items() if name.startswith("socket_")}
    sentinel: Any = Sentinel(  # type: ignore[no-untyped-call]
        watched.sentinels,
        sentinel_kwargs={**timeouts, **watched.sentinel_credentials},
        **watched.credentials,
        **options,
    )
    client: Redis = sentinel.master_for(watched.master, db=watched.db)
    return client


class _LeavesReplicas:
    """For a connection: what only reads is no master, and there is no use in staying with it."""

    def read_response(self, *args: Any, **options: Any) -> Any:
        try:
            return super().read_response(*args, **options)  # type: ignore[misc]
        except ReadOnlyError as error:
            self.disconnect()  # type: ignore[attr-defined]
            raise NoConnection("this server has become a read-only replica, as after a fail-over") from error


class _Tcp(_LeavesReplicas, Connection):
    pass


class _Tls(_LeavesReplicas, SSLConnection):
    pass


class _Local(_LeavesReplicas, UnixDomainSocketConnection):
    pass


_CONNECTIONS: dict[str, type[Any]] = {"redis": _Tcp, "rediss": _Tls, "unix": _Local}
