"""Does what an attempt needs: rows and commands, nothing else. What is due is decided in ``needs``.

Everything here happens in the caller's transaction, which has locked the job: a step is taken whole or not at
all, and one that has been taken is not due any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from uuid import uuid4

from django.utils import timezone

from agents.wire.commands import LeaveRunner
from agents.wire.endpoint import parse_endpoint
from agents.wire.lifecycle import JobState, Phase, RunnerState
from webapp.database import take_turns
from webapp.fleet.models import Command, CommandState
from webapp.fleet.outbox import OPEN, write_command
from webapp.live.notify import nodes_changed

from .facts import current_attempt, facts_of
from .folded import state_to_dict
from .in_line import Growth, read_growth
from .launch import find_started, grace_of, need_now, settle_unstarted, start_members
from .models import Attempt, Job, Member, Wanted
from .needs import Add, LetGo, Replace, StartAgain, Step, TellToLeave, decide, may_return, taking_part
from .placement import LOOPBACK, Need, Room, find_fitting
from .rooms import read_rooms
from .situation import JobFacts, MemberFacts

RETURN_S = 24 * 3600.0
"""How long a node that is not heard may take to come back and still hear that it is to leave."""
ANSWERED = (*OPEN, CommandState.DONE)


def keep_at_strength(job: Job, facts: JobFacts) -> tuple[JobFacts, bool]:
    """Take the steps that are due; gives the facts as they are then, and whether anything was done."""
    attempt = current_attempt(job)
    if attempt is None or JobState(job.state).is_terminal or job.wanted != Wanted.RUN:
        return facts, False
    repair = _Repair(attempt, facts)
    for _ in range(3):
        # What a step leaves to be done, such as telling the node that was let go, is decided anew.
        if not repair.take(decide(repair.facts)):
            break
        repair.facts = facts_of(job)
    return replace(repair.facts, has_no_room=repair.has_no_room), repair.has_acted


@dataclass
class _Repair:
    attempt: Attempt
    facts: JobFacts
    has_no_room: bool = False
    has_acted: bool = False
    _rooms: list[Room] | None = field(default=None)
    _growth: Growth | None = field(default=None)

    def take(self, steps: Sequence[Step]) -> bool:
        """Whether any of them changed something. Nobody is told to leave before it is clear who comes."""
        telling = [step for step in steps if isinstance(step, TellToLeave)]
        taken = [self._take(step) for step in steps if step not in telling]
        if not any(taken):
            taken = [self._take(step) for step in telling]
        if not any(taken):
            return False
        start_members(self.attempt)
        self.has_acted = True
        nodes_changed()
        return True

    def _take(self, step: Step) -> bool:
        match step:
            case StartAgain(node):
                return self._start_again(node)
            case Replace(node):
                return self._replace(node)
            case Add():
                return self._add(grows=self._is_growth()) is not None
            case LetGo(node, why):
                return self._let_go(node, why)
            case TellToLeave(node):
                return self._tell_to_leave(node)

    def _member(self, node: str) -> MemberFacts:
        return next(member for member in self.facts.members if member.node == node)

    # -- coming --

    def _start_again(self, node: str) -> bool:
        """The next runner of a node whose last one died; what it has spent goes on to the next."""
        seen = self._member(node)
        died_at = seen.runner.since or timezone.now()
        deaths = [*(at.isoformat() for at in seen.deaths), died_at.isoformat()]
        return self._begin_anew(seen, deaths, seen.slots)

    def _begin_anew(self, seen: MemberFacts, deaths: list[str], slots: int) -> bool:
        fresh = RunnerState(charged=seen.runner.charged)
        row = self.attempt.members.filter(node=seen.node, incarnation=seen.incarnation)
        return bool(
            row.exclude(settled_at=None).update(
                incarnation=seen.incarnation + 1,
                folded=state_to_dict(fresh),
                phase=Phase.LAUNCHING.value,
                slots=slots,
                deaths=deaths,
                source="",
                started_at=None,
                settled_at=None,
                leaves_at=None,
                leaves_why="",
            )
        )

    def _replace(self, node: str) -> bool:
        came = self._add(grows=False)
        return came is not None and self._let_go(node, f"{came} takes its place")

    def _add(self, grows: bool) -> str | None:
        """One node more, where there is room; gives its name. What grows takes nothing from the queue."""
        need = need_now(self.attempt.job)
        room = self._next_room(need, grows)
        if room is None:
            self.has_no_room = True
            return None
        slots = need.on(room)
        before = next((m for m in self.facts.members if m.node == room.node), None)
        if before is None:
            Member.objects.create(attempt=self.attempt, node=room.node, slots=slots)
        elif not self._begin_anew(before, [at.isoformat() for at in before.deaths], slots):
            return None
        return room.node

    def _is_growth(self) -> bool:
        """Whether it can do without: it has what it needs, and nobody has asked for a number of nodes."""
        return self.facts.takes_what_is_free and len(taking_part(self.facts)) >= self.facts.min_nodes

    def _next_room(self, need: Need, grows: bool) -> Room | None:
        if self._rooms is None:
            self._rooms = self._find_rooms(need)
        growth = self._read_growth(grows) if self._rooms else None
        found = next((r for r in self._rooms if growth is None or growth.allows(r.node, need.on(r))), None)
        if found is not None:
            self._rooms.remove(found)
            if growth is not None:
                growth.take(need.on(found))
        return found

    def _read_growth(self, grows: bool) -> Growth | None:
        """None: it may take what it finds."""
        if grows and self._growth is None:
            self._growth = read_growth(self.attempt.job)
        return self._growth if grows else None

    def _find_rooms(self, need: Need) -> list[Room]:
        """Nodes that have not been in the attempt come first, then those that may come back to it."""
        # Of two that look for room at once, the second has to see what the first has taken.
        take_turns("placing")
        rooms, now = self._in_reach(read_rooms()), timezone.now()
        known = {member.node: member for member in self.facts.members}
        fitting = find_fitting(rooms, need)
        back = [room for room in fitting if room.node in known and may_return(known[room.node], now)]
        return [room for room in fitting if room.node not in known] + back

    def _in_reach(self, rooms: list[Room]) -> list[Room]:
        """A store on loopback is reached from its own machine alone."""
        if not self._is_on_loopback():
            return rooms
        machine = next((room.machine for room in rooms if room.node == self.attempt.store_host), "")
        return [room for room in rooms if room.machine == machine]

    def _is_on_loopback(self) -> bool:
        if not self.attempt.store_host or not self.attempt.endpoint:
            return False
        return parse_endpoint(self.attempt.endpoint, 0).host in LOOPBACK

    # -- leaving --

    def _let_go(self, node: str, why: str) -> bool:
        row = self.attempt.members.filter(node=node, leaves_at=None)
        return bool(row.update(leaves_at=timezone.now(), leaves_why=why))

    def _tell_to_leave(self, node: str) -> bool:
        """Once. A node that did not answer is told again when it is heard."""
        seen = self._member(node)
        if (node, seen.incarnation) not in find_started(self.attempt):
            settle_unstarted(self.attempt.members.get(node=node))
            return True
        told = Command.objects.filter(attempt=self.attempt.id, node=node, kind=LeaveRunner.kind)
        told = told.filter(created_at__gte=seen.leaves_at)
        if told.filter(state__in=ANSWERED).exists() or (told.exists() and seen.is_unheard):
            return False
        command = LeaveRunner(
            id=str(uuid4()),
            deadline_s=RETURN_S if seen.is_unheard else LeaveRunner.deadline_s,
            by="regroup",
            why=seen.leaves_why,
            attempt=self.attempt.id,
            grace_s=grace_of(self.attempt.job),
        )
        write_command(node, command, job=self.attempt.job_id, attempt=self.attempt.id)
        return True
