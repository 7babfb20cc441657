"""Nodes that come and go: a return after an absence unasked for is noted, and the third sets a node aside."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.utils import timezone

from agents.wire.commands import LeaveRunner
from webapp.fleet.models import Command, Node
from webapp.live.notify import nodes_changed

from .models import Member, Round

MOST, WITHIN = 3, timedelta(minutes=10)


def note_comings(formed: Round) -> None:
    """Call once for each round, when both it and the one before it are known."""
    before = Round.objects.filter(attempt_id=formed.attempt_id, number=formed.number - 1).first()
    if before is None:
        return
    for name in formed.nodes:
        if name not in before.nodes and _was_away_unasked(name, formed):
            _note(name, formed.formed_at)


def _was_away_unasked(name: str, formed: Round) -> bool:
    """It took part before, and went neither because it was told to nor because its runner alone had died."""
    earlier = Round.objects.filter(attempt_id=formed.attempt_id, number__lt=formed.number)
    last = next((row for row in earlier.order_by("-number") if name in row.nodes), None)
    if last is None or _died_since(name, last):
        return False
    if "lapsed" in _why_absent(name, last):
        return True
    told = Command.objects.filter(attempt=formed.attempt_id, node=name, kind=LeaveRunner.kind)
    return not told.filter(created_at__gte=last.formed_at).exists()


def _why_absent(name: str, last: Round) -> str:
    """From the round that formed without it."""
    following = Round.objects.filter(attempt_id=last.attempt_id, number=last.number + 1).first()
    return str(following.absent.get(name, "")) if following else ""


def _died_since(name: str, last: Round) -> bool:
    deaths = Member.objects.filter(attempt=last.attempt_id, node=name).values_list("deaths", flat=True)
    return any(datetime.fromisoformat(at) >= last.formed_at for times in deaths for at in times)


def _note(name: str, at: datetime) -> None:
    node = Node.objects.filter(name=name).first()
    if node is None:
        return
    node.comings = recent([*node.comings, at.isoformat()], at)
    if len(node.comings) >= MOST and node.set_aside_at is None:
        node.set_aside_at = timezone.now()
    node.save(update_fields=["comings", "set_aside_at"])
    nodes_changed()


def recent(comings: Sequence[str], now: datetime) -> list[str]:
    return [at for at in comings if now - datetime.fromisoformat(at) <= WITHIN]
