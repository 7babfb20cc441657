"""What came of a fault, by its command's evidence and the rounds that followed, held against the forecast.

Pure: the same rows give the same outcome, whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from webapp.fleet.models import Command, CommandState

from .fault_forecast import GOES_ON
from .fault_schemas import FaultForecast, FaultOutcome
from .models import Fault, Round
from .waterfall import read_moments, recovery_s
from .words import count


def outcome_of(fault: Fault, command: Command, rounds: Sequence[Round], is_over: bool) -> FaultOutcome | None:
    """``rounds`` of its attempt, in order. ``is_over``: the attempt has ended. None: nothing is known yet."""
    if command.state != CommandState.DONE:
        return None
    forecast = FaultForecast(**fault.forecast)
    if command.kind == "kill_runner" or (
        command.kind == "kill_worker" and command.body["signal"] not in GOES_ON
    ):
        return _of_kill(fault, command, forecast, rounds, is_over)
    return _of_what_lasted(fault, command, forecast, rounds)


# -- kills --------------------------------------------------------------------------------


def _of_kill(
    fault: Fault, command: Command, forecast: FaultForecast, rounds: Sequence[Round], is_over: bool
) -> FaultOutcome | None:
    after = round_after(command, rounds, fault.round)
    if after is None:
        return _of_the_end(rounds) if is_over else None
    before = next((row for row in rounds if row.number == after.number - 1), None)
    failures = sum(row.cause == "failure" for row in rounds if row.number <= after.number)
    seconds = _seconds(command, after)
    redone = _redone(before, after)
    parts = [
        f"Round {after.number} formed with world size {after.world_size}",
        f"failure restarts {failures}",
        *([] if redone is None else [f"{count(redone, 'step')} redone"]),
        _say_back(seconds, forecast.seconds),
    ]
    return FaultOutcome(
        sentence=f"{', '.join(parts)}.",
        round=after.number,
        world_size=after.world_size,
        failure_restarts=failures,
        steps_redone=redone,
        seconds=seconds,
        error_s=_error(seconds, forecast.seconds),
    )


def round_after(command: Command, rounds: Sequence[Round], seen: int) -> Round | None:
    """The round that began with a kill; after that of a runner, the one in which its node is back."""
    if command.kind == "kill_worker":
        return next((row for row in rounds if row.number > int(command.body["round"])), None)
    later = (row for row in rounds if row.number > seen and row.formed_at >= command.created_at)
    return next((row for row in later if command.node in row.nodes), None)


def _seconds(command: Command, after: Round) -> float | None:
    if command.kind == "kill_runner":
        return back_with_runner_s(command, [after])
    return recovery_s(read_moments(after.moments))


def back_with_runner_s(command: Command, rounds: Sequence[Round]) -> float | None:
    """From the signal until all ranks of the round have done a step in which the node is back."""
    after, sent_at = round_after(command, rounds, 0), command.evidence.get("sent_at")
    first_step = None if after is None else read_moments(after.moments).get("first_step")
    if first_step is None or not isinstance(sent_at, (int, float)):
        return None
    return round((first_step.at - datetime.fromtimestamp(float(sent_at), UTC)).total_seconds(), 3)


def _of_the_end(rounds: Sequence[Round]) -> FaultOutcome:
    return FaultOutcome(
        sentence="No round followed in this attempt: it has ended.",
        round=None,
        world_size=0,
        failure_restarts=sum(row.cause == "failure" for row in rounds),
        steps_redone=None,
        seconds=None,
        error_s=None,
    )


def _redone(before: Round | None, after: Round) -> int | None:
    if before is None or before.last_step is None or after.resumed_step is None:
        return None
    return max(0, before.last_step - after.resumed_step)


# -- what lasts for a while ---------------------------------------------------------------


def _of_what_lasted(
    fault: Fault, command: Command, forecast: FaultForecast, rounds: Sequence[Round]
) -> FaultOutcome:
    """Nothing should have restarted, and whether it has is told."""
    until = (command.ended_at or command.created_at) + timedelta(seconds=1)
    meanwhile = [row for row in rounds if row.number > fault.round and row.formed_at <= until]
    newest = meanwhile[-1] if meanwhile else next((r for r in rounds if r.number == fault.round), None)
    seconds = lasted_s(fault, command)
    what = f"Round {meanwhile[-1].number} formed meanwhile" if meanwhile else "Nothing restarted meanwhile"
    return FaultOutcome(
        sentence=f"{what}, {_say_back(seconds, forecast.seconds)}.",
        round=meanwhile[-1].number if meanwhile else None,
        world_size=newest.world_size if newest else None,
        failure_restarts=sum(row.cause == "failure" for row in rounds if row.formed_at <= until),
        steps_redone=None if meanwhile else 0,
        seconds=seconds,
        error_s=_error(seconds, forecast.seconds),
    )


def lasted_s(fault: Fault, command: Command) -> float | None:
    """As its node measured it, or else between what it told."""
    told = command.evidence
    for name in ("back_after_s",) if command.kind != "freeze_worker" else ("stood_s",):
        if isinstance(told.get(name), (int, float)):
            return round(float(told[name]), 3)
    if "cut_at" in told and "healed_at" in told:
        return round(float(told["healed_at"]) - float(told["cut_at"]), 3)
    if fault.begun_at is None or command.ended_at is None:
        return None
    return round((command.ended_at - fault.begun_at).total_seconds(), 3)


# -- numbers ------------------------------------------------------------------------------


def _say_back(seconds: float | None, expected: float | None) -> str:
    if seconds is None:
        return "how long it took is not known yet"
    forecast = "" if expected is None else f" (forecast: {expected:.1f} s)"
    return f"back after {seconds:.1f} s{forecast}"


def _error(seconds: float | None, expected: float | None) -> float | None:
    return None if seconds is None or expected is None else round(seconds - expected, 3)
