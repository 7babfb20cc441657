"""A group of cases of one kind and shape, measured side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.system.stack import Stack

from .cases import Case, Shape
from .changes import Changes, run_one_by_one
from .kills import Column, run_turns
from .line import Line, median_of, misses, p99_of, phases_of, ratio_of, restarts_per_kill
from .our_changes import only_nodes
from .ours import Regroup
from .runs import Runs, run_alternating, runs_of
from .sides import Side
from .torchrun import DEFAULTS, FT, Torchrun

SHARE_OF_ELASTIC = 0.2
"""The part of N that plain torchrun is killed for where every kill costs its last call of 30 s."""
SHARE_OF_STEPS = 0.3
SHARE_OF_EXEC = 0.5
"""The part of N for workers that are started anew: seconds each, and not what is waited for."""
SHARE_OF_CHANGES = 0.5
SHARE_OF_STORE_LOSSES = 0.2
MOST_HANGS = 1
"""Of the others: each costs a minute, and one shows that there is a fault."""


@dataclass(frozen=True)
class Bench:
    """What all cases share."""

    hub: Stack
    api: httpx.Client
    folder: Path
    n: int
    others: Sequence[Torchrun]
    """Whom we are compared with."""
    etcd: str = ""
    """``HOST:PORT``, where a case needs it."""
    until: float = math.inf
    """When the group at hand begins no more turns, by the monotonic clock."""

    def ours(self, case: Case) -> Regroup:
        return Regroup(
            self.hub, self.api, case.mode, case.backend, self.etcd if case.backend == "etcd-v3" else ""
        )


@dataclass(frozen=True)
class Result:
    line: Line
    missed: list[str] = field(default_factory=list)


def measure(bench: Bench, group: Sequence[Case]) -> Iterator[Result]:
    """One result for each case of the group."""
    if group[0].is_change:
        yield from (_changes(bench, case) for case in group)
    else:
        yield from (_kills(bench, group) if group[0].kind == "kill" else _runs(bench, group))


def _turns(n: int, share: float) -> int:
    return max(1, round(n * share))


def _share(other: Torchrun, shape: Shape) -> float:
    return min(other.share, SHARE_OF_ELASTIC if shape.is_elastic and other is DEFAULTS else 1.0)


def _kills(bench: Bench, group: Sequence[Case]) -> Iterator[Result]:
    shape = group[0].shape
    folder = bench.folder / f"kill-{shape.name}"
    ours = [_ours(bench, case, folder) for case in group]
    others = {other.name: _column(bench, other, shape, folder) for other in bench.others}
    run_turns([*ours, *others.values()])
    for case, column in zip(group, ours, strict=True):
        yield _result_of_kills(case, column, others)


def _ours(bench: Bench, case: Case, folder: Path) -> Column:
    share = SHARE_OF_EXEC if case.mode == "exec" and bench.others else 1.0
    return Column(bench.ours(case), case.shape, folder, _turns(bench.n, share), bench.n, until=bench.until)


def _column(bench: Bench, other: Torchrun, shape: Shape, folder: Path) -> Column:
    turns = _turns(bench.n, _share(other, shape))
    return Column(other, shape, folder, turns, bench.n, most_hangs=MOST_HANGS, until=bench.until)


def _changes(bench: Bench, case: Case) -> Result:
    """Side after side. ft_launcher is left out: it is the same torch that meets there."""
    share = SHARE_OF_STORE_LOSSES if case.kind == "store-loss" else SHARE_OF_CHANGES
    ours = _changes_of(bench, bench.ours(case), case, _turns(bench.n, share), None)
    others = {} if case.is_alone else {o.name: o for o in bench.others if o is not FT}
    columns = {
        name: _changes_of(bench, other, case, _turns(bench.n, _share_of_changes(name)), MOST_HANGS)
        # The one whose job takes longest to come up is last.
        for name, other in reversed(others.items())
    }
    with only_nodes(bench.api, max(case.shape.nodes, case.nodes_after)):
        run_one_by_one([ours, *columns.values()])
    return _result_of_kills(case, ours, columns)


def _share_of_changes(name: str) -> float:
    """Each of torchrun's changes needs a launch of its own; by default that takes a last call, too."""
    return 0.1 if name == DEFAULTS.name else 0.2


def _changes_of(bench: Bench, side: Side, case: Case, turns: int, most_hangs: int | None) -> Changes:
    folder = bench.folder / case.name
    return Changes(side, case.shape, folder, turns, turns, most_hangs, bench.until, case=case)


def _result_of_kills(case: Case, ours: Column, others: Mapping[str, Column]) -> Result:
    took = {name: median_of(column.recovered_s) for name, column in others.items()}
    torchrun = others.get(DEFAULTS.name)
    ours_s = median_of(ours.recovered_s)
    line = Line(
        case=case.name,
        mode=case.mode,
        n=ours.kills,
        ours_s=ours_s,
        p99_s=p99_of(ours.recovered_s),
        torchrun_s=took.get("torchrun"),
        ratio=ratio_of(ours_s, took.get("torchrun")),
        best_torchrun_s=took.get("best"),
        ft_launcher_s=took.get("ft_launcher"),
        kills=ours.kills,
        hangs=ours.hangs,
        torchrun_kills=torchrun.kills if torchrun else 0,
        torchrun_hangs=torchrun.hangs if torchrun else 0,
        failure_restarts_per_kill=restarts_per_kill(ours.accounts),
        phases=phases_of(ours.accounts),
    )
    return Result(line, list(misses(case, line, ours.accounts, torchrun is not None)))


def _runs(bench: Bench, group: Sequence[Case]) -> Iterator[Result]:
    kind, shape = group[0].kind, group[0].shape
    folder = bench.folder / f"{kind}-{shape.name}"
    turns = _turns(bench.n, SHARE_OF_STEPS if kind == "step" else 1.0)
    # What makes the others recover sooner changes neither a launch nor a step.
    sides: list[Side] = [*map(bench.ours, group), *(one for one in bench.others if one is DEFAULTS)]
    runs = [runs_of(kind, side, shape, folder, turns, bench.until) for side in sides]
    run_alternating(runs)
    theirs_s = median_of(runs[-1].took_s) if len(runs) > len(group) else None
    for case, ours in zip(group, runs, strict=False):
        yield _result_of_runs(case, ours, theirs_s)


def _result_of_runs(case: Case, ours: Runs, theirs_s: float | None) -> Result:
    ours_s = median_of(ours.took_s)
    line = Line(
        case=case.name,
        mode=case.mode,
        n=len(ours.took_s),
        ours_s=ours_s,
        p99_s=p99_of(ours.took_s),
        torchrun_s=theirs_s,
        ratio=ratio_of(ours_s, theirs_s),
        best_torchrun_s=None,
        ft_launcher_s=None,
        kills=0,
        hangs=0,
        torchrun_kills=0,
        torchrun_hangs=0,
        failure_restarts_per_kill=None,
        phases={},
    )
    return Result(line, list(misses(case, line, (), theirs_s is not None)))
