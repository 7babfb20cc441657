"""What the nodes found, as a table: a row for each node, a cell for each check, a sentence for all. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import get_args

from agents.wire.checks import Check, Finding

from .check_run import LOOK_S, MEET_S, CheckRun
from .check_schemas import CheckCell, CheckColumn, CheckRow, ChecksOut, VerdictWord
from .words import count, listed

TITLES: Mapping[Check, str] = {
    "python": "Python, torch",
    "script": "Script",
    "workdir": "Workdir",
    "checkpoints": "Checkpoints",
    "endpoint": "Rendezvous",
    "address": "Address",
    "clock": "Clock",
    "disk": "Disk",
    "shm": "/dev/shm",
    "interface": "Interface",
}
CHECKS: tuple[Check, ...] = get_args(Check)
LATE: frozenset[Check] = frozenset({"checkpoints", "endpoint"})
"""Told in the second step."""
CLOCK_WARN_S, CLOCK_FAIL_S = 0.5, 5.0


def table(run: CheckRun) -> ChecksOut:
    usual = _usual_versions(run)
    rows = [CheckRow(node=node, cells=_cells(run, node, usual)) for node in run.nodes]
    verdicts = Counter(cell.verdict for row in rows for cell in row.cells)
    silent = [node for node in run.nodes if run.step != "look" and node not in run.looked]
    failing = verdicts["fail"] + len(silent)
    return ChecksOut(
        id=run.id,
        is_over=run.is_over,
        began_at=run.began_at,
        columns=[CheckColumn(check=check, title=TITLES[check]) for check in CHECKS],
        rows=rows,
        failing=failing,
        warnings=verdicts["warn"],
        says=_say(run, failing, verdicts["warn"]),
    )


def _say(run: CheckRun, failing: int, warnings: int) -> str:
    nodes = count(len(run.nodes), "node")
    if not run.is_over:
        return f"{nodes} {'is' if len(run.nodes) == 1 else 'are'} being checked."
    noted = f" {count(warnings, 'thing')} to look at." if warnings else ""
    if failing:
        return f"{count(failing, 'check')} of {nodes} {'fails' if failing == 1 else 'fail'}.{noted}"
    return f"Nothing stands in the way on {nodes}.{noted}"


def failures_of(told: ChecksOut) -> list[tuple[str, CheckCell]]:
    """Each cell that fails with its node, and of a node that does not answer one."""
    failing = [(row.node, cell) for row in told.rows for cell in row.cells if cell.verdict == "fail"]
    silent = [(row.node, row.cells[0]) for row in told.rows if row.cells[0].verdict == "unknown"]
    return [*silent, *failing]


def _cells(run: CheckRun, node: str, usual: Mapping[str, str]) -> list[CheckCell]:
    return [_clock(run, node) if check == "clock" else _cell(run, node, check, usual) for check in CHECKS]


def _cell(run: CheckRun, node: str, check: Check, usual: Mapping[str, str]) -> CheckCell:
    looked, met = run.looked.get(node), run.met.get(node)
    if looked is None:
        return _open(check, run.step == "look", f"{node} has not answered within {LOOK_S:.0f} s.")
    if check == "python" and (odd := _say_odd(looked.python, looked.torch, usual)):
        return _of(check, "fail", odd, "Install the same version everywhere, or give another python.")
    found = [*looked.findings, *(met.findings if met else ())]
    mine = next((one for one in found if one.check == check), None)
    if mine is not None:
        return _of_finding(mine)
    return _open(check, not run.is_over, _why_not(run, node, check))


def _why_not(run: CheckRun, node: str, check: Check) -> str:
    if check == "endpoint" and not run.endpoint:
        return f"Not tried, as {run.host} does not listen there." if run.host else "Nowhere to meet is known."
    if check in LATE and node not in run.met:
        return f"{node} has not answered within {MEET_S:.0f} s."
    return f"{node} said nothing of it: its node agent may be older than the hub."


def _open(check: Check, goes_on: bool, why: str) -> CheckCell:
    return _of(check, "running", "Being checked.") if goes_on else _of(check, "unknown", why)


def _of_finding(found: Finding) -> CheckCell:
    return _of(found.check, found.verdict, found.says, found.what_to_do)


def _of(check: Check, verdict: VerdictWord, says: str, what_to_do: str = "") -> CheckCell:
    return CheckCell(check=check, verdict=verdict, says=says, what_to_do=what_to_do)


# -- the same everywhere --


def _usual_versions(run: CheckRun) -> dict[str, str]:
    """The version of torch and the minor one of Python that most nodes have; of two the first node's."""
    torch = Counter(run.looked[node].torch for node in run.nodes if node in run.looked)
    python = Counter(_minor(run.looked[node].python) for node in run.nodes if node in run.looked)
    return {"torch": _most(torch), "python": _most(python)}


def _most(versions: Counter[str]) -> str:
    return next((version for version, _ in versions.most_common() if version), "")


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _say_odd(python: str, torch: str, usual: Mapping[str, str]) -> str:
    odd = []
    if torch and torch != usual["torch"]:
        odd.append(f"torch {torch} and not {usual['torch']}")
    if python and _minor(python) != usual["python"]:
        odd.append(f"Python {_minor(python)} and not {usual['python']}")
    return f"It has {listed(odd)} as other nodes." if odd else ""


# -- what the hub knows itself --


def _clock(run: CheckRun, node: str) -> CheckCell:
    offset_s = run.clocks.get(node)
    if offset_s is None:
        return _of("clock", "unknown", f"The clock of {node} has not been measured yet.")
    way = "ahead of" if offset_s > 0 else "behind"
    says = f"The clock of {node} is {abs(offset_s):.3g} s {way} the hub's."
    if abs(offset_s) < CLOCK_WARN_S:
        return _of("clock", "ok", says)
    verdict: VerdictWord = "fail" if abs(offset_s) >= CLOCK_FAIL_S else "warn"
    return _of("clock", verdict, says, "Let NTP or chrony set it: times in logs and events are off by that.")
