"""What a fault will do, before it is done: from where the job stands and from its own history. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from .fault_schemas import FaultForecast, FaultKind
from .words import count, listed

GOES_ON = ("SIGSTOP", "SIGCONT")
"""Signals that end no process."""


@dataclass(frozen=True, kw_only=True)
class Aim:
    """What is to be done, and to whom."""

    kind: FaultKind
    ranks: tuple[int, ...] = ()
    nodes: tuple[str, ...] = ()
    """On which the ranks run; of a node or its runner that very node."""
    signal: str = "SIGKILL"
    seconds: float = 30.0
    share: float = 0.5


@dataclass(frozen=True, kw_only=True)
class Situation:
    world_size: int
    nodes: int
    """How many are in the newest round."""
    on_node: int = 0
    """How many ranks the node that is meant has."""
    min_nodes: int = 1
    max_restarts: int = 0
    failure_restarts: int = 0
    charged: Mapping[str, int] = field(default_factory=dict)
    """What each node has spent."""
    step: int | None = None
    """About now. None: the script reports none."""
    checkpoint_step: int | None = None
    is_fixed: bool = False
    """A node that is lost cannot come back to the attempt."""
    restarts_stalled: bool = False
    """By the job's policy a rank that stalls is killed."""
    earlier_s: tuple[float, ...] = ()
    """How long it took each time before, where the same was done to this job."""


def forecast_fault(aim: Aim, now: Situation) -> FaultForecast:
    match aim.kind:
        case "kill_worker":
            return _kill(aim, now)
        case "freeze_worker" | "slow_worker":
            return _stand_still(aim, now)
        case "kill_runner":
            return _kill_runner(aim, now)
        case "kill_agent":
            return _kill_agent(aim, now)
        case "cut_node":
            return _cut(aim, now)


# -- workers ------------------------------------------------------------------------------


def _kill(aim: Aim, now: Situation) -> FaultForecast:
    if aim.signal in GOES_ON:
        return _signalled(aim, now)
    spent = [node for node in aim.nodes if now.charged.get(node, 0) >= now.max_restarts]
    if len(spent) == len(aim.nodes):
        return _the_end(spent, now)
    where = "Same-node restart" if len(aim.nodes) == 1 else f"Restart on {count(now.nodes, 'node')}"
    charged = next(node for node in aim.nodes if node not in spent)
    redone, seconds = _redone(now), _typical(now)
    parts = [
        f"world size {now.world_size} → {now.world_size}",
        _spends(charged, now, len(aim.nodes)),
        _say_redone(now),
        _say_back(now),
    ]
    risk = f" Where {listed(spent)} is the first to fail, the job fails: it has none left." if spent else ""
    return FaultForecast(
        sentence=f"{where}: {', '.join(parts)}.{risk}",
        world_size_after=now.world_size,
        failure_restarts_after=now.failure_restarts + 1,
        steps_redone=redone,
        seconds=seconds,
        based_on=_based_on(now),
    )


def _spends(node: str, now: Situation, targets: int) -> str:
    """Of a job on one node it need not be said whose budget it is."""
    whose = "" if now.nodes == 1 else f" of {'whoever fails first' if targets > 1 else node}"
    spent = now.charged.get(node, 0)
    return f"failure restarts{whose} {spent} → {spent + 1} of {now.max_restarts}"


def _the_end(spent: Sequence[str], now: Situation) -> FaultForecast:
    why = "no failure restart is allowed (max_restarts 0)"
    if now.max_restarts:
        why = f"{_has(spent)} no failure restart left of {now.max_restarts}"
    return FaultForecast(
        sentence=f"The job fails: {why}, so that all {count(now.world_size, 'worker')} end.",
        world_size_after=0,
        failure_restarts_after=now.failure_restarts,
        steps_redone=None,
        seconds=None,
        based_on="The budget of failure restarts.",
    )


def _has(nodes: Sequence[str]) -> str:
    return f"{listed(nodes)} {'has' if len(nodes) == 1 else 'have'}"


def _signalled(aim: Aim, now: Situation) -> FaultForecast:
    goes_on = aim.signal == "SIGCONT"
    says = (
        f"{_ranks(aim)} goes on where it stands still; nothing restarts."
        if goes_on
        else f"{_ranks(aim)} stands still until somebody sends SIGCONT, and {_others_wait(aim, now)}; "
        "nothing restarts. A freeze does the same and ends by itself."
    )
    return _as_before(says, now, None, "Nothing says when somebody will act.")


