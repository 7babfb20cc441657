"""Journals as nodes ship them: made-up sources with real records, as entries of a node's stream."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import redis

from agents.wire import streams
from agents.wire.events import AnyEvent, CommandEnded, NodeFacts, NodeStarted, RunnerSettled
from agents.wire.plain import to_json
from agents.wire.runner_events import (
    Claim,
    Progress,
    RankProgress,
    RendezvousBegun,
    RendezvousCompleted,
    RendezvousJoined,
    RestartBegun,
    Resumed,
    RunnerFinished,
    RunnerStarted,
    WorkerExited,
    WorkerRef,
    WorkersFinished,
    WorkersStarted,
    WorkersStarting,
)
from webapp.ingest.entries import Entry

BEGAN = datetime(2026, 3, 1, 14, 0, tzinfo=UTC)
_ids = count(1)


def entry(event: AnyEvent, text: str | None = None) -> Entry:
    return Entry(
        event.node, f"{next(_ids)}-0", event.source, event.seq, to_json(event) if text is None else text
    )


def entries(events: Iterable[AnyEvent]) -> list[Entry]:
    return [entry(event) for event in events]


def ship(bus: redis.Redis, events: Iterable[AnyEvent]) -> None:
    """Add the records to their nodes' streams, as the node agent does."""
    for event in events:
        bus.sadd(streams.NODES, event.node)
        fields: dict[Any, Any] = {
            streams.FIELD_SOURCE: event.source,
            streams.FIELD_SEQ: event.seq,
            streams.FIELD_BODY: to_json(event),
        }
        bus.xadd(streams.events(event.node), fields)


class NodeJournal:
    """What a node agent writes."""

    def __init__(self, node: str, journal_id: str = "1") -> None:
        self.node, self.source, self.events = node, streams.node_source(node, journal_id), list[AnyEvent]()

    def _base(self) -> dict[str, Any]:
        seq = len(self.events) + 1
        return {"source": self.source, "seq": seq, "at": BEGAN + timedelta(seconds=seq), "node": self.node}

    def started(self, slots: int = 2) -> NodeJournal:
        facts = NodeFacts(host="h", addresses=("127.0.0.1",), cpus=2, memory_bytes=1, slots=slots)
        self.events.append(NodeStarted(**self._base(), pid=1, facts=facts))
        return self

    def settled(self, attempt: str, incarnation: int = 1) -> NodeJournal:
        self.events.append(RunnerSettled(**self._base(), attempt=attempt, incarnation=incarnation))
        return self

    def command_ended(self, command: str, outcome: str, reason: str, **evidence: Any) -> NodeJournal:
        values: Any = {"outcome": outcome, "reason": reason, "evidence": evidence}
        self.events.append(CommandEnded(**self._base(), command=command, **values))
        return self


class RunnerJournal:
    """What the runner of one node writes; each method adds what belongs to one step of its life."""

    def __init__(
        self,
        attempt: str,
        node: str,
        nodes: Sequence[str],
        ranks: int = 2,
        began: datetime = BEGAN,
        incarnation: int = 1,
    ) -> None:
        self.attempt, self.node, self.nodes, self.ranks, self.began = (
            attempt,
            node,
            tuple(nodes),
            ranks,
            began,
        )
        self.source, self.round = streams.runner_source(attempt, node, incarnation), 0
        self.events = list[AnyEvent]()

    def add(self, kind: Any, **fields: Any) -> RunnerJournal:
        seq = len(self.events) + 1
        at = fields.pop("at", self.began + timedelta(seconds=seq))
        base = {"source": self.source, "seq": seq, "at": at, "attempt": self.attempt, "node": self.node}
        self.events.append(kind(**base, **fields))
        return self

    def workers(self) -> tuple[WorkerRef, ...]:
        first = self.nodes.index(self.node) * self.ranks
        return tuple(
            WorkerRef(rank=first + n, local_rank=n, pid=1000 * self.round + first + n, start_time=self.round)
            for n in range(self.ranks)
        )

    def start(self) -> RunnerJournal:
        return self.add(
            RunnerStarted,
            pid=7,
            start_time=7,
            boot_id="b",
            python="python3",
            torch_version="2.13.0",
            endpoint="127.0.0.1:29400",
            hosts_store=self.node == self.nodes[0],
        )

    def form(
        self, cause: str = "start", charged: str | None = None, claims: tuple[Claim, ...] = ()
    ) -> RunnerJournal:
        """A rendezvous, from setting out to the formed round."""
        self.add(RendezvousBegun, cause=cause, previous_round=self.round or None)
        self.add(
            RendezvousJoined, joined=self.nodes, expected=self.nodes, min_nodes=1, max_nodes=len(self.nodes)
        )
        self.round += 1
        return self.add(
            RendezvousCompleted,
            round=self.round,
            world_size=len(self.nodes) * self.ranks,
            group_rank=self.nodes.index(self.node),
            nodes=self.nodes,
            cause=cause,
            charged=charged,
            claims=claims,
        )

    def come_up(self) -> RunnerJournal:
        workers = self.workers()
        self.add(WorkersStarting, round=self.round, ranks=tuple(worker.rank for worker in workers))
        return self.add(WorkersStarted, round=self.round, workers=workers)

    def progress(self, step: int) -> RunnerJournal:
        ranks = tuple(RankProgress(rank=worker.rank, step=step) for worker in self.workers())
        return self.add(Progress, round=self.round, ranks=ranks)

    def resumed(self, step: int) -> RunnerJournal:
        return self.add(Resumed, round=self.round, rank=self.workers()[0].rank, step=step, path="/c/1.pt")

    def exit(self, local_rank: int, role: str, said: str, **fields: Any) -> RunnerJournal:
        return self.add(
            WorkerExited, round=self.round, worker=self.workers()[local_rank], role=role, said=said, **fields
        )

    def restart(self, cause: str = "failure", counter: int = 1) -> RunnerJournal:
        return self.add(RestartBegun, round=self.round, cause=cause, torch_counter=counter)

    def finish_well(self) -> RunnerJournal:
        for local_rank in range(self.ranks):
            self.exit(local_rank, "finished", "exited with code 0", exit_code=0)
        return self.add(WorkersFinished, round=self.round)

    def end(self, outcome: str, reason: str, inferred: bool = False, **more: Any) -> RunnerJournal:
        ended = {"outcome": outcome, "reason": reason, "round": self.round or None, **more}
        return self.add(RunnerFinished, inferred=inferred, **ended)


def killed_and_back(attempt: str, nodes: Sequence[str]) -> list[RunnerJournal]:
    """Two rounds: the last rank of the last node is killed, its peers lose it, all come back and train."""
    victim = nodes[-1]
    claims = (Claim(node=victim, role="cause", ranks=(2 * len(nodes) - 1,)),)
    journals = []
    for node in nodes:
        journal = RunnerJournal(attempt, node, nodes).start().form().come_up().progress(5)
        if node == victim:
            journal.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL")
            journal.exit(0, "stopped", "stopped by the runner (SIGTERM)", signal="SIGTERM")
        else:
            for local_rank in range(2):
                journal.exit(local_rank, "peer_lost", "lost its connection to another worker", exit_code=1)
        journals.append(journal.restart().form("failure", victim, claims).come_up().resumed(4).progress(9))
    return journals
