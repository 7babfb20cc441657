"""Why a round began, in words, from what is known of the round before it."""

from __future__ import annotations

from collections.abc import Sequence

from webapp.fleet.models import Command

from .models import Round, Worker
from .words import count, ended, listed


def explain_round(row: Round) -> None:
    """Write the reason on the round; again whenever more is known."""
    why = _why(row)
    if why != row.why:
        row.why = why
        Round.objects.filter(pk=row.pk).update(why=why)


def _why(row: Round) -> str:
    if row.cause == "failure":
        return failure_words(row.attempt_id, row.number - 1, row.charged)
    if row.cause == "membership":
        before = Round.objects.filter(attempt_id=row.attempt_id, number=row.number - 1).first()
        return membership_words(before.nodes if before else [], row.nodes)
    return ""


def failure_words(attempt_id: str, round_number: int, charged: str = "") -> str:
    """The first cause among the workers of that round; empty while none is known."""
    failed = Worker.objects.filter(attempt_id=attempt_id, round=round_number)
    causes = failed.filter(role="cause")
    if charged and causes.filter(node=charged).exists():
        causes = causes.filter(node=charged)
    worker = causes.order_by("ended_at", "rank").first()
    # Of workers that ended with their fork server it is not known how each would have.
    for role in ("unknown", "peer_lost"):
        worker = worker or failed.filter(role=role).order_by("ended_at", "rank").first()
    if worker is None:
        return f"A worker failed on {charged}" if charged else ""
    return ended(worker.rank, worker.node, worker.said) + by_hand(worker)


def by_hand(worker: Worker) -> str:
    """Who killed that very process by the button, and with what reason."""
    command = kill_of(worker)
    if command is None:
        return ""
    who = command.by.username if command.by else "Regroup"
    return f" by {who} ({command.why.rstrip('.')})" if command.why else f" by {who}"


def kill_of(worker: Worker) -> Command | None:
    return (
        Command.objects.filter(
            kind="kill_worker",
            attempt=worker.attempt_id,
            body__pid=worker.pid,
            body__start_time=worker.start_time,
        )
        .exclude(state__in=("refused", "undelivered"))
        .select_related("by")
        .order_by("-created_at")
        .first()
    )


def membership_words(before: Sequence[str], after: Sequence[str]) -> str:
    came = [node for node in after if node not in before]
    left = [node for node in before if node not in after]
    if came and left:
        return f"{listed(came)} joined and {listed(left)} left"
    if came:
        return f"{listed(came)} joined"
    if left:
        return f"{listed(left)} left"
    return f"The same {count(len(after), 'node')} formed anew"
