"""Waiting for evidence after something was asked for: a command never says done for having asked."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

from .patience import Patience
from .refusals import ExitCode, Refusal, Unreachable
from .voice import Voice

Json = dict[str, Any]
T = TypeVar("T")

SOONEST_S, LONGEST_S = 0.15, 1.0


def ask_first(question: str, is_sure: bool) -> None:
    """On a terminal nothing is ended or moved before somebody said yes. Raises ``Refusal`` for a no."""
    if is_sure or not sys.stdin.isatty():
        return
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Refusal("Nothing was done.", ExitCode.FAILED)


def wait_for(look: Callable[[], T | None], voice: Voice, timeout_s: float, what: str) -> T:
    """Look until there is an answer, also across a hub that is away.

    Raises:
        Refusal: there was none in time, or somebody pressed Ctrl-C. What was asked for goes on all the same.
    """
    patience, pause_s, deadline = Patience(voice.insist), SOONEST_S, time.monotonic() + timeout_s
    try:
        while time.monotonic() < deadline:
            try:
                found = look()
                patience.relax()
            except Unreachable as error:
                patience.bear(error)
                continue
            if found is not None:
                return found
            time.sleep(pause_s)
            pause_s = min(LONGEST_S, 1.3 * pause_s)
    except KeyboardInterrupt:
        raise Refusal(
            f"No longer waiting for {what}, which goes on by itself.", ExitCode.INTERRUPTED
        ) from None
    finally:
        voice.hide()
    raise Refusal(f"After {timeout_s:g} s still waiting for {what}, which goes on by itself.")
