"""Waiting for what must come true, with a deadline, instead of sleeping."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Literal, TypeVar

T = TypeVar("T")

LENIENCE = float(os.environ.get("REGROUP_TEST_LENIENCE", "3"))
"""A deadline tells what never comes. How fast a machine is, and what else it does, is not tested."""
SHORTEST_S, LONGEST_S = 0.02, 0.4
"""Between looks, which get rarer: who asks the hub over and over takes a core from what is tested."""


def wait_until(
    condition: Callable[[], T | Literal[False] | None], timeout_s: float = 20.0, what: str = ""
) -> T:
    """Call ``condition`` until it gives something truthy, and return that.

    Raises:
        AssertionError: it did not within ``timeout_s`` times ``LENIENCE``; says what was waited for, and the
            last answer.
    """
    timeout_s *= LENIENCE
    deadline, pause_s = time.monotonic() + timeout_s, SHORTEST_S
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            name = what or getattr(condition, "__name__", "the condition")
            raise AssertionError(f"waited {timeout_s:g} s for {name}; last answer: {answer!r}")
        time.sleep(pause_s)
        pause_s = min(LONGEST_S, 1.1 * pause_s)


def ms(seconds: float) -> float:
    """The same deadline for a browser, which counts in milliseconds."""
    return 1000 * LENIENCE * seconds
