"""Kill the runner of an attempt, to see what becomes of its node and of the others."""

from __future__ import annotations

import time

from ...wire.commands import KillRunner
from ..outcome import Done, Evidence, Failed, Refused
from ..runs import KILLED_S
from .node import Node


def carry_out(command: KillRunner, node: Node, is_resumed: bool) -> Done:
    """Done when nothing of it is left, its workers included. A later runner of the attempt is not touched."""
    run = node.supervisor.run_of(command.attempt)
    if run is None or run.bundle.incarnation != command.incarnation:
        return _already_gone(command, node, is_resumed)
    sent_at, begun = time.time(), time.monotonic()
    run.kill()
    if not run.over.wait(KILLED_S):
        raise Failed(f"The runner on {node.name} was sent SIGKILL, and something of it is still there.")
    evidence: Evidence = {"sent_at": round(sent_at, 4), "gone_after_s": round(time.monotonic() - begun, 3)}
    if run.ref is not None:
        evidence["pid"] = run.ref.pid
    ended = f", nor of its {len(run.ended_pids)} processes" if run.ended_pids else ""
    return Done(f"The runner on {node.name} was killed by SIGKILL; nothing is left of it{ended}.", evidence)


def _already_gone(command: KillRunner, node: Node, is_resumed: bool) -> Done:
    if is_resumed:
        return Done(f"The runner on {node.name} was found gone after the node agent's restart.")
    raise Refused(
        f"Runner {command.incarnation} of attempt {command.attempt} does not run on {node.name} any more; "
        "nothing was signalled."
    )
