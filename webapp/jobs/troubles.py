"""Troubles whose answer is known: what a job suffers from, what says so, and what to do. Pure.

Only what was reported or what the spec says is told. Where it leaves a question open, the question is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from agents.wire.lifecycle import JobState, Phase

from .troubles_schemas import TroubleKind
from .words import are, clock, count, listed

ALONE_S = 15.0
"""Nodes that have not met for so long do not just read each other's names late."""
LOOPBACK = ("localhost", "127.", "[::1]", "::1")


@dataclass(frozen=True, kw_only=True)
class Trouble:
    kind: TroubleKind
    sentence: str
    source: str
    """What says so."""
    what_to_do: str


@dataclass(frozen=True, kw_only=True)
class NodeSeen:
    """A member of the newest attempt."""

    node: str
    phase: Phase
    since: datetime | None = None
    waits_s: float = 0.0
    """How long it has been in that phase."""
    joined: tuple[str, ...] = ()
    is_heard: bool = True
    is_spare: bool = False
    died: bool = False
    reason: str = ""
    machine: str = ""
    """Nodes with the same word run on the same machine."""


@dataclass(frozen=True, kw_only=True)
class RoundSeen:
    number: int
    world_size: int
    nodes: tuple[str, ...] = ()
    resumed_step: int | None = None
    last_step: int | None = None
    reports_steps: bool = False


@dataclass(frozen=True, kw_only=True)
class WorkerEnd:
    """A worker that failed, or lost a peer, in the newest round in which any did."""

    rank: int
    node: str
    said: str
    text: str = ""
    """Its exception and the traceback."""
    source: str = ""
    exit_code: int | None = None
    lived_s: float | None = None
    is_cause: bool = True


@dataclass(frozen=True, kw_only=True)
class TroubleFacts:
    state: JobState
    min_nodes: int = 1
    max_nodes: int = 1
    max_restarts: int = 0
    backend: str = "c10d"
    endpoint: str = ""
    """Which the spec names. Empty: Regroup picked one."""
    join_timeout_s: int = 600
    env: Mapping[str, str] = field(default_factory=dict)
    members: tuple[NodeSeen, ...] = ()
    rounds: tuple[RoundSeen, ...] = ()
    """The newest two of the newest attempt at most, in order."""
    step: int | None = None
    """Which all ranks of the newest round have reached."""
    checkpoint_step: int | None = None
    ends: tuple[WorkerEnd, ...] = ()

    @property
    def is_fixed(self) -> bool:
        return self.min_nodes == self.max_nodes


def troubles_of_job(facts: TroubleFacts) -> list[Trouble]:
    """What the nodes and the rounds tell; see ``troubles_of_workers`` for what the workers do."""
    found = (_short_of_nodes(facts), _do_not_meet(facts), _ended_at_once(facts), _could_not_shrink(facts))
    return [trouble for trouble in (*found, _began_again(facts), _other_size(facts)) if trouble is not None]


# -- the rendezvous ------------------------------------------------------------------------


def _short_of_nodes(facts: TroubleFacts) -> Trouble | None:
    """A fixed number of nodes, and one of them is not there and not on its way."""
    inside = {node for m in _meeting(facts) for node in m.joined}
    missing = [m for m in facts.members if m.node not in inside and not m.is_spare]
    if facts.state is not JobState.WAITING or not (facts.is_fixed and inside):
        return None
    if len(inside) >= facts.min_nodes or any(m.is_heard and m.phase is not Phase.ENDED for m in missing):
        return None
    names = [m.node for m in missing]
    who = f" {_why_missing(missing)}" if missing else ""
    return Trouble(
        kind="nodes_short",
        sentence=f"nnodes is {facts.min_nodes}, a fixed number, and {count(len(inside), 'node')} joined: "
        f"no round forms with fewer.{who} The attempt ends after {facts.join_timeout_s} s of this "
        "(join_timeout).",
        source="the spec, and what the nodes in the rendezvous see",
        what_to_do=f"Bring {listed(names) or 'another node'} back. Or stop the job and launch it with a "
        f"range, such as nnodes {len(inside)}:{facts.max_nodes}: then it goes on with those that are there.",
    )


def _meeting(facts: TroubleFacts) -> list[NodeSeen]:
    return [m for m in facts.members if m.is_heard and m.phase is Phase.RENDEZVOUS and not m.is_spare]


def _why_missing(missing: Sequence[NodeSeen]) -> str:
    silent = [m.node for m in missing if m.phase is not Phase.ENDED]
    over = [m.node for m in missing if m.phase is Phase.ENDED]
    told = [f"{are(silent)} not heard."] if silent else []
    return " ".join(told + ([f"{are(over)} over."] if over else []))


def _do_not_meet(facts: TroubleFacts) -> Trouble | None:
    """Only an endpoint given by hand can be wrong: one that Regroup picks is the same for all nodes."""
    if not facts.endpoint or facts.max_nodes < 2:
        return None
    told = _each_alone(facts) or _not_reached(facts)
    if told is None:
        return None
    where = f"rdzv_endpoint is {facts.endpoint}{_of_itself(facts.endpoint)}."
    return Trouble(
        kind="do_not_meet",
        sentence=f"{told} {where}",
        source="what each node said of its way into the rendezvous, and the spec",
        what_to_do="Write an rdzv_endpoint that names one machine, by a name or an address that all nodes "
        "reach, and see that its port is open. Or leave it out: then Regroup picks one.",
    )


