"""Reads metrics from what workers write: a process of its own, run as a file, standard library alone.

A costly regular expression holds the interpreter that runs it, and the runner must not be held. Whoever
starts it writes lines of JSON to its stdin: ``{"patterns": […], "healthy": …}`` first, ``{"ranks": {rank:
folder}}`` for each round, and ``{"catch_up": n}``, which is answered with ``n`` on stdout once all that is
there has been read. What it finds it appends to the ranks' report files, as ``agents/report.py`` does, and at
a line that ``healthy`` matches it writes the file ``matched`` (see ``agents/stall_marks.py``). It ends with
its stdin.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import select
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

LOOK_S = 0.2
MOST_BYTES = 256 * 1024
"""Of output that came since the last look only the end is read: of progress the newest counts."""
LONGEST_LINE = 2000
LIMIT_S = 0.05
"""Seconds of computing that one pattern may take for one line."""
STRIKES = 3
"""A pattern that took too long so many times is not looked for any more."""
STREAMS = ("stdout.log", "stderr.log")
STEP, TOTAL = "step", "total"

_ENDS = re.compile(rb"[\r\n]")
_COLOURS = re.compile(r"\x1b\[[0-9;:]*[A-Za-z]")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")


def number(text: str) -> float | None:
    """``1,234.5`` and ``1e-3``. None for anything else, and for what is infinite or no number."""
    text = text.strip()
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


class TooLong(Exception):
    """A pattern took more computing than it may."""


class Pattern:
    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = re.compile(text)
        self._strikes = 0

    @property
    def is_given_up(self) -> bool:
        return self._strikes >= STRIKES

    def find(self, line: str) -> dict[str, float]:
        """The numbers in its named groups; none where it is not in the line, or took too long."""
        match = self.search(line)
        texts = match.groupdict() if match else {}
        found = {name: number(text) for name, text in texts.items() if text is not None}
        return {name: value for name, value in found.items() if value is not None}

    def search(self, line: str) -> re.Match[str] | None:
        """None also where that took too long."""
        if self.is_given_up:
            return None
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT_S)
            return self._compiled.search(line)
        except TooLong:
            self._strikes += 1
            if self.is_given_up:
                say(f"the pattern {self.text!r} takes too long, and is not looked for any more; simplify it")
            return None
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def give_up(signum: int, frame: object) -> None:
    raise TooLong


class Log:
    """One stream of a rank, read on from where the last look ended."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._offset = 0
        self._torn = b""
        """The beginning of a line whose end has not been written yet."""

    def lines(self) -> Iterator[str]:
        pieces = _ENDS.split(self._torn + self._news())
        self._torn = pieces.pop()[-MOST_BYTES:]
        for piece in pieces:
            yield _COLOURS.sub("", piece[:LONGEST_LINE].decode("utf-8", "replace"))

    def _news(self) -> bytes:
        try:
            size = os.stat(self._path).st_size
            if size == self._offset:
                return b""
            begin = self._offset if self._offset < size else 0
            if size - begin > MOST_BYTES:
                begin, self._torn = size - MOST_BYTES, b""
            with open(self._path, "rb") as file:
                file.seek(begin)
                data = file.read(size - begin)
        except OSError:
            return b""
        self._offset = begin + len(data)
        return data


class Rank:
    """What the output of one rank has told so far: the newest of each."""

    def __init__(self, folder: str) -> None:
        self._logs = [Log(os.path.join(folder, name)) for name in STREAMS]
        self._report = os.path.join(folder, "report.jsonl")
        self._matched = os.path.join(folder, "matched")
        self.step: int | None = None
        self.total: int | None = None
        self.metrics: dict[str, float] = {}

    def look(self, patterns: list[Pattern], healthy: Pattern | None) -> None:
        has_news = is_healthy = False
        for log in self._logs:
            for line in log.lines():
                for pattern in patterns:
                    has_news = self.take(pattern.find(line)) or has_news
                is_healthy = is_healthy or (healthy is not None and tells_health(line, healthy))
        if is_healthy:
            self._say_healthy()
        # Without a step there is no progress to tell; what else was found waits for one.
        if has_news and self.step is not None:
            self._tell()

    def _say_healthy(self) -> None:
        try:
            with open(self._matched, "w") as file:
                file.write("1")
        except OSError:
            return

    def take(self, found: dict[str, float]) -> bool:
        """Whether that is anything."""
        for name, value in found.items():
            if name not in (STEP, TOTAL):
                self.metrics[name] = value
            elif value >= 0 and value == int(value):
                setattr(self, name, int(value))
        return bool(found)

    def _tell(self) -> None:
        told = {
            "kind": "log",
            "step": self.step,
            "total": self.total,
            "metrics": self.metrics,
            "at": time.time(),
        }
        try:
            file = os.open(self._report, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError:
            return
        try:
            os.write(file, json.dumps(told).encode() + b"\n")
        except OSError:
            pass  # a disk that is full; the newest is told with the next line
        finally:
            os.close(file)


def tells_health(line: str, healthy: Pattern) -> bool:
    """With a pattern that had to be given up any line does: nobody is called stalled for that."""
    return healthy.is_given_up or healthy.search(line) is not None


class Watch:
    def __init__(self) -> None:
        self._patterns: list[Pattern] = []
        self._healthy: Pattern | None = None
        self._ranks: list[Rank] = []

    def obey(self, message: dict[str, Any]) -> None:
        if "patterns" in message:
            self._patterns = [Pattern(text) for text in message["patterns"]]
        if message.get("healthy"):
            self._healthy = Pattern(message["healthy"])
        if "ranks" in message:
            self._ranks = [Rank(folder) for folder in message["ranks"].values()]
        if "catch_up" in message:
            self.look()
            os.write(1, b"%d\n" % message["catch_up"])

    def look(self) -> None:
        for rank in self._ranks:
            rank.look(self._patterns, self._healthy)


def say(text: str) -> None:
    """Into the runner's log."""
    try:
        os.write(2, text.encode() + b"\n")
    except OSError:
        return


def main() -> int:
    signal.signal(signal.SIGVTALRM, give_up)
    watch, torn = Watch(), b""
    while True:
        if select.select([0], [], [], LOOK_S)[0]:
            data = os.read(0, 1 << 16)
            if not data:
                return 0
            *lines, torn = (torn + data).split(b"\n")
            for line in lines:
                watch.obey(json.loads(line))
        # The timer may go off just after the pattern that it was set for.
        with contextlib.suppress(TooLong):
            watch.look()


if __name__ == "__main__":
    sys.exit(main())
