"""Reads the rows into what draining a node would lead to, and what is still left on one that drains."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from agents.wire.lifecycle import Phase
from webapp.events.models import Record
from webapp.fleet.models import Node
from webapp.fleet.schemas import DrainForecast, JobForecast

from .folded import runner_of
from .forecast import Case, Forecast, Share, forecast
from .launch import is_fixed, need_again
from .meeting import wanted_endpoint
from .models import Attempt, Job, Member, Wanted
from .placement import Need, Placed, Room, can_host, choose, find_fitting
from .rooms import read_rooms
from .specs import spec_of
from .words import count

KEEPER_ENDS_S = 600.0
"""Long after the end of its attempt no store keeper is left."""


def forecast_drain(node: Node) -> DrainForecast:
    """What would become of each job on it. Nothing is done."""
    members = Member.objects.filter(node=node.name, settled_at=None).select_related("attempt__job")
    rooms, jobs = read_rooms(), []
    for member in members.order_by("attempt__job_id", "attempt__number"):
        told = look_ahead(member, rooms)
        rooms = _taken(rooms, told, member.slots)
        jobs.append(_out(member.attempt.job, told))
    return DrainForecast(node=node.name, jobs=jobs, says=_in_all(node.name, jobs))


def look_ahead(member: Member, rooms: Sequence[Room]) -> Forecast:
    """What becomes of the member's job when its node is drained, with that much room elsewhere."""
    return forecast(_case(member, rooms), member.node)


def _case(member: Member, rooms: Sequence[Room]) -> Case:
    attempt, job = member.attempt, member.attempt.job
    spec, need = spec_of(job), need_again(job)
    wanted = wanted_endpoint(spec)
    return Case(
        job=job.id,
        name=job.name,
        attempt=attempt.number,
        min_nodes=job.min_nodes,
        slots=member.slots,
        shares=_shares(attempt),
        store_host=attempt.store_host,
        is_fixed=is_fixed(spec),
        is_tied=wanted is not None and not _has_other_host(rooms, member.node, wanted.host),
        is_ending=job.wanted == Wanted.STOP or attempt.ended_at is not None,
        free=_free(rooms, member, need),
        anew=_anew(rooms, member, need),
    )


def _shares(attempt: Attempt) -> tuple[Share, ...]:
    members = attempt.members.filter(settled_at=None).exclude(phase=Phase.ENDED.value).order_by("node")
    return tuple(
        Share(node=m.node, is_spare=runner_of(m).is_spare, is_leaving=bool(m.leaves_at)) for m in members
    )


def _has_other_host(rooms: Sequence[Room], node: str, host: str) -> bool:
    return any(can_host(room, host) for room in rooms if room.node != node)


def _free(rooms: Sequence[Room], member: Member, need: Need) -> tuple[str, ...]:
    """Other nodes with room for the job, in the order in which they would be taken."""
    mine = _slots_of(member.attempt)
    return tuple(room.node for room in find_fitting(rooms, need) if room.node not in mine)


def _anew(rooms: Sequence[Room], member: Member, need: Need) -> tuple[str, ...]:
    """The nodes of another attempt, once this one has left its own; none where they would not do."""
    mine = _slots_of(member.attempt)
    left = [replace(room, free=room.free + mine.get(room.node, 0)) for room in rooms]
    answer = choose([room for room in left if room.node != member.node], need)
    return answer.nodes if isinstance(answer, Placed) else ()


def _slots_of(attempt: Attempt) -> dict[str, int]:
    return dict(attempt.members.filter(settled_at=None).values_list("node", "slots"))


def _taken(rooms: Sequence[Room], told: Forecast, slots: int) -> list[Room]:
    """What is free once that job has moved: two jobs cannot move to the same place."""
    return [replace(room, free=max(0, room.free - slots)) if room.node in told.to else room for room in rooms]


def _out(job: Job, told: Forecast) -> JobForecast:
    return JobForecast(
        job=job.id,
        name=job.name,
        effect=told.effect,
        to=list(told.to),
        nodes_before=told.nodes_before,
        nodes_after=told.nodes_after,
        says=told.says,
    )


def _in_all(node: str, jobs: list[JobForecast]) -> str:
    if not jobs:
        return f"Nothing of any job is on {node}: it is drained at once, and gets no jobs."
    return f"{node} gets no more jobs, and {count(len(jobs), 'job')} on it will be told to leave."


def stores_on(nodes: Iterable[Node]) -> dict[str, list[int]]:
    """Of nodes that drain: jobs whose store is still kept there. A keeper ends a moment after its attempt."""
    names = [node.name for node in nodes if node.draining_since is not None]
    lately = timezone.now() - timedelta(seconds=KEEPER_ENDS_S)
    hosted = Attempt.objects.filter(store_host__in=names).filter(Q(ended_at=None) | Q(ended_at__gte=lately))
    of = {attempt.id: attempt for attempt in hosted} if names else {}
    open_: set[str] = set()
    for kind, attempt in _keeper_records(of):
        (open_.add if kind == "keeper_started" else open_.discard)(attempt)
    found: dict[str, list[int]] = defaultdict(list)
    for attempt_id in sorted(open_):
        found[of[attempt_id].store_host].append(of[attempt_id].job_id)
    return found


def _keeper_records(attempts: Iterable[str]) -> list[tuple[str, str]]:
    kinds = ("keeper_started", "keeper_finished")
    records = Record.objects.filter(attempt__in=list(attempts), kind__in=kinds).order_by("id")
    return list(records.values_list("kind", "attempt"))