def _stand_still(aim: Aim, now: Situation) -> FaultForecast:
    for_so_long = f"for {aim.seconds:g} s"
    if aim.kind == "freeze_worker":
        says = f"{_ranks(aim)} stands still {for_so_long} and goes on by itself; {_others_wait(aim, now)}"
    else:
        says = f"{_ranks(aim)} runs {aim.share:.0%} of the time {for_so_long}; {_others_wait(aim, now)}"
    says = f"Nothing restarts: {says}. World size stays {now.world_size}, no failure restart is spent."
    if now.restarts_stalled:
        says += " Where that counts as a stall, the job's policy (on_stall) restarts it before."
    return _as_before(says, now, aim.seconds, "The time that is asked for.")


def _ranks(aim: Aim) -> str:
    if len(aim.ranks) == 1:
        return f"rank {aim.ranks[0]}"
    return f"each of ranks {listed(map(str, aim.ranks))}"


def _others_wait(aim: Aim, now: Situation) -> str:
    others = now.world_size - len(aim.ranks)
    if others <= 0:
        return "nobody else is there to wait"
    return f"the other {count(others, 'rank')} {'waits' if others == 1 else 'wait'} at each step"


# -- nodes --------------------------------------------------------------------------------


def _kill_runner(aim: Aim, now: Situation) -> FaultForecast:
    node = listed(aim.nodes)
    dies = f"the runner on {node} dies with its {count(now.on_node, 'worker')}"
    if now.is_fixed:
        says = (
            f"The attempt ends: {dies}, and its nodes are fixed. "
            "Another attempt follows while relaunches are left."
        )
        return FaultForecast(
            sentence=says,
            world_size_after=now.world_size,
            failure_restarts_after=0,
            steps_redone=_redone(now),
            seconds=_typical(now),
            based_on=_based_on(now),
        )
    rest = now.nodes - 1
    alone = f"{count(rest, 'node')} may go on without it" if rest >= now.min_nodes else "the job waits for it"
    meanwhile = f" and is started again; meanwhile {alone}" if rest else " and is started again"
    parts = [
        f"world size {now.world_size} → {now.world_size}",
        "no failure restart is spent",
        _say_redone(now),
        _say_back(now),
    ]
    return FaultForecast(
        sentence=f"Membership restart: {dies}{meanwhile}; {', '.join(parts)}.",
        world_size_after=now.world_size,
        failure_restarts_after=now.failure_restarts,
        steps_redone=_redone(now),
        seconds=_typical(now),
        based_on=_based_on(now),
    )


def _kill_agent(aim: Aim, now: Situation) -> FaultForecast:
    says = (
        f"Training goes on: {listed(aim.nodes)} is not heard until its node agent is started again, which "
        f"takes over what runs there. World size stays {now.world_size}, nothing restarts."
    )
    seconds = _typical(now)
    if seconds is not None:
        says += f" It was back in {_about(now)}."
    return _as_before(says, now, seconds, _based_on(now))


def _cut(aim: Aim, now: Situation) -> FaultForecast:
    says = (
        f"Training goes on: {listed(aim.nodes)} is not heard for {aim.seconds:g} s, can be asked nothing, "
        "and tells afterwards what happened. "
        f"World size stays {now.world_size}, nothing restarts."
    )
    return _as_before(says, now, aim.seconds, "The time that is asked for.")


# -- numbers ------------------------------------------------------------------------------


def _as_before(says: str, now: Situation, seconds: float | None, based_on: str) -> FaultForecast:
    """Nothing of the job is another afterwards."""
    return FaultForecast(
        sentence=f"{says[0].upper()}{says[1:]}",
        world_size_after=now.world_size,
        failure_restarts_after=now.failure_restarts,
        steps_redone=0,
        seconds=seconds,
        based_on=based_on,
    )


def _redone(now: Situation) -> int | None:
    if now.step is None or now.checkpoint_step is None:
        return None
    return max(0, now.step - now.checkpoint_step)


def _say_redone(now: Situation) -> str:
    redone = _redone(now)
    if redone is not None:
        return f"about {count(redone, 'step')} redone since checkpoint {now.checkpoint_step:,}"
    if now.step is None:
        return "how many steps are redone is not known, as the script reports none"
    return "no checkpoint has been reported, so that training may begin again from step 0"


def _typical(now: Situation) -> float | None:
    return round(median(now.earlier_s), 3) if now.earlier_s else None


def _say_back(now: Situation) -> str:
    if not now.earlier_s:
        return "and how long it takes is not known, as this job has not come back from it before"
    return f"back in {_about(now)}"


def _about(now: Situation) -> str:
    times = len(now.earlier_s)
    return f"about {median(now.earlier_s):.1f} s ({'as once before' if times == 1 else f'median of {times}'})"


def _based_on(now: Situation) -> str:
    times = len(now.earlier_s)
    if not times:
        return "Nothing: this job has not come back from it before."
    return f"{count(times, 'time')} that this job came back from it before."
