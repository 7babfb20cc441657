"""Rows as they are in earnest: nodes that are heard, jobs that run on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import count
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from django.utils import timezone

from agents.wire import streams
from agents.wire.lifecycle import Phase, RunnerState, WorkerState
from agents.wire.runner_events import WorkerRef
from agents.wire.sealing import name_of, open_sealed, public_text
from webapp.accounts.models import Account
from webapp.fleet.models import Command, CommandState, Node, NodeState
from webapp.jobs.folded import state_to_dict
from webapp.jobs.models import Attempt, Job, Member, Round, Worker
from webapp.jobs.schemas import SpecIn
from webapp.jobs.sealed import sealed
from webapp.redis import get_redis

_pids = count(8001)


NODE_KEY = X25519PrivateKey.generate()
"""What these nodes open secrets with."""


def make_node(name: str, slots: int = 2, silent_s: float = 0.0, **facts: Any) -> Node:
    """``silent_s`` 0: heard for the whole test, however long a busy machine takes over it."""
    now = timezone.now()
    heard_at = now - timedelta(seconds=silent_s) if silent_s else now + timedelta(minutes=10)
    return Node.objects.create(
        name=name,
        slots=slots,
        facts={
            "host": "machine",
            "addresses": ["127.0.0.1"],
            "boot_id": "boot-1",
            "secrets_key": public_text(NODE_KEY),
            **facts,
        },
        registered_at=now,
        agent_started_at=now,
        last_heard_at=heard_at,
        state=NodeState.ONLINE if silent_s < 3 else NodeState.UNHEARD,
    )


def message_sent(command: Command) -> dict[str, Any]:
    """The start message as its node gets it."""
    entries: Any = get_redis().xrange(streams.commands(command.node))
    bodies = [json.loads(fields[streams.FIELD_BODY.encode()]) for _, fields in entries]
    found: dict[str, Any] = next(body["message"] for body in bodies if body["id"] == str(command.id))
    return found


def secrets_sent(command: Command) -> dict[str, Any]:
    """What the node opens of it."""
    message = message_sent(command)
    name = name_of(message["attempt"], message["node"])
    found: dict[str, Any] = json.loads(open_sealed(message["sealed"], NODE_KEY, name))
    return found


def make_job(by: Account, name: str = "char-lm", state: str = "queued", **spec: Any) -> Job:
    whole = SpecIn(**{"script": "/data/train.py", **spec})
    low, _, high = whole.nnodes.partition(":")
    now = timezone.now()
    shown, secrets = sealed(whole.dict())
    return Job.objects.create(
        name=name,
        spec=shown,
        sealed=secrets,
        min_nodes=int(low),
        max_nodes=int(high or low),
        state=state,
        state_since=now,
        created_by=by,
        created_at=now,
    )


def make_running_job(
    by: Account, nodes: Sequence[str], ranks_per_node: int = 2, name: str = "char-lm", **spec: Any
) -> Job:
    """A job in its first round, with a worker for each rank."""
    spec = {"nnodes": str(len(nodes)), "nproc_per_node": ranks_per_node, **spec}
    job = make_job(by, name, state="running", **spec)
    attempt = Attempt.objects.create(
        id=f"j{job.id}-a1-00000000",
        job=job,
        number=1,
        store_host=nodes[0],
        endpoint="127.0.0.1:29400",
        created_at=timezone.now(),
    )
    for node in nodes:
        Member.objects.create(attempt=attempt, node=node, slots=ranks_per_node, phase=Phase.UP.value)
        Command.objects.create(
            node=node,
            kind="start_runner",
            body={},
            job=job.id,
            attempt=attempt.id,
            state=CommandState.DONE,
            created_at=job.created_at,
        )
    add_round(attempt, nodes, ranks_per_node)
    return job


def add_round(attempt: Attempt, nodes: Sequence[str], ranks_per_node: int = 2) -> int:
    """The next round: workers of the one before have ended, each rank has a new process. Gives its number."""
    number, now = attempt.rounds.count() + 1, timezone.now()
    attempt.workers.filter(ended_at=None).update(
        ended_at=now, role="stopped", said="was stopped by the runner"
    )
    world_size = len(nodes) * ranks_per_node
    Round.objects.create(
        attempt=attempt,
        number=number,
        world_size=world_size,
        nodes=list(nodes),
        cause="start" if number == 1 else "failure",
        formed_at=now,
    )
    for group_rank, node in enumerate(nodes):
        refs = [
            WorkerRef(
                rank=group_rank * ranks_per_node + local, local_rank=local, pid=next(_pids), start_time=77
            )
            for local in range(ranks_per_node)
        ]
        _fold(attempt, node, number, world_size, group_rank, tuple(nodes), refs)
        for ref in refs:
            Worker.objects.create(
                attempt=attempt,
                round=number,
                rank=ref.rank,
                local_rank=ref.local_rank,
                node=node,
                pid=ref.pid,
                start_time=ref.start_time,
                started_at=now,
            )
    return number


def _fold(
    attempt: Attempt,
    node: str,
    number: int,
    world_size: int,
    group_rank: int,
    nodes: tuple[str, ...],
    refs: list[WorkerRef],
) -> None:
    state = RunnerState(
        last_seq=number * 5,
        phase=Phase.UP,
        since=timezone.now(),
        round=number,
        world_size=world_size,
        group_rank=group_rank,
        nodes=nodes,
        joined=nodes,
        workers=tuple(WorkerState(ref) for ref in refs),
    )
    attempt.members.filter(node=node).update(folded=state_to_dict(state))


def wanting(job: Job, nodes: int) -> Job:
    """The same job, launched with that number of nodes wanted."""
    job.spec["nodes"] = nodes
    job.save(update_fields=["spec"])
    return job
