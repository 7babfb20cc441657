"""Which worker a command means: that very process of that attempt on this node, or a refusal."""

from __future__ import annotations

from typing import Protocol

from ... import procs
from ...bundle import Bundle, find_bundles
from ...procs import ProcessRef
from ..kin import is_kin
from ..outcome import Refused
from .node import Node


class AtWorker(Protocol):
    """A command that names a worker, so that it never hits its successor."""

    @property
    def attempt(self) -> str: ...
    @property
    def round(self) -> int: ...
    @property
    def rank(self) -> int: ...
    @property
    def pid(self) -> int: ...
    @property
    def start_time(self) -> int: ...


def worker_of(command: AtWorker) -> ProcessRef:
    return ProcessRef(command.pid, command.start_time, procs.boot_id())


def say_who(command: AtWorker) -> str:
    return f"Rank {command.rank} of round {command.round} (pid {command.pid})"


def require_worker(command: AtWorker, node: Node) -> Bundle:
    """Its bundle.

    Raises:
        Refused: there is no such attempt here, or the process is none of its workers.
    """
    bundles, worker = find_bundles(node.config.data, command.attempt), worker_of(command)
    if not bundles:
        raise Refused(f"{node.name} knows no attempt {command.attempt!r}; nothing was signalled.")
    for bundle in bundles:
        if bundle.process() != worker and is_kin(bundle, worker):
            return bundle
    raise Refused(
        f"{say_who(command)} is not a worker of attempt {command.attempt} on {node.name}; "
        "nothing was signalled."
    )


def require_running(command: AtWorker, node: Node) -> Bundle:
    """The same, and it has not ended."""
    if not procs.is_alive(worker_of(command)):
        raise Refused(f"{say_who(command)} has already ended; nothing was signalled.")
    return require_worker(command, node)
