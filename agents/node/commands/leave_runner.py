"""Let this node leave an attempt that goes on elsewhere."""

from __future__ import annotations

import contextlib

from ...wire.commands import LeaveRunner
from ..outcome import Done
from ..runs import Run
from .ladder import descend
from .node import Node


def carry_out(command: LeaveRunner, node: Node) -> Done:
    """The runner itself takes its place out of the rendezvous first, so that nobody waits for its workers.

    The attempt's store keeper, if it is here, is not told: the others still need it.
    """
    run = node.supervisor.run_of(command.attempt)
    if run is None:
        return Done(f"Nothing of that attempt runs on {node.name}.")
    _note(run, command)
    return descend(run, command.grace_s, node.name)


def _note(run: Run, command: LeaveRunner) -> None:
    """For the runner. Without it, as on a full disk, a SIGTERM alone means the same to it.

    A stop that is under way stays one.
    """
    if run.bundle.stopping() is None:
        with contextlib.suppress(OSError):
            run.bundle.write_stopping(command=command.id, by=command.by, why=command.why, leave=True)
