"""Reads what ``faulthandler`` writes of the stacks of all threads. Pure."""

from __future__ import annotations

import re

from ..wire.stacks import Frame, ThreadStack

_THREAD = re.compile(r"^(?P<current>Current thread|Thread) 0x[0-9a-f]+(?: \[(?P<name>[^\]]*)\])? ")
_FRAME = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+)(?: in (?P<name>.*))?$')


def read_faulthandler(text: str) -> tuple[ThreadStack, ...]:
    """The thread that took the signal, which is the main one, comes first. Other lines are passed over."""
    threads: list[tuple[bool, str, list[Frame]]] = []
    for line in text.splitlines():
        if begun := _THREAD.match(line):
            threads.append((begun["current"] == "Current thread", begun["name"] or "", []))
        elif threads and (frame := _FRAME.match(line)):
            threads[-1][2].append(
                Frame(name=frame["name"] or "?", file=frame["file"], line=int(frame["line"]))
            )
    ordered = sorted(threads, key=lambda thread: not thread[0])
    return tuple(ThreadStack(name=name, frames=tuple(frames)) for _, name, frames in ordered if frames)
