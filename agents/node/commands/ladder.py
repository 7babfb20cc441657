"""The way down for a runner that stops or leaves: it is asked to end, and killed when it takes too long."""

from __future__ import annotations

import time

from ..kin import find_kin
from ..outcome import Done, Evidence, Failed
from ..runs import KILLED_S, Run

CLEAN_UP_S = 5.0
"""What a runner may take beyond the grace of its workers to end by itself."""

FORCED_S = 1.0
"""The same where no grace is given: it may say its last words, and nobody waits for workers."""


def descend(run: Run, grace_s: float, node: str) -> Done:
    """SIGTERM, later SIGKILL to the runner; its settling ends whatever it leaves. Safe to repeat.

    Raises:
        Failed: a process of it is still there, named.
    """
    begun = time.monotonic()
    run.ask_to_end()
    if not run.over.wait(_patience_s(grace_s)):
        run.kill()
        if not run.over.wait(KILLED_S):
            raise Failed(_say_what_is_left(run, node))
    took_s = round(time.monotonic() - begun, 3)
    # Another command, with less grace, may have killed it meanwhile.
    how = "had to be killed (SIGKILL)" if run.was_killed else "ended after SIGTERM"
    return Done(f"The runner on {node} {how}; nothing of it is left.", _evidence(run, took_s))


def _patience_s(grace_s: float) -> float:
    return grace_s + CLEAN_UP_S if grace_s > 0 else FORCED_S


def _evidence(run: Run, took_s: float) -> Evidence:
    evidence: Evidence = {"gone_after_s": took_s}
    if run.ref is not None:
        evidence |= {"pid": run.ref.pid, "start_time": run.ref.start_time}
    if run.ended_pids:
        evidence["ended_pids"] = " ".join(map(str, run.ended_pids))
    return evidence


def _say_what_is_left(run: Run, node: str) -> str:
    pids = [str(ref.pid) for ref in find_kin(run.bundle)]
    return f"SIGKILL was sent on {node}; these processes still do not end: {', '.join(pids) or 'none found'}."
