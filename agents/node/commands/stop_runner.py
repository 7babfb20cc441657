"""Stop the runner of an attempt that ends here and everywhere."""

from __future__ import annotations

import contextlib

from ...wire.commands import StopRunner
from ..outcome import Done
from ..runs import KILLED_S, Run
from .ladder import descend
from .node import Node


def carry_out(command: StopRunner, node: Node) -> Done:
    """Also of a runner that is leaving: it tells the others then that the attempt has ended.

    The attempt's store keeper, if it is here, ends by itself once the runners of all nodes have gone.
    """
    is_kept = node.supervisor.keepers.note_stop(command.attempt, **_facts(command))
    run = node.supervisor.run_of(command.attempt)
    if run is None or _has_ended(run):
        kept = " Its store keeper ends once no other node needs it." if is_kept else ""
        return Done(f"Nothing of that attempt runs on {node.name}.{kept}")
    _note(run, command)
    return descend(run, command.grace_s, node.name)


def _has_ended(run: Run) -> bool:
    """By itself, and it is only being settled: nothing is left to be asked."""
    return run.ref is not None and not run.is_running() and run.over.wait(KILLED_S)


def _note(run: Run, command: StopRunner) -> None:
    """For the next node agent, if this one dies; without it the end is only explained less well."""
    with contextlib.suppress(OSError):
        run.bundle.write_stopping(**_facts(command))


def _facts(command: StopRunner) -> dict[str, str]:
    return {"command": command.id, "by": command.by, "why": command.why}
