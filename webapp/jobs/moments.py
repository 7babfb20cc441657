"""The recorded moments on the way into a round: of each node and rank, and the latest of each for the round.

Called by ingest inside its transaction, once for each record. Rows are read once and written once.

Of a node: ``fault`` (a signal was sent by hand), ``noticed`` (its runner knew that the round before is over),
``down`` (the workers of the round before are gone), ``begun`` (it set out to join; ``came`` for one that is
new), ``joined`` (it saw all that are in the round), ``formed``, ``starting``, ``started``. Of a rank: see
``agents.wire.runner_events.Milestone``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from agents.wire.events import CommandEnded
from agents.wire.runner_events import (
    AnyRunnerEvent,
    RendezvousBegun,
    RendezvousCompleted,
    RendezvousJoined,
    RestartBegun,
    RunnerStarted,
    WorkersReached,
    WorkersStarted,
    WorkersStarting,
)
from webapp.database import update_rows
from webapp.fleet.models import Command, Node

from .models import NodeMoments, Round

COMING = 0
"""The round to come, whose number nobody knows yet."""
FIRST_WINS = frozenset({"fault", "noticed", "begun", "came"})
"""Of a moment that is told twice on the way into one round, the first counts here; elsewhere the last."""

Moments = dict[str, Any]
"""By name ``{"at", "node", "rank", "n"}``: the latest, whose it is, and how many came past it."""
Key = tuple[str, int]
"""An attempt and the number of a round."""


@dataclass
class MomentsBook:
    """Of one transaction. ``write`` once at its end, after the rounds are there."""

    _rows: dict[tuple[str, str, int], NodeMoments | None] = field(default_factory=dict)
    _outdated: list[NodeMoments] = field(default_factory=list)
    _merged: dict[Key, list[tuple[str, datetime, str, int | None]]] = field(default_factory=dict)

    def take(self, event: AnyRunnerEvent) -> None:
        match event:
            case RunnerStarted():
                self._begin_anew(event.attempt, event.node)
            case RendezvousCompleted():
                self._note_of_node(event.attempt, event.node, COMING, "formed", event.at)
                self._give_number(event.attempt, event.node, event.round)
            case WorkersReached():
                for reached in event.reached:
                    self._note_of_rank(event, reached.what, reached.rank, reached.at)
            case _:
                for name, at, number in _of_node(event):
                    self._note_of_node(event.attempt, event.node, number, name, at)

    def take_kill(self, command: Command, event: CommandEnded) -> None:
        """A worker was sent a signal by hand: the node says when. By then the next round may be there."""
        sent_at = event.evidence.get("sent_at")
        # What Regroup itself kills by a job's policy is nobody's plan.
        if command.by_id is None or not isinstance(sent_at, (int, float)):
            return
        following = int(command.body["round"]) + 1
        is_there = self._row(command.attempt, command.node, following) is not None
        number = following if is_there else COMING
        at = datetime.fromtimestamp(float(sent_at), UTC)
        self._note_of_node(command.attempt, command.node, number, "fault", at)

    def write(self) -> None:
        for row in self._outdated:
            if row.pk is not None:
                row.delete()
        self._outdated.clear()
        kept = [row for row in self._rows.values() if row is not None]
        NodeMoments.objects.bulk_create([row for row in kept if row.pk is None])
        update_rows(
            [row for row in kept if row.pk is not None],
            ["round", "offset_s", "error_s", "of_node", "of_ranks"],
        )
        for (attempt, number), told in self._merged.items():
            _merge(attempt, number, told)
        self._rows.clear()
        self._merged.clear()

    # -- rows --

    def _row(self, attempt: str, node: str, number: int) -> NodeMoments | None:
        key = (attempt, node, number)
        if key not in self._rows:
            found = NodeMoments.objects.filter(attempt_id=attempt, node=node, round=number).first()
            self._rows[key] = found
        return self._rows[key]

    def _opened(self, attempt: str, node: str, number: int) -> NodeMoments:
        row = self._row(attempt, node, number)
        if row is None:
            offset_s, error_s = _clock_of(node)
            row = NodeMoments(attempt_id=attempt, node=node, round=number, offset_s=offset_s, error_s=error_s)
            self._rows[attempt, node, number] = row
        return row

    def _begin_anew(self, attempt: str, node: str) -> None:
        """Another runner of the node: what the one before it had begun comes to nothing."""
        row = self._row(attempt, node, COMING)
        if row is not None:
            row.of_node = {}

    def _give_number(self, attempt: str, node: str, number: int) -> None:
        row = self._opened(attempt, node, COMING)
        before = self._row(attempt, node, number)
        if before is not None:
            # A runner that died while the round was formed, which the others formed once more.
            self._outdated.append(before)
        row.round = number
        self._rows[attempt, node, number] = row
        self._rows[attempt, node, COMING] = None
        for name, told in row.of_node.items():
            self._tell_round(row, name, datetime.fromisoformat(told), None)

    # -- moments --

    def _note_of_node(self, attempt: str, node: str, number: int, name: str, at: datetime) -> None:
        row = self._opened(attempt, node, number)
        if name in row.of_node and name in FIRST_WINS:
            return
        aligned = at - timedelta(seconds=ahead_s(row))
        row.of_node[name] = aligned.isoformat()
        if number != COMING:
            self._tell_round(row, name, aligned, None)

    def _note_of_rank(self, event: WorkersReached, name: str, rank: int, at: datetime) -> None:
        row = self._opened(event.attempt, event.node, event.round)
        aligned = at - timedelta(seconds=ahead_s(row))
        row.of_ranks.setdefault(name, {})[str(rank)] = aligned.isoformat()
        self._tell_round(row, name, aligned, rank)

    def _tell_round(self, row: NodeMoments, name: str, at: datetime, rank: int | None) -> None:
        told = self._merged.setdefault((row.attempt_id, row.round), [])
        told.append((name, at, row.node, rank))


def _of_node(event: AnyRunnerEvent) -> Iterator[tuple[str, datetime, int]]:
    """What a record tells of its node: a moment, when, and on the way into which round."""
    match event:
        case RestartBegun():
            if event.noticed_at is not None:
                yield "noticed", event.noticed_at, COMING
            yield "down", event.at, COMING
        case RendezvousBegun():
            yield "came" if event.previous_round is None else "begun", event.at, COMING
        case RendezvousJoined():
            yield "joined", event.at, COMING
        case WorkersStarting():
            yield "starting", event.at, event.round
        case WorkersStarted():
            yield "started", event.at, event.round
        case _:
            return


def ahead_s(row: NodeMoments) -> float:
    """An offset that is smaller than its error says nothing: then the clocks are taken for the same."""
    if row.offset_s is None or abs(row.offset_s) <= (row.error_s or 0.0):
        return 0.0
    return row.offset_s


def _clock_of(node: str) -> tuple[float | None, float | None]:
    told = Node.objects.filter(name=node).values_list("clock_offset_s", "clock_error_s").first()
    return told or (None, None)


def _merge(attempt: str, number: int, told: list[tuple[str, datetime, str, int | None]]) -> None:
    row = Round.objects.filter(attempt_id=attempt, number=number).first()
    if row is None:
        return
    for name, at, node, rank in told:
        merge(row.moments, name, at, node, rank)
    Round.objects.filter(pk=row.pk).update(moments=row.moments)


def merge(moments: Moments, name: str, at: datetime, node: str, rank: int | None) -> None:
    """The latest counts; of ``came`` the first, as the others wait for the rest in joining."""
    held = moments.get(name)
    count = 1 if held is None else held["n"] + 1
    if held is not None and (datetime.fromisoformat(held["at"]) >= at) != (name == "came"):
        held["n"] = count
        return
    moments[name] = {"at": at.isoformat(), "node": node, "rank": rank, "n": count}
