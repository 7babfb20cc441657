"""How the rounds of a runner ended, read from its journal record by record. Pure.

A round has failed where a worker failed, on whichever node: a node that only felt it learns so from the
claims of the next rendezvous, or from the end of its runner.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

Record = dict[str, Any]

MOST_RECORDS = 400
"""Of one round. What comes all the time, such as progress, is kept only in its newest record of each kind."""
QUIET = frozenset({"progress", "activity"})
_ENDS = frozenset({"failed", "unknown"})


@dataclass(frozen=True)
class RoundEnd:
    """How a round ended for this node."""

    round: int
    has_failed: bool
    was_forced: bool
    """SIGTERM did not end all its workers within the grace."""
    cause: str
    """In words, as far as this node knows."""
    rank: int | None
    """The rank that failed first, where it is one of this node's."""
    roles: dict[int, str]
    """How each rank of this node ended."""
    records: tuple[str, ...]
    """What the runner recorded of it, each a line of JSON."""


@dataclass
class Rounds:
    """``was_looked_at`` and ``was_forced`` say of a round whether the runner noted how its workers stood."""

    was_looked_at: Callable[[int], bool]
    was_forced: Callable[[int], bool]
    round: int = 0
    """The newest that has had workers."""
    outcome: str = ""
    """How the runner ended; empty while it runs."""
    reason: str = ""
    _is_open: bool = False
    """Its workers were started, and nothing has been said of its end."""
    _undecided: RoundEnd | None = None
    """It has ended here, and whether that was a failure the next record tells."""
    _lines: deque[str] = field(default_factory=lambda: deque(maxlen=MOST_RECORDS))
    _newest: dict[str, str] = field(default_factory=dict)
    _exits: list[Record] = field(default_factory=list)

    def take(self, text: str) -> list[RoundEnd]:
        """One line of the journal. Gives the rounds of which it tells how they ended."""
        record = _read(text)
        kind = record.get("kind")
        if kind in QUIET:
            self._newest[str(kind)] = text
            return []
        if kind == "rendezvous_begun":
            self._lines.clear()
        self._lines.append(text)
        match kind:
            case "workers_starting":
                self._begin(int(record["round"]))
            case "worker_exited":
                self._exits.append(record)
            case "restart_begun":
                return self._restart(record)
            case "rendezvous_completed":
                return self._decide(record.get("cause") == "failure", _say_claims(record))
            case "runner_finished":
                return self._finish(record)
        return []

    def _begin(self, number: int) -> None:
        self.round, self._is_open = number, True
        self._exits.clear()
        self._newest.clear()

    def _restart(self, record: Record) -> list[RoundEnd]:
        self._is_open = False
        if record["cause"] == "failure":
            return [self._end(has_failed=True, cause="")]
        self._undecided = self._end(has_failed=False, cause="")
        return []

    def _decide(self, has_failed: bool, cause: str) -> list[RoundEnd]:
        """Whether the round that has ended here failed elsewhere."""
        end, self._undecided = self._undecided, None
        return [] if end is None else [replace(end, has_failed=has_failed, cause=end.cause or cause)]

    def _finish(self, record: Record) -> list[RoundEnd]:
        self.outcome, self.reason = str(record["outcome"]), str(record["reason"])
        # A runner that was asked to stop does not look at its workers: one that did was stopped by a failure.
        is_failure = self.outcome in _ENDS or (self.outcome == "stopped" and self.was_looked_at(self.round))
        if not self._is_open:
            return self._decide(is_failure, self.reason)
        self._is_open = False
        return [self._end(is_failure, self.reason)]

    def _end(self, has_failed: bool, cause: str) -> RoundEnd:
        first = next((one for one in self._exits if one["role"] == "cause"), None)
        return RoundEnd(
            round=self.round,
            has_failed=has_failed,
            was_forced=self.was_forced(self.round),
            cause=_say(first) if first else cause or _say_lost(self._exits),
            rank=int(first["worker"]["rank"]) if first else None,
            roles={int(one["worker"]["rank"]): str(one["role"]) for one in self._exits},
            records=(*self._lines, *self._newest.values()),
        )


def _read(text: str) -> Record:
    try:
        record = json.loads(text)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _say(exited: Record) -> str:
    said = str(exited["said"]).rstrip(".")
    was = "was " if said.startswith(("killed", "stopped")) else ""
    return f"Rank {exited['worker']['rank']} on {exited['node']} {was}{said}."


def _say_lost(exits: list[Record]) -> str:
    lost = [str(one["worker"]["rank"]) for one in exits if one["role"] == "peer_lost"]
    return f"Rank {', '.join(lost)} lost the connection to another worker." if lost else ""


def _say_claims(record: Record) -> str:
    causes = [claim for claim in record.get("claims", ()) if claim.get("role") == "cause"]
    told = [f"rank {', '.join(map(str, claim['ranks']))} on {claim['node']}" for claim in causes]
    return f"The first to fail: {'; '.join(told)}." if told else "A worker on another node failed."
