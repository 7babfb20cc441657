"""Where web may listen, and under which names it then answers. Nothing of Django in here.

Beyond loopback two things must hold: Redis asks for a password, as whoever may write there gives orders
to every node; and the page answers only to names of this machine, as a page elsewhere could have its own
name resolve to it.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Sequence
from typing import Any

import psutil
import redis
from redis.exceptions import AuthenticationError, NoPermissionError, RedisError

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class CannotListen(Exception):
    """Web may not listen there. The text is one sentence for the person who starts it."""


def resolve(host: str) -> str:
    """The address to listen on: ``host`` itself when it is one, else what the name stands for.

    Raises:
        CannotListen: nobody knows the name.
    """
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError as error:
        raise CannotListen(
            f"HOST is {host!r}, which is no address and no name that this machine knows ({error.strerror}). "
            "Write an address of this machine, or 0.0.0.0 for all of them."
        ) from error


def is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def is_wildcard(address: str) -> bool:
    return ipaddress.ip_address(address).is_unspecified


def bracketed(address: str) -> str:
    """As it stands in a URL or a Host header."""
    return f"[{address}]" if ":" in address else address


def machine_addresses() -> list[str]:
    """What the interfaces of this machine have, without link-local ones, IPv4 first."""
    found = {one.address for each in psutil.net_if_addrs().values() for one in each if _is_ip(one.family)}
    usable = [ipaddress.ip_address(address) for address in found if "%" not in address]
    usable.sort(key=lambda one: (one.version, int(one)))
    return [str(one) for one in usable if not one.is_link_local]


def _is_ip(family: int) -> bool:
    return family in (socket.AF_INET, socket.AF_INET6)


def reached_at(address: str) -> str:
    """The address under which other machines reach a server that listens on ``address``."""
    if not is_wildcard(address):
        return address
    return _towards_others() or next((a for a in machine_addresses() if not is_loopback(a)), "127.0.0.1")


def _towards_others() -> str | None:
    """The address with which this machine would speak to the rest of the world. Nothing is sent."""
    for family, far in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1")):
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((far, 9))
                return str(probe.getsockname()[0])
        except OSError:
            continue
    return None


def allowed_hosts(address: str, given: Sequence[str]) -> list[str]:
    """Names under which web answers: those given, and beyond loopback this machine's own. Never all."""
    if is_loopback(address):
        return list(given)
    own = machine_addresses() if is_wildcard(address) else [address]
    names = [socket.gethostname().lower(), socket.getfqdn().lower()]
    return list(dict.fromkeys([*given, *LOOPBACK_NAMES, *names, *map(bracketed, own)]))


def require_password(address: str, client: redis.Redis) -> None:
    """Beyond loopback Redis must ask for a password. One that is down is believed if a password is given.

    Raises:
        CannotListen: it does not, or it cannot be asked and none is given for it.
    """
    if is_loopback(address):
        return
    try:
        if not _lets_anybody_in(client):
            return
    except RedisError as error:
        if client.connection_pool.connection_kwargs.get("password"):
            return
        raise CannotListen(
            f"Web does not listen on {address}: REGROUP_REDIS_URL holds no password, and Redis does not tell "
            f"whether it asks for one ({str(error).rstrip('.')}). Start Redis with a password, and name it "
            "with that: redis://:PASSWORD@HOST:PORT/0."
        ) from error
    raise CannotListen(
        f"Web does not listen on {address}: Redis lets anybody in without a password, and whoever may write "
        "there gives orders to every node. Give Redis a password (requirepass) and name it with that in "
        "REGROUP_REDIS_URL, or listen on 127.0.0.1."
    )


def _lets_anybody_in(client: redis.Redis) -> bool:
    """Asked over a connection that shows no credentials.

    Raises:
        RedisError: it cannot be reached.
    """
    connection: Any = client.connection_pool.make_connection()
    connection.username = connection.password = connection.credential_provider = None
    try:
        connection.connect()
        connection.send_command("PING")
        connection.read_response()
    except (AuthenticationError, NoPermissionError):
        return False
    finally:
        connection.disconnect()
    return True
