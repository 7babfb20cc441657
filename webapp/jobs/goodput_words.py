"""What a job's wall time went to, in one sentence. Pure."""

from __future__ import annotations

import math

from .goodput_parts import Goodput
from .words import count

UNITS = ((86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"))


def say_goodput(told: Goodput) -> str:
    wall = say_seconds(told.wall_s)
    if told.wall_s - told.seconds("queue") < 1e-3:
        return f"All of its {wall} went to the queue."
    if told.share is None:
        return f"How much of its {wall} went to training is not known: no step has been reported."
    sentence = f"Of {wall}, {_percent(told.share)} went to training; {_restarts(told)}"
    again_s, unknown_s = told.seconds("redone"), told.seconds("unknown")
    sentence += f", and steps made again cost {say_seconds(again_s)}" if again_s else ""
    sentence += f"; what {say_seconds(unknown_s)} went to is not known" if unknown_s else ""
    return f"{sentence}{_untold(told)}."


def _restarts(told: Goodput) -> str:
    if not told.restarts:
        return "there was no restart"
    cost = f"cost {say_seconds(told.restarts_s)}"
    if told.restarts == 1:
        return f"1 restart{', a planned one,' if told.planned else ''} {cost}"
    return f"{count(told.restarts, 'restart')}{_planned(told)} {cost}"


def _planned(told: Goodput) -> str:
    if not told.planned:
        return ""
    how_many = "all" if told.planned == told.restarts else "one" if told.planned == 1 else str(told.planned)
    return f", {how_many} of them planned,"


def _untold(told: Goodput) -> str:
    if not told.redone_unknown:
        return ""
    return f"; in {count(told.redone_unknown, 'round')} it is not known how many steps were made again"


def _percent(share: float) -> str:
    """Rounded down: a little that was lost is never told as nothing."""
    return f"{math.floor(share * 1000) / 10:g} %"


def say_seconds(seconds: float) -> str:
    """``0.4 s``, ``12 s``, ``4 min 10 s``, ``1 h 12 min``, ``2 d 3 h``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for size, name, part, of_it in UNITS:
        if whole >= size:
            rest = whole % size // part
            return f"{whole // size} {name}" + (f" {rest} {of_it}" if rest else "")
    return f"{whole} s"
