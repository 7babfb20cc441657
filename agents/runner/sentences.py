"""How a runner says what became of a worker, and why it ended itself. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .budget import Settlement
from .exits import ended_by, known_from, say, signal_of
from .guard import Streak
from .progress import Saved
from .workers import Ended

_STATES = {"D": ", an uninterruptible sleep", "T": ", stopped", "t": ", held by a debugger"}
"""What the kernel's letters mean that a process may have which does not end."""


def facts_of(ended: Ended) -> dict[str, Any]:
    """The fields of a ``WorkerExited`` record that say how a worker ended."""
    ending = ended.ending
    code = ending.code if ending and not ending.lost_with else None
    return {
        "at": ended.at,
        "worker": ended.worker,
        "exit_code": code if code is not None and code >= 0 else None,
        "signal": signal_of(code) if code is not None else None,
        "role": ended.role,
        "said": say(ending) if ending else _say_unkillable(ended),
        "error": ending.error if ending else None,
        "ended_by": ended_by(ending) if ending else "unkillable",
        "known_from": known_from(ending) if ending else "the process, which is still there",
    }


def _say_unkillable(ended: Ended) -> str:
    state = f" is in state {ended.state}{_STATES.get(ended.state, '')}" if ended.state else " is still there"
    return f"did not end, even after SIGKILL: pid {ended.worker.pid}{state}"


def _left(node: str, spent: int, budget: int) -> str:
    if budget == 0:
        return "the job allows no failure restarts (max_restarts 0)"
    return f"{node} has no failure restarts left ({spent} of {budget} spent)"


def describe(ended: Ended, node: str) -> str:
    """``Rank 3 on node-b was killed by SIGKILL``."""
    if ended.ending is None:
        return f"Rank {ended.worker.rank} on {node} {_say_unkillable(ended)}"
    if ended.ending.lost_with:
        return f"The fork server on {node} {ended.ending.lost_with}"
    was = "was " if signal_of(ended.ending.code) or ended.role == "stopped" else ""
    return f"Rank {ended.worker.rank} on {node} {was}{say(ended.ending)}"


def cannot_pay(first: Ended, node: str, spent: int, budget: int) -> str:
    return f"{describe(first, node)}, and {_left(node, spent, budget)}."


def cannot_pay_either(settlement: Settlement, budget: int) -> str:
    """When it has been settled that a node must pay which cannot."""
    node = str(settlement.charged)
    claim = next(claim for claim in settlement.claims if claim.node == node)
    ranks = ", ".join(str(rank) for rank in claim.ranks)
    first = f"Workers failed first on {node} (rank {ranks})" if ranks else f"The fork server on {node} ended"
    return f"{first}, and {_left(node, budget, budget)}."


def fails_alike(first: Ended, node: str, streak: Streak, left: int, saved: Saved | None) -> str:
    """When what has failed as soon as it began, again and again, is not tried once more."""
    times, within_s = len(streak.after_s), math.ceil(max(streak.after_s))
    rest = "1 failure restart is" if left == 1 else f"{left} failure restarts are"
    newest = f" The newest checkpoint is that of step {saved.step}, {saved.path}." if saved else ""
    return (
        f"{describe(first, node)}. That was the same failure {times} times in a row, each within "
        f"{within_s} s of the start of the workers, so it is not tried again, although {rest} left.{newest}"
    )


def tries_later(node: str, streak: Streak) -> str:
    return (
        f"the workers on {node} have failed in the same way {len(streak.after_s)} times as soon as they "
        f"began: the next try begins {streak.pause_s:g} s later"
    )


def stays(unkillable: list[Ended], node: str) -> str:
    """When a worker cannot be ended, so that none can begin in its place."""
    return (
        f"{describe(unkillable[0], node)}. No other worker is started beside it: see to the device or file "
        "system it waits for."
    )


def stuck(node: str, limit_s: float) -> str:
    return (
        f"A worker on {node} has been in uninterruptible sleep for {limit_s:.0f} s. "
        "No signal can end it: see to the device or file system it waits for."
    )


def no_gpu_left(node: str, gone: Sequence[str]) -> str:
    return f"No GPU is left on {node}: {', '.join(gone)} do not answer any more."
