"""One output being read from where the last look ended, so that no line is lost or comes twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .outputs import Output
from .voice import Voice

NEWLINE = "\n"

LINES = 500
"""As many as the hub gives at once."""
WHOLE_SLICE_BYTES = 256 * 1024
"""As much as a node gives at once. A line that fills it is given in pieces."""

SOONEST_S, SETTLED_S, PATIENCE_S = 0.2, 1.2, 10.0
"""The pause after a look that brought something. How long after a worker's end the last look has to come:
a node gives a line without an end once its writer has paused for a second. And how long a node that gives
nothing at all is asked on after that."""


@dataclass(frozen=True)
class Piece:
    text: str
    is_whole: bool
    """It ends with the end of its line."""


@dataclass
class Reading:
    output: Output
    offset: int = 0
    over_since: float | None = None
    """By the monotonic clock, when it was first known to grow no more."""
    due: float = 0.0
    pause_s: float = SOONEST_S
    problem: str = ""
    """Why the newest look brought nothing, in the hub's words."""
    dropped_bytes: int = 0
    """Of what had not been read yet, so much was dropped by the job's own limit for logs."""
    is_done: bool = False
    tail: int | None = None
    """Begin with so many last lines; None: at the beginning, or with where the last look ended."""

    def question(self) -> dict[str, str | int]:
        """What to ask the hub for, as the next look."""
        one = self.output
        asked: dict[str, str | int] = {"attempt": one.attempt, "round": one.round, "rank": one.rank}
        asked["stream"] = one.stream
        where = {"after": str(self.offset)} if self.tail is None else {}
        return {**asked, **where, "limit": LINES if self.tail is None else self.tail}

    def take(self, page: Mapping[str, Any], asked_at: float, longest_s: float) -> list[Piece]:
        """What a look at ``asked_at`` brought; notes when to look again, or that all has been read."""
        self.problem = _problem_of(page)
        pieces = [] if self.problem else self._pieces(page)
        is_settled = self.over_since is not None and asked_at >= self.over_since + SETTLED_S
        self.is_done = not pieces and is_settled and (not self.problem or self._is_given_up(asked_at))
        self.pause_s = SOONEST_S if pieces else min(longest_s, 2 * self.pause_s)
        self.due = asked_at if len(page["items"]) >= LINES else asked_at + self.pause_s
        if self.over_since is not None and not is_settled:
            self.due = min(self.due, max(asked_at, self.over_since + SETTLED_S))
        return pieces

    def _is_given_up(self, now: float) -> bool:
        return self.over_since is not None and now >= self.over_since + PATIENCE_S

    def _pieces(self, page: Mapping[str, Any]) -> list[Piece]:
        lines, end = page["items"], int(page["next"])
        if not lines:
            self.tail, self.offset = None, max(self.offset, end)
            return []
        if not self.tail:
            self.dropped_bytes += max(0, lines[0]["offset"] - self.offset)
        self.tail, last = None, lines[-1]
        last_bytes = end - last["offset"]
        is_whole = _has_end(last["text"], last_bytes)
        pieces = [Piece(line["text"], True) for line in lines[:-1]]
        if is_whole or self.over_since is not None or last_bytes >= WHOLE_SLICE_BYTES:
            self.offset = end
            return [*pieces, Piece(last["text"], is_whole)]
        # It is still being written: it is read again when it is whole.
        self.offset = last["offset"]
        return pieces


def _problem_of(page: Mapping[str, Any]) -> str:
    """Why there are no lines in it, if that is not because there are none."""
    away = page.get("unread") or [] if not page["items"] else []
    return page["problem"] or " ".join(one["why"] for one in away)


def _has_end(text: str, size: int) -> bool:
    """Whether a line of so many bytes has its end. Where bytes were replaced, it is taken to have."""
    return "\ufffd" in text or size > len(text.encode())


def say_missing(reading: Reading) -> str:
    """What could not be shown of that output, as a sentence. Empty: all of it was shown."""
    name = f"the {reading.output.stream} of rank {reading.output.rank} in round {reading.output.round}"
    if reading.dropped_bytes:
        return f"Of {name} {reading.dropped_bytes} bytes are gone: the job's log_max_bytes left no more."
    return (
        f"{name[0].upper()}{name[1:]} could not be read to its end: {reading.problem}"
        if reading.problem
        else ""
    )


def show(voice: Voice, output: Output, pieces: Sequence[Piece], prefix: str) -> None:
    """Give them out: as they are behind the prefix, or each as a document."""
    if not voice.as_json:
        texts = (f"{prefix}{one.text}{NEWLINE * one.is_whole}" for one in pieces)
        voice.output(output.stream, texts, output)
        return
    where = {"attempt": output.attempt, "round": output.round, "rank": output.rank, "node": output.node}
    for piece in pieces:
        voice.document({"kind": "line", **where, "stream": output.stream, "text": piece.text})
