"""Questions that nodes answer at once from what they have on disk: nothing is stored at the hub."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

import redis

from agents.wire import streams
from agents.wire.codec import Unreadable, read_answer_as
from agents.wire.commands import AnyRequest
from agents.wire.plain import to_json
from webapp.redis import get_blocking_redis

A = TypeVar("A")

ANSWER_S = 3.0
"""How long a node may take to answer."""


@dataclass(frozen=True)
class Silence:
    """A node did not answer; the text says why, as a sentence."""

    why: str


def ask(node: str, request: AnyRequest, kind: type[A], wait_s: float | None = None) -> A | Silence:
    return ask_all({node: request}, kind, wait_s)[node]


def ask_all(
    requests: Mapping[str, AnyRequest], kind: type[A], wait_s: float | None = None
) -> dict[str, A | Silence]:
    """One question to each of these nodes, all at the same time. ``kind`` is what an answer is."""
    wait_s = ANSWER_S if wait_s is None else wait_s
    answers: dict[str, A | Silence] = {}
    try:
        _send(requests, wait_s)
        _collect(requests, kind, wait_s, answers)
    except redis.RedisError as error:
        why = f"Redis does not answer ({error}), so that"
        silent = {node: Silence(f"{why} {node} could not be asked.") for node in requests}
        return {**silent, **answers}
    late = f"has not answered within {wait_s:g} s. Look whether it is heard."
    return {**{node: Silence(f"{node} {late}") for node in requests}, **answers}


def _send(requests: Mapping[str, AnyRequest], wait_s: float) -> None:
    pipeline = get_blocking_redis().pipeline(transaction=True)
    for node, request in requests.items():
        pipeline.rpush(streams.requests(node), to_json(request))
        # Nobody reads these while the node agent is away, and nobody wants them later.
        pipeline.expire(streams.requests(node), int(2 * wait_s) + 1)
    pipeline.execute()


def _collect(
    requests: Mapping[str, AnyRequest], kind: type[A], wait_s: float, answers: dict[str, A | Silence]
) -> None:
    """Put answers in as they come, until all are there or the time is over."""
    deadline = time.monotonic() + wait_s
    awaited = {streams.answer(request.id): node for node, request in requests.items()}
    while awaited and (left := deadline - time.monotonic()) > 0:
        popped = get_blocking_redis().blpop(list(awaited), timeout=max(0.01, left))
        found = cast(tuple[bytes, bytes] | None, popped)
        if found is None:
            return
        node = awaited.pop(found[0].decode())
        answers[node] = _read(node, kind, found[1])


def _read(node: str, kind: type[A], text: bytes) -> A | Silence:
    try:
        return read_answer_as(kind, text)
    except Unreadable as error:
        return Silence(f"The answer of {node} cannot be read: {error}")
