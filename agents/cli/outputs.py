"""Which outputs a job has, and which of them are over, as its records tell. No clock, no network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

STREAMS = ("stdout", "stderr")


@dataclass(frozen=True, order=True)
class Output:
    """One stream of one worker's life: a file on its node."""

    attempt: int
    round: int
    rank: int
    local_rank: int
    node: str
    stream: str


@dataclass
class Outputs:
    """Those that have not been read to their end, in the order in which they began."""

    ranks: frozenset[int] | None = None
    """Only these; None: all."""
    streams: tuple[str, ...] = STREAMS
    open: dict[Output, None] = field(default_factory=dict)
    over: set[Output] = field(default_factory=set)
    """Of those that are open: they grow no more."""
    _newest: dict[tuple[int, str], Output] = field(default_factory=dict)

    def note(self, record: Mapping[str, Any], attempt: int) -> None:
        """One record of a runner. Those that say nothing of workers change nothing."""
        body, node = record["body"], record["node"]
        match record["kind"]:
            case "workers_started":
                self.add(attempt, body["round"], node, body["workers"])
            case "worker_exited":
                self._end(attempt, body["round"], node, body["worker"]["rank"])
            case "restart_begun":
                self._end(attempt, body["round"], node)
            case "runner_finished":
                self._end(attempt, None, node)

    def add(self, attempt: int, round_number: int, node: str, workers: Iterable[Mapping[str, Any]]) -> None:
        for worker in workers:
            if self.ranks is not None and worker["rank"] not in self.ranks:
                continue
            for stream in self.streams:
                self._add(Output(attempt, round_number, worker["rank"], worker["local_rank"], node, stream))

    def _add(self, output: Output) -> None:
        """A rank is one worker at a time: what it wrote before is over once it has a newer output."""
        older = self._newest.get((output.rank, output.stream))
        if older is not None and older >= output:
            return
        if older in self.open:
            self.over.add(older)
        self._newest[output.rank, output.stream] = output
        self.open[output] = None

    def _end(self, attempt: int, round_number: int | None, node: str, rank: int | None = None) -> None:
        self.over.update(
            one
            for one in self.open
            if (one.attempt, one.node) == (attempt, node)
            and round_number in (None, one.round)
            and rank in (None, one.rank)
        )

    def end_all(self) -> None:
        """The job is over."""
        self.over.update(self.open)

    def close(self, output: Output) -> None:
        """It has been read to its end."""
        self.open.pop(output, None)
        self.over.discard(output)
