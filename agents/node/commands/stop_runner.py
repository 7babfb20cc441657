"""Stop the runner of an attempt: a ladder with a budget on each rung."""

from __future__ import annotations

import contextlib
import signal
import time

from ...wire.commands import StopRunner
from ..kin import find_kin
from ..outcome import Done, Evidence, Failed
from ..runs import Run
from .node import Node

CLEAN_UP_S = 5.0
"""What a runner may take beyond the grace of its workers to end by itself."""

KILLED_S = 15.0
"""What the kernel and settling may take after SIGKILL."""


def carry_out(command: StopRunner, node: Node) -> Done:
    """SIGTERM, later SIGKILL to all that carries the bundle's mark. Safe to repeat.

    The attempt's store keeper, if it is here, ends by itself once the runners of all nodes have gone.
    """
    is_kept = node.supervisor.keepers.note_stop(command.attempt, **_facts(command))
    run = node.supervisor.run_of(command.attempt)
    if run is None:
        kept = " Its store keeper ends once no other node needs it." if is_kept else ""
        return Done(f"Nothing of that attempt runs on {node.name}.{kept}")
    _note(run, command)
    begun = time.monotonic()
    was_killed = _descend(run, command.grace_s)
    if not run.over.is_set():
        raise Failed(_what_is_left(run, node.name))
    took_s = round(time.monotonic() - begun, 3)
    how = "had to be killed (SIGKILL)" if was_killed else "ended after SIGTERM"
    return Done(f"The runner on {node.name} {how}; nothing of it is left.", _evidence(run, took_s))


def _note(run: Run, command: StopRunner) -> None:
    """For the next node agent, if this one dies; without it the end is only explained less well."""
    with contextlib.suppress(OSError):
        run.bundle.write_stopping(**_facts(command))


def _facts(command: StopRunner) -> dict[str, str]:
    return {"command": command.id, "by": command.by, "why": command.why}


def _descend(run: Run, grace_s: float) -> bool:
    """Whether SIGKILL was needed."""
    # Once the runner has gone, its settling ends whatever else is left.
    run.signal(signal.SIGTERM)
    if run.over.wait(grace_s + CLEAN_UP_S):
        return False
    run.signal(signal.SIGKILL)
    run.over.wait(KILLED_S)
    return True


def _evidence(run: Run, took_s: float) -> Evidence:
    evidence: Evidence = {"gone_after_s": took_s}
    if run.ref is not None:
        evidence |= {"pid": run.ref.pid, "start_time": run.ref.start_time}
    if run.ended_pids:
        evidence["ended_pids"] = " ".join(map(str, run.ended_pids))
    return evidence


def _what_is_left(run: Run, node: str) -> str:
    pids = [str(ref.pid) for ref in find_kin(run.bundle)]
    return f"SIGKILL was sent on {node}; these processes still do not end: {', '.join(pids) or 'none found'}."
