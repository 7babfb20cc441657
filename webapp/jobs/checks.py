"""Checks before a launch: asks nodes what they find, in two steps, and gathers what they answer.

Nothing runs in the background: whoever asks how it goes carries the run on. What is under way lies in Redis,
all steps can be repeated, and what nodes have left for each other they remove by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, cast
from uuid import uuid4

import redis
from django.utils import timezone

from agents.wire import streams
from agents.wire.checks import CheckNode, CheckNodeAnswer
from agents.wire.codec import Unreadable, read_answer_as
from agents.wire.plain import to_json
from agents.wire.spec import JobSpec
from webapp.accounts.models import Account
from webapp.errors import Problem, not_found, refuse_field
from webapp.fleet.models import Node
from webapp.masking import open_env
from webapp.redis import describe, get_redis
from webapp.schemas import Fault
from webapp.uploads.asked import source_for

from .check_run import LOOK_S, CheckRun
from .check_schemas import ChecksOut
from .check_table import failures_of, table
from .in_line import look
from .meeting import endpoint_of, given_endpoint, is_hosted, local_address, wanted_endpoint
from .placement import Need, Placed, Room, can_host, find_hopeful
from .preview import as_waiting
from .rooms import read_rooms
from .schemas import JobIn
from .services import read_spec

KEPT_S = 900
TURN_S = 5
"""After so long another one takes over from who was killed over it."""
PAUSE_S = 0.05
MOST = 256
"""Nodes of one run at most."""


def begin(account: Account, data: JobIn, nodes: Sequence[str] = ()) -> CheckRun:
    """Ask the nodes for the first step.

    Raises:
        Problem: 422 for a job that a launch would refuse, 409 where no node can be asked, 503 without Redis.
    """
    spec, rooms = read_spec(account, data), read_rooms()
    return ask(spec, data.checkpoint_dir, rooms, _choose(account, data, spec, rooms, nodes))


def ask(
    spec: JobSpec, checkpoint_dir: str | None, rooms: Sequence[Room], nodes: list[str], store: str = ""
) -> CheckRun:
    """Ask these nodes for the first step. ``store``: where the store of the job is, which runs already.

    Raises:
        Problem: 503 without Redis.
    """
    run = _new_run(spec, checkpoint_dir, [room for room in rooms if room.node in nodes], nodes)
    if store:
        run.host, run.endpoint = "", store
    try:
        _send((node, _first_request(run, spec, node)) for node in run.nodes)
        _keep(run)
    except redis.RedisError as error:
        raise _without_redis(error) from error
    return run


def carry_on(run_id: str) -> CheckRun:
    """Take in what has been answered, and go on to the next step once all of this one is there.

    Raises:
        Problem: 404 for a run that is not known any more, 503 without Redis.
    """
    try:
        with _turn(run_id) as is_mine:
            run = _find(run_id)
            return _advance(run) if is_mine and not run.is_over else run
    except redis.RedisError as error:
        raise _without_redis(error) from error


class Checked(NamedTuple):
    said: list[str]
    """What fails, of a launch that goes ahead all the same."""
    told: ChecksOut | None
    """All that was found. None: nothing was looked at."""


def check_first(account: Account, data: JobIn) -> Checked:
    """For a launch that asks for it.

    Raises:
        Problem: 409 with each failing cell where they are required.
    """
    if data.checks == "skip":
        return Checked([], None)
    try:
        told = _check_now(account, data)
    except Problem as problem:
        if data.checks == "require" or problem.status == 422:
            raise
        return Checked([f"Not checked: {problem.what}"], None)
    failing = failures_of(told)
    if failing and data.checks == "require":
        raise _refusal(told)
    return Checked([f"{node}: {cell.says}" for node, cell in failing], told)


def _check_now(account: Account, data: JobIn) -> ChecksOut:
    run = begin(account, data)
    while not run.is_over:
        time.sleep(PAUSE_S)
        run = carry_on(run.id)
    return table(run)


def _refusal(told: ChecksOut) -> Problem:
    faults = tuple(
        Fault(where=f"checks.{node}.{cell.check}", message=cell.says, what_to_do=cell.what_to_do)
        for node, cell in failures_of(told)
    )
    return Problem(
        409,
        "checks_failed",
        f"The checks of its nodes are required. {told.says} "
        + " ".join(fault.message for fault in faults[:3]),
        where="checks",
        what_to_do="Mend what fails, or launch without requiring the checks.",
        faults=faults,
    )


# -- whom to ask, and for what --


def _choose(
    account: Account, data: JobIn, spec: JobSpec, rooms: Sequence[Room], named: Sequence[str]
) -> list[str]:
    if named:
        _require_known(named, rooms)
        return list(dict.fromkeys(named))[:MOST]
    mine = as_waiting(account, data, spec, rooms)
    turn = look([mine], rooms).turn_of(mine.job)
    if turn is not None and isinstance(turn.answer, Placed):
        return list(turn.answer.nodes)[:MOST]
    return _require_any(_could_run(rooms, mine.need))


def _could_run(rooms: Sequence[Room], need: Need) -> list[str]:
    """It would wait now: those that it could have later."""
    heard = [room for room in rooms if room.is_online]
    found = find_hopeful(heard, need)[: min(need.high, MOST)]
    return [room.node for room in found] or [room.node for room in heard[: min(need.high, MOST)]]


def _require_known(named: Sequence[str], rooms: Sequence[Room]) -> None:
    if unknown := sorted(set(named) - {room.node for room in rooms}):
        raise refuse_field("nodes_to_check", f"There is no node {unknown[0]}.", "See the list of nodes.")


def _require_any(nodes: list[str]) -> list[str]:
    if nodes:
        return nodes
    raise Problem(
        409,
        "no_nodes",
        "No node is heard, so that there is nothing to check.",
        where="nodes",
        what_to_do="Start regroup-agent on a machine.",
    )


def _new_run(spec: JobSpec, checkpoint_dir: str | None, rooms: Sequence[Room], nodes: list[str]) -> CheckRun:
    host = _host(spec, rooms, nodes)
    return CheckRun(
        id=uuid4().hex,
        began_at=timezone.now(),
        asked_at=time.time(),
        nodes=nodes,
        addresses={node: local_address(spec, node) for node in nodes},
        clocks=dict(Node.objects.filter(name__in=nodes).values_list("name", "clock_offset_s")),
        host=host,
        endpoint="" if is_hosted(spec) else given_endpoint(spec),
        is_one_machine=len({room.machine for room in rooms}) == 1,
        checkpoint_dir=checkpoint_dir,
        workdir=spec.workdir,
    )


def _host(spec: JobSpec, rooms: Sequence[Room], nodes: Sequence[str]) -> str:
    """Who would keep the store."""
    if not is_hosted(spec):
        return ""
    wanted = wanted_endpoint(spec)
    able = {room.node for room in rooms if can_host(room, wanted.host if wanted else "")}
    return next((node for node in nodes if node in able), "")


def _first_request(run: CheckRun, spec: JobSpec, node: str) -> CheckNode:
    return CheckNode(
        id=run.request_id(node),
        run=run.id,
        step="look",
        script=spec.script,
        module=spec.module,
        no_python=spec.no_python,
        env=open_env(vars(spec)),
        workdir=spec.workdir,
        code=source_for(spec, node),
        python=spec.python,
        checkpoint_dir=run.checkpoint_dir,
        nodes=tuple(run.nodes),
        is_one_machine=run.is_one_machine,
        local_addr=run.addresses[node],
        interface=spec.interface,
        endpoint=endpoint_of(spec, node) if node == run.host else "",
    )


# -- to and from Redis --


@contextmanager
def _turn(run_id: str) -> Iterator[bool]:
    """Of several that look at once one carries the run on, so that no node is asked twice."""
    key = streams.checks(f"{run_id}:turn")
    is_mine = bool(get_redis().set(key, "1", nx=True, ex=TURN_S))
    try:
        yield is_mine
    finally:
        if is_mine:
            get_redis().delete(key)


def _find(run_id: str) -> CheckRun:
    body = cast(bytes | None, get_redis().get(streams.checks(run_id)))
    if body is None:
        raise not_found(f"There are no checks {run_id}: they are kept for {KEPT_S // 60} minutes.")
    return CheckRun.model_validate_json(body)


def _advance(run: CheckRun) -> CheckRun:
    _take_in(run)
    if run.has_all(time.time()):
        run.go_on(time.time())
        _send((node, run.later_request(node)) for node in run.asked)
    _keep(run)
    return run


def _take_in(run: CheckRun) -> None:
    open_ = [node for node in run.asked if node not in run.answers]
    pipeline = get_redis().pipeline(transaction=False)
    for node in open_:
        pipeline.lindex(streams.answer(run.request_id(node)), 0)
    answers: Mapping[str, bytes | None] = dict(zip(open_, pipeline.execute(), strict=True))
    for node, body in answers.items():
        if body is not None:
            run.answers[node] = _read(body)


def _read(body: bytes) -> CheckNodeAnswer:
    try:
        return read_answer_as(CheckNodeAnswer, body)
    except Unreadable:
        # Of a node agent that is newer than the hub: its cells say that nothing is known.
        return CheckNodeAnswer()


def _send(requests: Iterable[tuple[str, CheckNode]]) -> None:
    pipeline = get_redis().pipeline(transaction=False)
    for node, request in requests:
        pipeline.rpush(streams.requests(node), to_json(request))
        # Nobody reads these while the node agent is away, and nobody wants them later.
        pipeline.expire(streams.requests(node), int(2 * LOOK_S))
    pipeline.execute()


def _keep(run: CheckRun) -> None:
    get_redis().set(streams.checks(run.id), run.model_dump_json(), ex=KEPT_S)


def _without_redis(error: redis.RedisError) -> Problem:
    return Problem(
        503,
        "redis_unavailable",
        f"{describe(error)} The nodes cannot be asked without it.",
        what_to_do="Try again once /api/health is well.",
    )
