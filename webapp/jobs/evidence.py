"""Which rounds of a job failed, and what its nodes keep of each; what they have is asked of nobody here."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import cast

from django.utils import timezone

from webapp.fleet.answers import silence_of
from webapp.fleet.leases import state_after
from webapp.fleet.models import Node, NodeState

from .evidence_schemas import (
    EvidenceNode,
    EvidenceOut,
    EvidenceRound,
    EvidenceState,
    HookOut,
    HookOutcome,
    HookWord,
)
from .models import Attempt, EvidencePart, HookRun, Job, Round, Worker
from .round_why import failure_words

MOST_ROUNDS = 200
"""The newest are told."""


def evidence_out(job: Job) -> EvidenceOut:
    found = [one for attempt in job.attempts.order_by("-number") for one in _of_attempt(job, attempt)]
    return EvidenceOut(level=str(job.spec.get("evidence", "fast")), rounds=found[:MOST_ROUNDS])


def round_out(job: Job, attempt: Attempt, number: int) -> EvidenceRound | None:
    """None: that round did not fail, and nothing is kept of it."""
    return next((one for one in _of_attempt(job, attempt) if one.round == number), None)


def _of_attempt(job: Job, attempt: Attempt) -> list[EvidenceRound]:
    parts, hooks = _parts(attempt), _hooks(job, attempt)
    rounds = {row.number: row for row in attempt.rounds.all()}
    failed = _failed(attempt, rounds)
    silent = _silent({part.node for of_round in parts.values() for part in of_round.values()})
    told = []
    for number in sorted(failed | parts.keys() | hooks.keys(), reverse=True)[:MOST_ROUNDS]:
        row, held = rounds.get(number), parts.get(number, {})
        names = list(dict.fromkeys([*(row.nodes if row else ()), *sorted(held)]))
        nodes = [_node(job, name, held.get(name), silent) for name in names]
        told.append(
            EvidenceRound(
                attempt=attempt.number,
                round=number,
                has_failed=number in failed,
                cause=_cause(attempt, rounds, number, held),
                kept_at=max((part.kept_at for part in held.values()), default=None),
                size_bytes=sum(node.size_bytes for node in nodes),
                nodes=nodes if number in failed or held else [],
                hooks=hooks.get(number, []),
            )
        )
    return told


def _parts(attempt: Attempt) -> dict[int, dict[str, EvidencePart]]:
    found: dict[int, dict[str, EvidencePart]] = defaultdict(dict)
    for part in attempt.evidence.all():
        found[part.round][part.node] = part
    return found


def _hooks(job: Job, attempt: Attempt) -> dict[int, list[HookOut]]:
    found: dict[int, list[HookOut]] = defaultdict(list)
    for run in attempt.hook_runs.all():
        found[run.round].append(_hook(job, run))
    return found


def _hook(job: Job, run: HookRun) -> HookOut:
    commands = list(job.spec.get(run.hook, []))
    return HookOut(
        node=run.node,
        hook=cast(HookWord, run.hook),
        index=run.index,
        command=commands[run.index] if run.index < len(commands) else "",
        outcome=cast(HookOutcome, run.outcome),
        exit_code=run.exit_code,
        took_s=run.took_s,
        said=run.said,
        output=run.output,
        output_bytes=run.output_bytes,
        ended_at=run.ended_at,
    )


def _failed(attempt: Attempt, rounds: dict[int, Round]) -> set[int]:
    """Those after which the next began with a failure, and those with a worker that failed by itself."""
    before = {number - 1 for number, row in rounds.items() if row.cause == "failure"}
    causes = Worker.objects.filter(attempt=attempt, role="cause").order_by()
    return before | set(causes.values_list("round", flat=True).distinct())


def _cause(attempt: Attempt, rounds: dict[int, Round], number: int, held: dict[str, EvidencePart]) -> str:
    following = rounds.get(number + 1)
    # The next round has it in words already; a job may have had hundreds.
    words = following.why if following is not None and following.cause == "failure" else ""
    words = words or failure_words(attempt.id, number, following.charged if following else "")
    if words:
        return f"{words.rstrip('.')}."
    return next((part.cause for part in held.values() if part.cause), "")


def _silent(names: set[str]) -> dict[str, NodeState]:
    """Of these nodes, those that are not heard."""
    now: datetime = timezone.now()
    states = {node.name: state_after(silence_of(node, now)) for node in Node.objects.filter(name__in=names)}
    return {name: state for name, state in states.items() if state is not NodeState.ONLINE}


def _node(job: Job, name: str, part: EvidencePart | None, silent: dict[str, NodeState]) -> EvidenceNode:
    state, why = _state(job, name, part, silent)
    has_any = part is not None and state in ("kept", "unreachable")
    return EvidenceNode(
        node=name,
        state=state,
        why=why,
        size_bytes=part.size_bytes if part is not None and has_any else 0,
        ranks=part.ranks if part else [],
        stacks=part.stacks if part else [],
        missing=part.missing if part else [],
    )


def _state(
    job: Job, name: str, part: EvidencePart | None, silent: dict[str, NodeState]
) -> tuple[EvidenceState, str]:
    if part is None:
        if job.spec.get("evidence") == "off":
            return "none", "The job wants none (evidence: off)."
        return "none", f"{name} has not said that it keeps anything."
    if part.is_dropped:
        return "dropped", f"On {name} it has made room for that of newer rounds."
    if name in silent:
        return "unreachable", f"{name} is not heard; what it keeps can be had when it is back."
    return "kept", ""
