"""Whether the workers of a round come forward, and if not, which of them holds up the others. Pure.

All it knows is of one attempt and one round: what came before, such as a save that was begun and never ended,
changes nothing. What is not known for certain is no stall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

LEAST_S = 5.0
"""By its own pace no job is called stalled before that."""
TIMES = 10
"""A pause counts when it is so many times as long as those between the last steps."""
ENOUGH = 4
"""So many different steps tell a worker's pace."""
SAVE_S = 1800.0
"""A save that takes longer excuses nothing any more."""
STOPPED = ("T", "t", "Z")


@dataclass(frozen=True, kw_only=True)
class Rule:
    """What the job's spec says. See ``agents.wire.spec``."""

    after_s: float | None = None
    log_regex: str = ""
    log_start_s: float = 60.0
    log_every_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class WorkerView:
    """One worker of the newest round."""

    rank: int
    node: str
    step: int | None = None
    total: int | None = None
    trail: tuple[tuple[int, float], ...] = ()
    """Its last different steps, and when each was recorded: seconds since some moment."""
    saving_step: int | None = None
    """The step whose checkpoint it saves now."""
    saved_s: float | None = None
    """Since its last save was over."""
    is_seen: bool = True
    """Its node has just told of this very process, and all it had reported by then is known here."""
    state: str = ""
    """The kernel's letter."""
    silence_s: float | None = None
    """Since it last reported anything."""
    wrote_s: float | None = None
    matched_s: float | None = None
    stands: str = ""
    """Where it stands in its code, where stacks were taken."""
    stands_out: bool = False
    """Others wait for one another there, and it does not."""

    @property
    def is_judged(self) -> bool:
        """It reports steps and has not done its last one."""
        return self.step is not None and not (self.total is not None and self.step >= self.total)


@dataclass(frozen=True, kw_only=True)
class Stalled:
    since_s: float
    """How long ago the last sign of progress was."""
    rank: int | None
    """Whom the others wait for. None: none stands out."""
    node: str
    why: str


Look = Stalled | Literal["moving", "unknown"]


def look_at(workers: Sequence[WorkerView], rule: Rule, up_s: float) -> Look:
    """``up_s``: seconds since the workers were started."""
    judged = [worker for worker in workers if worker.is_judged]
    if not any(worker.step is not None for worker in workers):
        return _by_lines(workers, rule, up_s)
    limit_s = rule.after_s if rule.after_s is not None else limit_of(judged)
    if not judged or not limit_s:
        return "moving"
    if any(not worker.is_seen or worker.silence_s is None for worker in judged):
        return "unknown"
    if any(w.saving_step is not None and (w.silence_s or 0.0) < SAVE_S for w in workers):
        return "moving"
    # Who waited for a save goes on with its end, and not before: the pause begins anew.
    if any(w.saved_s is not None and w.saved_s < limit_s for w in workers):
        return "moving"
    silent = [worker for worker in judged if (worker.silence_s or 0.0) >= limit_s]
    return _stalled(silent, workers) if silent else "moving"


def limit_of(workers: Sequence[WorkerView]) -> float | None:
    """The pause that is too long, by the pace the workers have now. None: too few steps have been seen."""
    gaps = [gap for worker in workers if (gap := _gap_s(worker)) is not None]
    return max(LEAST_S, TIMES * median(gaps)) if gaps else None


def _gap_s(worker: WorkerView) -> float | None:
    times = [at for _, at in worker.trail]
    if len(times) < ENOUGH:
        return None
    return median(after - before for before, after in pairwise(times))


# -- who holds up the others ---------------------------------------------------------------


def _stalled(silent: Sequence[WorkerView], workers: Sequence[WorkerView]) -> Stalled:
    guilty = _guilty(silent, workers)
    if guilty is None:
        steps = sorted({worker.step for worker in silent if worker.step is not None})
        why = f"no rank has come beyond step {steps[-1]:,}, and none of them stands out"
        return Stalled(since_s=_youngest(silent), rank=None, node="", why=why)
    since_s = guilty.silence_s if guilty in silent and guilty.silence_s is not None else _youngest(silent)
    return Stalled(since_s=since_s, rank=guilty.rank, node=guilty.node, why=say_why(guilty, workers))


def _youngest(silent: Sequence[WorkerView]) -> float:
    return min(worker.silence_s or 0.0 for worker in silent)


def _guilty(silent: Sequence[WorkerView], workers: Sequence[WorkerView]) -> WorkerView | None:
    """A process that is stopped can be it alone; then who is behind, who sleeps, and who waits elsewhere."""
    seen = [worker for worker in workers if worker.is_seen]
    for found in (
        [worker for worker in seen if worker.state in STOPPED],
        _behind(silent, workers),
        [worker for worker in seen if worker.state == "D"],
        [worker for worker in seen if worker.stands_out],
    ):
        if found:
            return min(found, key=lambda worker: worker.rank)
    return silent[0] if len(workers) == 1 else None