def _each_alone(facts: TroubleFacts) -> str | None:
    alone = [m for m in _meeting(facts) if m.joined == (m.node,) and m.waits_s >= ALONE_S]
    if len(alone) < 2:
        return None
    since = max(m.since for m in alone if m.since is not None)
    nodes = listed(m.node for m in alone)
    return f"Since {clock(since)} {nodes} are in the rendezvous, and each of them sees only itself."


def _not_reached(facts: TroubleFacts) -> str | None:
    failed = [m for m in facts.members if "could not be reached within" in m.reason]
    if failed:
        return failed[0].reason
    idle = [m for m in facts.members if m.is_heard and m.phase is Phase.IDLE and m.waits_s >= ALONE_S]
    if not idle or facts.rounds:
        return None
    since = max(m.since for m in idle if m.since is not None)
    return f"Up since {clock(since)}, and not in the rendezvous yet: {listed(m.node for m in idle)}."


def _of_itself(endpoint: str) -> str:
    return ", which is another machine on each node" if endpoint.startswith(LOOPBACK) else ", given by hand"


# -- ended where it could have gone on --------------------------------------------------------


def _ended_at_once(facts: TroubleFacts) -> Trouble | None:
    """By the first failure, as the runner said. Which one that was is told in the headline."""
    is_told = any("(max_restarts 0)" in m.reason for m in facts.members)
    if not is_told or facts.state not in (JobState.FAILED, JobState.STOPPING):
        return None
    range_too = "" if not facts.is_fixed or facts.max_nodes < 2 else f" {_write_range(facts)}"
    return Trouble(
        kind="did_not_shrink",
        sentence="The first failure ended the job, because its max_restarts is 0.",
        source="the spec, and the last word of the runner",
        what_to_do="Launch it with max_restarts 1 or more: then all workers are started again after a "
        f"failure, from their checkpoint if the script loads one.{range_too}",
    )


def _could_not_shrink(facts: TroubleFacts) -> Trouble | None:
    """By the loss of a node, where the spec left no way to go on with the others."""
    if facts.state is not JobState.FAILED or facts.max_nodes < 2:
        return None
    waited = next((m.reason for m in facts.members if m.reason.startswith("No round formed within")), None)
    died = next((m.reason for m in facts.members if m.died), None)
    if facts.backend == "static" and died:
        why = f"The loss of one runner ended the job, because rdzv_backend is static. {died}"
    elif facts.is_fixed and waited:
        why = f"The job could not go on with fewer nodes, because nnodes is {facts.min_nodes}. {waited}"
    else:
        return None
    return Trouble(
        kind="did_not_shrink",
        sentence=why,
        source="the spec, and the last word of the runner",
        what_to_do=_write_range(facts),
    )


def _write_range(facts: TroubleFacts) -> str:
    nodes = f"nnodes 1:{facts.max_nodes}"
    nodes += " and rdzv_backend c10d" if facts.backend == "static" else ""
    return f"With a range of nodes, such as {nodes}, it goes on with fewer when one is lost."


# -- steps that jump --------------------------------------------------------------------------


def _began_again(facts: TroubleFacts) -> Trouble | None:
    """The newest round did not go on from where the one before had come to."""
    if len(facts.rounds) < 2:
        return None
    before, row = facts.rounds[-2:]
    told = next(_say_began_again(before, row, facts), None)
    if told is None:
        return None
    return Trouble(
        kind="not_resumed",
        sentence=told,
        source="the steps and checkpoints that the workers reported",
        what_to_do="Let the script load its newest complete checkpoint each time it starts, and say so with "
        "regroup_report.resumed(step, path). Each start is a new process: nothing else is left of the "
        "round before.",
    )


def _say_began_again(before: RoundSeen, row: RoundSeen, facts: TroubleFacts) -> Iterator[str]:
    farthest, saved = before.last_step, facts.checkpoint_step
    if farthest and row.resumed_step == 0:
        yield (
            f"Round {row.number} began again at step 0, although round {before.number} had come to "
            f"step {farthest:,}."
        )
    if row.resumed_step is not None or not row.reports_steps:
        return
    if farthest and facts.step is not None and facts.step < min(farthest, saved or farthest):
        yield (
            f"Round {row.number} is at step {facts.step:,}, and round {before.number} had come to step "
            f"{farthest:,}{f' and saved step {saved:,}' if saved else ''}. It did not say that it resumed."
        )
    if saved is not None:
        yield (
            f"Checkpoints are saved, the newest one at step {saved:,}, and round {row.number} did not say "
            "that it resumed from one."
        )


def _other_size(facts: TroubleFacts) -> Trouble | None:
    if len(facts.rounds) < 2 or facts.state not in (JobState.TRAINING, JobState.RUNNING):
        return None
    before, row = facts.rounds[-2:]
    if before.world_size == row.world_size:
        return None
    return Trouble(
        kind="other_size",
        sentence=f"Round {row.number} has {count(row.world_size, 'rank')}, and round {before.number} had "
        f"{before.world_size}. Does the script divide its data anew? Regroup does not see that.",
        source="the members of both rounds",
        what_to_do="If the loss jumps, see that the sampler is built with the WORLD_SIZE and RANK of this "
        "start, not with stored ones, and that batch size and learning rate suit the new number of ranks.",
    )
