"""What must hold before the stack may start. Each refusal is one sentence that says what to do."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agents.wire.bus import connect

from ..listening import CannotListen, machine_addresses, require_password
from .options import CannotStart, StackOptions


def prepare_data(options: StackOptions) -> None:
    """Make the data folder and what lies in it.

    Raises:
        CannotStart: it cannot be made or written.
    """
    try:
        for folder in (options.data, options.run, options.logs, options.data / "nodes"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe = options.run / f".writable.{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise CannotStart(
            f"The data folder {options.data} cannot be written ({error.strerror}). "
            "Make it writable, or choose another one: make run DATA=FOLDER."
        ) from error


@contextmanager
def only_one(options: StackOptions) -> Iterator[None]:
    """Hold the data folder for this process alone. The kernel lets go when the process ends, however it ends.

    Raises:
        CannotStart: another stack holds it; names its process id.
    """
    with (options.run / "lock").open("a+") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise CannotStart(
                f"Regroup already runs on the data folder {options.data} (process id {lock.read().strip()}). "
                "End that one first, or start a second one beside it: make run DATA=FOLDER PORT=NUMBER."
            ) from None
        lock.truncate(0)
        lock.write(f"{os.getpid()}\n")
        lock.flush()
        yield


def try_port(address: str, port: int) -> None:
    """Raises ``OSError`` when one cannot listen there now."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))


def require_free_port(address: str, port: int) -> None:
    """Raises ``CannotStart`` when something else listens there, or this machine has no such address."""
    try:
        try_port(address, port)
    except OSError as error:
        if error.errno == errno.EADDRNOTAVAIL:
            own = ", ".join(machine_addresses())
            raise CannotStart(
                f"HOST is {address}, which is no address of this machine. It has {own}; "
                "write one of them, or 0.0.0.0 for all of them."
            ) from error
        raise CannotStart(
            f"Port {port} on {address} cannot be used ({error.strerror}). "
            f"Choose another one: make run PORT={8001 if port == 8000 else 8000}."
        ) from error


def require_redis_password(options: StackOptions) -> None:
    """Raises ``CannotStart`` when other machines may come, and the Redis that was named lets anybody in."""
    if options.redis_url is None:
        return
    client = connect(options.redis_url, socket_timeout=2, socket_connect_timeout=2)
    try:
        require_password(options.address, client)
    except CannotListen as problem:
        raise CannotStart(str(problem)) from problem
    finally:
        client.close()


def require_built(root: Path) -> None:
    """Raises ``CannotStart`` when the page has not been built."""
    if not (root / "frontend" / "dist" / "index.html").exists():
        raise CannotStart("The page has not been built yet. Start Regroup with make run, which builds it.")
