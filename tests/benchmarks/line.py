"""The result of a case: one line, and what it misses of what was to be reached."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from statistics import median

from .cases import Case, Mode
from .sides import Account

P99_S = 1.0
"""The longest 99th percentile of preloaded workers' recoveries that is good enough."""


@dataclass(frozen=True)
class Line:
    """Medians in seconds. None: not measured, or there was nothing to take a median of."""

    case: str
    mode: Mode
    n: int
    ours_s: float | None
    p99_s: float | None
    torchrun_s: float | None
    ratio: float | None
    """ours_s / torchrun_s."""
    best_torchrun_s: float | None
    ft_launcher_s: float | None
    kills: int
    hangs: int
    torchrun_kills: int
    torchrun_hangs: int
    failure_restarts_per_kill: float | None
    phases: dict[str, float]

    def as_json(self) -> str:
        return json.dumps({key: _rounded(value) for key, value in asdict(self).items()})


def _rounded(value: object) -> object:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def median_of(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def p99_of(values: Sequence[float]) -> float | None:
    """The nearest rank, so of fewer than a hundred it is the longest."""
    return sorted(values)[math.ceil(0.99 * len(values)) - 1] if values else None


def ratio_of(ours_s: float | None, theirs_s: float | None) -> float | None:
    return ours_s / theirs_s if ours_s and theirs_s else None


def phases_of(accounts: Sequence[Account]) -> dict[str, float]:
    """The median of each phase."""
    told = [account.phases for account in accounts if account.phases]
    return {name: median(phases[name] for phases in told) for name in (told[0] if told else {})}


def restarts_per_kill(accounts: Sequence[Account]) -> float | None:
    return sum(one.failure_restarts for one in accounts) / len(accounts) if accounts else None


def misses(case: Case, line: Line, accounts: Sequence[Account], is_compared: bool) -> Iterator[str]:
    """A sentence for each target that is missed."""
    # That torchrun never comes back from a kill or a change of nodes is no fault of ours.
    if is_compared and line.ratio is None and not line.torchrun_hangs and not case.is_change:
        yield f"{case.name}: there is nothing to compare with."
    if line.ratio is not None and line.ratio > case.most:
        yield f"{case.name}: the ratio to torchrun is {line.ratio:.3f}; it was to be {case.most} at most."
    if case.most_s is not None and (line.ours_s or 0) > case.most_s:
        yield f"{case.name}: the median is {line.ours_s:.3f} s; it was to be {case.most_s} s at most."
    if line.hangs:
        yield f"{case.name}: {line.hangs} of {line.kills} {_times(case)} hung; none was to."
    if any(account.failure_restarts != case.restarts for account in accounts):
        spent = [account.failure_restarts for account in accounts]
        wanted = f"each was to cost exactly {case.restarts}"
        yield f"{case.name}: {_times(case)} cost {spent} failure restarts; {wanted}."
    if case.kind == "kill" and case.mode == "preload" and (line.p99_s or 0) > P99_S:
        yield f"{case.name}: the 99th percentile is {line.p99_s:.3f} s; it was to be {P99_S} s at most."


def _times(case: Case) -> str:
    return "changes" if case.is_change else "kills"