def _behind(silent: Sequence[WorkerView], workers: Sequence[WorkerView]) -> list[WorkerView]:
    """Those with the lowest step, where the most have come further."""
    steps = [worker.step for worker in workers if worker.step is not None]
    lowest = [worker for worker in silent if steps and worker.step == min(steps)]
    return lowest if 2 * len(lowest) <= len(steps) else []


def say_why(guilty: WorkerView, workers: Sequence[WorkerView]) -> str:
    parts = [f"rank {guilty.rank} on {guilty.node} {_say_step(guilty, workers)}", _say_state(guilty.state)]
    if guilty.stands and guilty.stands_out:
        elsewhere = [w.stands for w in workers if w.stands and not w.stands_out]
        others = f", the others in {_commonest(elsewhere)}" if elsewhere else ""
        parts.append(f"it stands in {guilty.stands}{others}")
    return "; ".join(part for part in parts if part)


def _say_step(guilty: WorkerView, workers: Sequence[WorkerView]) -> str:
    if guilty.step is None:
        return "holds up the others"
    others = sorted({w.step for w in workers if w.rank != guilty.rank and w.step is not None})
    if not others or others[-1] <= guilty.step:
        return f"has not come beyond step {guilty.step:,}"
    span = f"{others[0]:,} to {others[-1]:,}" if len(others) > 1 else f"{others[0]:,}"
    return f"is behind (step {guilty.step:,}, the others {span})"


STATES = {
    "T": "its process is stopped (T)",
    "t": "a debugger has stopped its process (t)",
    "Z": "its process is a zombie (Z)",
    "D": "its process is in uninterruptible sleep (D), as when a disk or network file system does not answer",
}


def _say_state(state: str) -> str:
    return STATES.get(state, "")


def _commonest(places: Sequence[str]) -> str:
    return max(sorted(set(places)), key=places.count)


# -- without steps -------------------------------------------------------------------------


def _by_lines(workers: Sequence[WorkerView], rule: Rule, up_s: float) -> Look:
    every_s = rule.log_every_s
    if every_s is None or not workers or up_s <= rule.log_start_s:
        return "moving"
    if any(not worker.is_seen for worker in workers):
        return "unknown"
    ages = {worker.rank: worker.matched_s if rule.log_regex else worker.wrote_s for worker in workers}
    # Ranks that have never written such a line may be those that never do, unless none has.
    judged = [worker for worker in workers if ages[worker.rank] is not None] or list(workers)
    late_s = {w.rank: _late_s(ages[w.rank], rule, up_s) for w in judged}
    silent = [worker for worker in judged if late_s[worker.rank] > every_s]
    if not silent:
        return "moving"
    guilty = _guilty(silent, workers) or silent[0]
    line = f"line that matches {rule.log_regex!r}" if rule.log_regex else "line"
    wrote = f"rank {silent[0].rank} on {silent[0].node} has written no {line} for more than {every_s:g} s"
    state = _say_state(guilty.state)
    about = "" if guilty is silent[0] else f"rank {guilty.rank} on {guilty.node}: "
    why = f"{wrote}; {about}{state}" if state else wrote
    return Stalled(since_s=max(late_s.values()), rank=guilty.rank, node=guilty.node, why=why)


def _late_s(age_s: float | None, rule: Rule, up_s: float) -> float:
    """Nothing is expected before the cut-off, so that nothing is late by more than what has passed since."""
    return min(age_s if age_s is not None else up_s, up_s - rule.log_start_s)


# -- who is slow ---------------------------------------------------------------------------

SLOW = 2.0
"""A step that takes more than so many times what it takes the others is slow."""
LAG_S = 5.0
"""Behind by more than so many seconds of the others' pace is slow too."""


@dataclass(frozen=True, kw_only=True)
class Straggler:
    rank: int
    node: str
    says: str


def find_stragglers(workers: Sequence[WorkerView]) -> list[Straggler]:
    """Those that come forward, and slower than the others."""
    paces = {w.rank: pace for w in workers if w.is_judged and (pace := seconds_a_step(w)) is not None}
    if len(paces) < 2:
        return []
    fastest = max(w.step or 0 for w in workers)
    found = []
    for worker in workers:
        others = [pace for rank, pace in paces.items() if rank != worker.rank]
        if worker.rank in paces and (says := _say_slow(worker, paces[worker.rank], median(others), fastest)):
            found.append(Straggler(rank=worker.rank, node=worker.node, says=says))
    return found


def seconds_a_step(worker: WorkerView) -> float | None:
    if len(worker.trail) < ENOUGH:
        return None
    (first, began), (last, ended) = worker.trail[0], worker.trail[-1]
    return (ended - began) / (last - first) if last > first else None


def _say_slow(worker: WorkerView, own_s: float, others_s: float, fastest: int) -> str:
    lag = fastest - (worker.step or 0)
    if lag < 2 or not (own_s > SLOW * others_s or lag * others_s > LAG_S):
        return ""
    who = f"Rank {worker.rank} on {worker.node} is {lag:,} steps behind the fastest"
    return f"{who}; a step takes it {_say_s(own_s)}, the others {_say_s(others_s)}."


def _say_s(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds * 1000:.0f} ms"
