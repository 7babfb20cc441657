"""Situations of jobs, made up from what their runners tell."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from agents.wire.lifecycle import RunnerState, fold
from tests.webapp.journals import BEGAN, RunnerJournal
from webapp.jobs.situation import (
    JobFacts,
    MemberFacts,
    RoundFacts,
)
from webapp.jobs.standing import Standing

NODES = ("node-1", "node-2")


def fold_all(journal: RunnerJournal) -> RunnerState:
    state = RunnerState()
    for event in journal.events:
        state = fold(state, event, journal.node)  # type: ignore[arg-type]  # runner records only
    return state


def journals() -> list[RunnerJournal]:
    return [RunnerJournal("a", node, NODES) for node in NODES]


def up(steps: int = 0) -> list[RunnerJournal]:
    found = [journal.start().form().come_up() for journal in journals()]
    return [journal.progress(steps) for journal in found] if steps else found


def facts(members: list[RunnerJournal], rounds: int = 0, why: str = "", **more: Any) -> JobFacts:
    newest = RoundFacts(
        number=rounds,
        world_size=4,
        nodes=NODES,
        cause="failure" if why else "start",
        why=why,
        formed_at=BEGAN,
    )
    return JobFacts(
        members=tuple(MemberFacts(node=journal.node, runner=fold_all(journal)) for journal in members),
        rounds=(newest,) if rounds else (),
        **{"max_restarts": 3, "max_nodes": 2, "nodes_wanted": 2, **more},
    )


def change(seen: JobFacts, node: str, **more: Any) -> JobFacts:
    """The same with something else known of that node."""
    members = [replace(m, **more) if m.node == node else m for m in seen.members]
    return replace(seen, members=tuple(members))


def says(standing: Standing) -> tuple[str, str]:
    return standing.state.value, standing.reason


def killed() -> list[RunnerJournal]:
    first, second = up(5)
    return [first, second.exit(1, "cause", "killed by SIGKILL", signal="SIGKILL")]
