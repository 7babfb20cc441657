"""What a job may still spend on restarts, as numbers and as one true sentence. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .models import Round
from .schemas import BudgetCause, BudgetOut, NodeBudget, RestartsOut
from .words import count, listed

LAST = 5
"""So many of the newest causes are told."""
TORCH_DIFFERS = (
    "torch counts on each node for itself, every restart in which workers of that node ended badly. Regroup "
    "charges the node of the first cause alone."
)


def budget_out(restarts: RestartsOut, rounds: Sequence[Round], is_over: bool) -> BudgetOut:
    """``rounds`` of the newest attempt, in order."""
    failures = [row for row in rounds if row.cause == "failure"]
    return BudgetOut(
        sentence=say_budget(restarts, is_over),
        survives=restarts.remaining,
        last_causes=[
            BudgetCause(round=row.number, at=row.formed_at, node=row.charged or None, sentence=row.why)
            for row in reversed(failures[-LAST:])
        ],
        torch_differs=TORCH_DIFFERS if _differs(restarts.by_node.values()) else "",
    )


def say_budget(restarts: RestartsOut, is_over: bool) -> str:
    limit, spenders = restarts.max_restarts, _spenders(restarts)
    spent = listed(f"{node} has spent {each.charged} of {limit}" for node, each in spenders)
    if limit == 0:
        return "No failure restart is allowed (max_restarts 0): the first failure ends the job."
    if is_over:
        return f"{spent}." if spenders else "No failure restart was spent."
    if not spenders:
        return f"Nothing is spent: each node may fail {count(limit, 'time')}."
    return f"{spent}. {_what_is_left(restarts)}"


def _spenders(restarts: RestartsOut) -> list[tuple[str, NodeBudget]]:
    return [(node, each) for node, each in restarts.by_node.items() if each.charged]


def _what_is_left(restarts: RestartsOut) -> str:
    empty = [node for node, each in restarts.by_node.items() if not each.remaining]
    if empty:
        return f"The next failure on {' or '.join(empty)} ends the job."
    left = restarts.remaining
    if left == 1:
        return "The next failure is survived, wherever it is."
    return f"The next {left} failures are survived, wherever they are."


def _differs(budgets: Iterable[NodeBudget]) -> bool:
    return any(each.charged != each.torch_counter for each in budgets)
