"""Who of plain torchrun's processes is in a run, so that the last one removes its keys.

A closed rendezvous stays for as long as a process of its run is there, as they all have to see it. The last
one takes all keys away; where it had no chance to, they go with their lease. Whoever begins a run under the
same id waits for that.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

from ...torch_hooks import _RendezvousState
from .backend import STATE
from .client import Client
from .folder import LEASE_S, Folder
from .summary import say_since

MEMBERS = "members/"
LOOK_S = 0.5


class Presence:
    """One process in one run. Raises ``EtcdError``."""

    def __init__(self, client: Client, folder: Folder) -> None:
        self._client, self._folder = client, folder
        self._name = f"{MEMBERS}{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"

    def enter(self) -> None:
        text = (
            f"torchrun on {socket.gethostname()}, pid {os.getpid()}, {say_since(datetime.now(timezone.utc))}"
        )
        self._folder.write({self._name: text.encode()})

    def leave(self) -> bool:
        """Whether this was the last one, which has removed the keys."""
        self._folder.delete(self._name)
        return remove_if_deserted(self._client, self._folder)


def remove_if_deserted(client: Client, folder: Folder) -> bool:
    """Remove all keys in one step with seeing that nobody is there."""

    def ask(etcd: Any) -> bool:
        from etcd3.transactions import Create, Delete
        from etcd3.utils import prefix_range_end

        members, everything = (folder.path + MEMBERS).encode(), folder.path.encode()
        # An empty range compares like a key that is not there.
        nobody = Create(members, range_end=prefix_range_end(members)) == 0
        has_won, _ = etcd.transaction([nobody], [Delete(everything, prefix_range_end(everything))], [])
        return bool(has_won)

    return client.call(ask)


def wait_for_earlier_run(
    client: Client, folder: Folder, decode: Callable[[bytes], _RendezvousState], say: Callable[[str], None]
) -> bool:
    """Wait until the closed rendezvous of an earlier run is gone; False: its processes are still there."""
    deadline, has_said = time.monotonic() + LEASE_S + LEASE_S / 6, False
    while _is_closed(folder, decode) and not remove_if_deserted(client, folder):
        if time.monotonic() > deadline:
            return False
        if not has_said:
            say(
                f"An earlier run closed {folder.path}. Its keys go with its last process, or within "
                f"{LEASE_S} s."
            )
            has_said = True
        time.sleep(LOOK_S)
    return True


def _is_closed(folder: Folder, decode: Callable[[bytes], _RendezvousState]) -> bool:
    entry, _ = folder.read(STATE)
    return entry is not None and decode(entry.value).closed
