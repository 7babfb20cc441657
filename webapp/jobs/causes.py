"""Why each round began: the first cause apart from its consequences, and what says so.

What ended a round is told by its workers; what changed its nodes is told by the rounds themselves.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import cast

from webapp.events.models import Record
from webapp.fleet.models import Command

from .fault_rounds import killed_runners, planned_rounds
from .folded import runner_of
from .models import Member, Round, Worker
from .round_ends import Key, RoundEnds
from .round_why import has_died_since
from .timeline_schemas import CauseKind, CauseOut, ConsequenceKind, ConsequenceOut

FELT = ("cause", "unknown", "peer_lost")
"""Roles of workers that may have been what ended a round, the likeliest first."""
BY_PEOPLE = ("scaled", "drained")
"""How the reason begins for which a node leaves, where a person asked for it."""


class Causes:
    """Of all rounds of some attempts, from a few queries however many there are."""

    def __init__(self, rounds: Sequence[Round]) -> None:
        attempts = {row.attempt_id for row in rounds}
        self._rounds = {(row.attempt_id, row.number): row for row in rounds}
        self._ends = RoundEnds([before for row in rounds if (before := self._before(row))])
        self._kills = _kills(attempts)
        self._members = _members(attempts)
        self._scaled_at = _scaled_at(attempts)
        self._by_hand = _after_killed_runners(rounds)

    def _before(self, row: Round) -> Round | None:
        return self._rounds.get((row.attempt_id, row.number - 1))

    def cause(self, row: Round) -> CauseOut | None:
        """None for the first round of an attempt, and where a failure is not told yet."""
        before = self._before(row)
        if before is None:
            return None
        if row.cause == "membership":
            return self._membership(before, row)
        worker = first_cause(self._ends.telling(_key(before)), row.charged)
        return None if worker is None else self._of_worker(worker, row)

    def consequences(self, row: Round) -> list[ConsequenceOut] | None:
        """The other ranks of the round before. None: too many ranks ended since to list these."""
        before = self._before(row)
        workers = [] if before is None else self._ends.whole(_key(before))
        if workers is None:
            return None
        first = first_cause(workers, row.charged) if row.cause == "failure" else None
        return [consequence(worker) for worker in workers if worker is not first]

    def _of_worker(self, worker: Worker, row: Round) -> CauseOut:
        return CauseOut(
            kind=kind_of(worker),
            rank=worker.rank,
            node=worker.node,
            sentence=f"{row.why.rstrip('.')}." if row.why else "",
            source=worker.known_from or "what its runner said",
            planned=(worker.attempt_id, worker.pid, worker.start_time) in self._kills,
        )

    def _membership(self, before: Round, row: Round) -> CauseOut:
        left = [node for node in before.nodes if node not in row.nodes]
        came = [node for node in row.nodes if node not in before.nodes]
        node = next(iter(left or came), None)
        return CauseOut(
            kind=self._kind_of_move(before, row, node, bool(left)),
            rank=None,
            node=node,
            sentence=f"{row.why.rstrip('.')}." if row.why else "",
            source="the members of both rounds",
            planned=row.pk in self._by_hand or self._was_asked_for(before, row, left),
        )

    def _kind_of_move(self, before: Round, row: Round, node: str | None, has_left: bool) -> CauseKind:
        if node is None:
            return "formed_anew"
        if not has_left:
            return "node_joined"
        member = self._members.get((row.attempt_id, node))
        if member is not None and (runner_of(member).died or has_died_since(member, before.formed_at)):
            return "runner_died"
        return "node_lost" if "lapsed" in str(row.absent.get(node, "")) else "node_left"

    def _was_asked_for(self, before: Round, row: Round, left: Iterable[str]) -> bool:
        """By a person, between the two rounds."""
        members = (self._members.get((row.attempt_id, node)) for node in left)
        if any(member is not None and member.leaves_why.startswith(BY_PEOPLE) for member in members):
            return True
        return any(before.formed_at < at <= row.formed_at for at in self._scaled_at[row.attempt_id])


def first_cause(workers: Sequence[Worker], charged: str) -> Worker | None:
    """Of the workers of one round: signals and exceptions of one's own come before lost connections."""
    causes = [worker for worker in workers if worker.role == "cause"]
    mine = [worker for worker in causes if worker.node == charged]
    for found in (mine, *([w for w in workers if w.role == role] for role in FELT)):
        if found:
            return min(found, key=lambda w: (w.ended_at or w.started_at, w.rank))
    return None


def kind_of(worker: Worker) -> CauseKind:
    """Records of older runners tell no more than a signal, an error and an exit status."""
    if worker.ended_by not in ("", "stopped", "finished"):
        return cast(CauseKind, worker.ended_by)
    if worker.role == "peer_lost":
        return "peer_lost"
    if worker.signal:
        return "signal"
    if worker.error:
        return "exception"
    return "unknown" if worker.exit_code is None else "exit_code"


def consequence(worker: Worker) -> ConsequenceOut:
    kind = worker.role if worker.role in ("peer_lost", "stopped", "finished", "unknown") else kind_of(worker)
    return ConsequenceOut(rank=worker.rank, node=worker.node, kind=cast(ConsequenceKind, kind))


def _key(row: Round) -> Key:
    return row.attempt_id, row.number


def _kills(attempts: Iterable[str]) -> set[tuple[str, int, int]]:
    """Processes that somebody killed by the button."""
    sent = Command.objects.filter(kind="kill_worker", attempt__in=attempts).exclude(by=None)
    bodies = sent.exclude(state__in=("refused", "undelivered")).values_list("attempt", "body")
    return {(attempt, body["pid"], body["start_time"]) for attempt, body in bodies}


def _after_killed_runners(rounds: Sequence[Round]) -> set[int]:
    """Keys of the rounds that began because of it."""
    of: dict[str, list[Round]] = defaultdict(list)
    for row in sorted(rounds, key=lambda each: each.number):
        of[row.attempt_id].append(row)
    return planned_rounds(of, killed_runners(of))


def _members(attempts: Iterable[str]) -> dict[tuple[str, str], Member]:
    members = Member.objects.filter(attempt_id__in=attempts)
    return {(member.attempt_id, member.node): member for member in members}


def _scaled_at(attempts: Iterable[str]) -> dict[str, list[datetime]]:
    """When a person asked for another number of nodes."""
    found: dict[str, list[datetime]] = defaultdict(list)
    asked = Record.objects.filter(attempt__in=attempts, kind="scale_asked")
    for attempt, at in asked.values_list("attempt", "at"):
        found[attempt].append(at)
    return found
