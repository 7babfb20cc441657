"""Draining a node: it gets no more jobs, and those on it go elsewhere, just as the forecast says.

The wish is a row of the node's. What follows for each job is a transaction of its own, and is done later by
the reconciler if this process ends in between.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.wire.commands import LeaveRunner
from agents.wire.lifecycle import Phase
from webapp.accounts.models import Account
from webapp.database import take_turns
from webapp.events.asked import note_asked, take_turn_of_events
from webapp.fleet.drained import say_drained_by
from webapp.fleet.models import Command, Node
from webapp.live.notify import nodes_changed

from .apply import restand
from .drain_forecast import look_ahead
from .forecast import Forecast
from .locks import lock_jobs
from .models import Member, Wanted
from .news import job_changed
from .relaunch import begin_without
from .rooms import read_rooms


def drain(node: Node, account: Account, reason: str) -> None:
    """Give it no more jobs, and move away what is on it. A second call changes nothing."""
    with transaction.atomic():
        # Whoever places a job now has done so before, or sees that this node takes none.
        take_turns("placing")
        idle = Node.objects.filter(pk=node.pk, draining_since=None)
        idle.update(draining_since=timezone.now(), drained_by=account, drain_reason=reason.strip())
        nodes_changed()
    _move_all(node.name)


def carry_on() -> int:
    """What is still to be moved away from nodes that drain; gives how many jobs were told."""
    draining = Node.objects.filter(draining_since__isnull=False).values_list("name", flat=True)
    return sum(_move_all(name) for name in draining)


@transaction.atomic
def undrain(node: Node) -> None:
    """Let it get jobs again. Whoever was to leave it, and has not been told yet, stays."""
    staying = [member for member in _told_by_drain(node) if not _is_told(member)]
    lock_jobs(member.attempt.job_id for member in staying)
    Member.objects.filter(pk__in=[m.pk for m in staying]).update(leaves_at=None, leaves_why="")
    Node.objects.filter(pk=node.pk).update(
        draining_since=None, drained_by=None, drain_reason="", set_aside_at=None, comings=[]
    )
    nodes_changed()
    for job_id in sorted({member.attempt.job_id for member in staying}):
        restand(job_id)


def _told_by_drain(node: Node) -> list[Member]:
    if node.draining_since is None:
        return []
    leaving = Member.objects.filter(node=node.name, settled_at=None, leaves_at__gte=node.draining_since)
    return list(leaving.filter(leaves_why=say_drained_by(node)).select_related("attempt"))


def _is_told(member: Member) -> bool:
    told = Command.objects.filter(attempt=member.attempt_id, node=member.node, kind=LeaveRunner.kind)
    return told.filter(created_at__gte=member.leaves_at).exists()


# -- doing it -----------------------------------------------------------------------------


def _move_all(name: str) -> int:
    jobs = _staying(name).values_list("attempt__job_id", flat=True).order_by("attempt__job_id")
    return sum(_move(job_id, name) for job_id in list(jobs))


def _staying(name: str) -> QuerySet[Member]:
    """Members of that node of which nobody has said that they shall leave."""
    members = Member.objects.filter(node=name, settled_at=None, leaves_at=None, attempt__ended_at=None)
    return members.filter(attempt__job__wanted=Wanted.RUN).exclude(phase=Phase.ENDED.value)


@transaction.atomic
def _move(job_id: int, name: str) -> bool:
    take_turn_of_events()
    lock_jobs([job_id])
    node = Node.objects.select_related("drained_by").get(name=name)
    member = _staying(name).filter(attempt__job=job_id).select_related("attempt__job").first()
    if member is None or node.draining_since is None:
        return False
    told = look_ahead(member, read_rooms())
    _note(member, node, told)
    _act(member, told, say_drained_by(node))
    nodes_changed()
    return True


def _note(member: Member, node: Node, told: Forecast) -> None:
    by = node.drained_by.username if node.drained_by else "regroup"
    said = {"by": by, "reason": node.drain_reason, "forecast": told.says, "effect": told.effect}
    note_asked("drain_asked", member.attempt_id, node.name, said)


def _act(member: Member, told: Forecast, why: str) -> None:
    job = member.attempt.job
    if told.effect == "relaunches":
        begin_without(member.attempt, member.node, why)
    else:
        Member.objects.filter(pk=member.pk).update(leaves_at=timezone.now(), leaves_why=why)
        restand(job.id)
    job_changed(job.id)
