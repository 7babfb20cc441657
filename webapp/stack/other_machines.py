"""What a node agent on another machine needs: the URL of Redis in a private file, and the command to type."""

from __future__ import annotations

from pathlib import Path

from agents.wire.bus import server_of

from ..listening import CannotListen, bracketed, is_loopback, resolve
from .options import StackOptions
from .secret_files import write_private
from .valkey import ValkeyServer

NAME = "redis_url_for_nodes"


def write_url(options: StackOptions, valkey: ValkeyServer | None) -> None:
    """Write the URL for agents elsewhere. There is no such file while none of them can come."""
    url = _url(options, valkey)
    if url is None:
        file_of(options).unlink(missing_ok=True)
    else:
        write_private(file_of(options), f"{url}\n")


def file_of(options: StackOptions) -> Path:
    return options.data / NAME


def _url(options: StackOptions, valkey: ValkeyServer | None) -> str | None:
    if not options.takes_other_machines:
        return None
    if valkey is not None:
        return valkey.url_at(bracketed(options.reached_at))
    return options.redis_url if _is_reached_from_elsewhere(str(options.redis_url)) else None


def _is_reached_from_elsewhere(url: str) -> bool:
    server = server_of(url)
    try:
        return server is not None and not is_loopback(resolve(server[0]))
    except CannotListen:
        return True


def how_to_join(options: StackOptions) -> list[str]:
    """Lines for the terminal; none while other machines cannot come. The password is not in them."""
    if not options.takes_other_machines:
        return []
    if not file_of(options).exists():
        return [
            "Other machines cannot join as nodes: REGROUP_REDIS_URL names an address of this machine alone. "
            "Name one that they reach too."
        ]
    return [
        f"Another machine joins as a node with a copy of {file_of(options)} (it holds a password):",
        f"  REGROUP_REDIS_URL_FILE={NAME} regroup-agent --name NAME --data /var/lib/regroup --slots gpus",
    ]
