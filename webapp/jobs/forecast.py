"""What becomes of a job when one of its nodes is drained. Pure: the forecast is shown, and then done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webapp.fleet.schemas import DrainWord

from .words import count, listed


@dataclass(frozen=True, kw_only=True)
class Share:
    """A node's part in an attempt, as long as something of it runs there."""

    node: str
    is_spare: bool = False
    is_leaving: bool = False


@dataclass(frozen=True, kw_only=True)
class Case:
    """A job of which something is left on the node."""

    job: int
    name: str
    attempt: int
    min_nodes: int
    slots: int
    """On each node."""
    shares: tuple[Share, ...]
    """Nodes on which it runs; none of those whose runner has ended."""
    store_host: str = ""
    is_fixed: bool = False
    """Its nodes and ranks are those of its start."""
    is_tied: bool = False
    """Its spec names this very node for its store."""
    is_ending: bool = False
    """It is stopped, or the attempt is over already."""
    free: tuple[str, ...] = ()
    """Other nodes with room for it, the ones that are taken first in front."""
    anew: tuple[str, ...] = ()
    """Nodes that another attempt would get; none when it would have to wait."""


@dataclass(frozen=True)
class Forecast:
    effect: DrainWord
    says: str
    nodes_before: int
    nodes_after: int
    to: tuple[str, ...] = ()


def forecast(case: Case, node: str) -> Forecast:
    share = next((share for share in case.shares if share.node == node), None)
    active = [s.node for s in case.shares if not s.is_spare and not s.is_leaving]
    rest = [name for name in active if name != node]
    if share is None or case.is_ending:
        return Forecast("ends", f"{_job(case)} is ending on {node} already.", len(active), len(rest))
    if share.is_leaving:
        return Forecast("leaves", f"{_job(case)} is leaving {node} already.", len(active), len(rest))
    if share.is_spare:
        says = f"{node} stands by for {_name(case)} and leaves it; training goes on as it is."
        return Forecast("leaves", says, len(active), len(active))
    if case.store_host == node or case.is_fixed or not (rest or case.free or _spares(case, node)):
        return _relaunched(case, node, active)
    return _left(case, node, rest, active)


def _left(case: Case, node: str, rest: Sequence[str], active: Sequence[str]) -> Forecast:
    """The node leaves, and the attempt goes on."""
    before = len(active)
    if spares := _spares(case, node):
        says = f"{_job(case)} goes on with {spares[0]}, which stands by, in place of {node}. {COSTS}"
        return Forecast("promotes", says, before, before, (spares[0],))
    if case.free:
        says = f"{_job(case)} moves from {node} to {case.free[0]}, which is free. {COSTS}"
        return Forecast("moves", says, before, before, (case.free[0],))
    if len(rest) >= case.min_nodes:
        says = f"{_job(case)} shrinks from {before} to {count(len(rest), 'node')}, as none is free. {COSTS}"
        return Forecast("shrinks", says, before, len(rest))
    missing = count(case.min_nodes - len(rest), "node")
    says = (
        f"{_job(case)} stands still: {len(rest)} of at least {count(case.min_nodes, 'node')} would be left. "
        f"It waits for {missing} with {count(case.slots, 'free slot')}."
    )
    return Forecast("waits", says, before, len(rest))


COSTS = "That is a membership restart; no failure restart is spent."


def _relaunched(case: Case, node: str, active: Sequence[str]) -> Forecast:
    """The attempt ends, and another one begins without the node."""
    before, says = len(active), f"{_job(case)} starts anew as attempt {case.attempt + 1}"
    if case.is_tied:
        says += f" only once {node} is used again, because its rdzv_endpoint names {node}. {UNTIL}"
    elif not case.anew:
        says += f", because {_why_anew(case, node)}, but waits for nodes with room for it. {UNTIL}"
    else:
        says += f" on {listed(case.anew)}, because {_why_anew(case, node)}."
    came = tuple(name for name in case.anew if name not in active)
    return Forecast("relaunches", says, before, len(case.anew), came)


UNTIL = "It is queued until then."


def _why_anew(case: Case, node: str) -> str:
    if case.is_fixed:
        return "its nodes and their ranks are fixed from the start of an attempt"
    return f"{node} keeps its store" if case.store_host == node else "it would be left without a node"


def _spares(case: Case, node: str) -> list[str]:
    return [s.node for s in case.shares if s.is_spare and not s.is_leaving and s.node != node]


def _name(case: Case) -> str:
    return f"job {case.job} {case.name}"


def _job(case: Case) -> str:
    return f"Job {case.job} {case.name}"
