"""What nodes said last of their workers, read from Redis: never older than some seconds, and kept nowhere."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

import redis
from pydantic import TypeAdapter, ValidationError

from agents.wire import streams
from agents.wire.usage import NodeUsage, WorkerUsage
from webapp.redis import get_redis

log = logging.getLogger("regroup.jobs")

OLD_S = 6.0
"""A sample that is older says nothing of now: three of them are missing."""

_usages: TypeAdapter[NodeUsage] = TypeAdapter(NodeUsage)


@dataclass(frozen=True)
class Sample:
    age_s: float
    usage: NodeUsage

    @property
    def at(self) -> datetime:
        """By the node's clock."""
        return self.usage.at

    def of_attempt(self, attempt: str) -> Iterator[WorkerUsage]:
        return (worker for worker in self.usage.workers if worker.attempt == attempt)


Samples = Mapping[str, Sample]
"""By node. One of which nothing is known is not in it."""


def read_samples(nodes: Iterable[str]) -> dict[str, Sample]:
    """In one round trip; empty when Redis does not answer."""
    names = sorted(set(nodes))
    pipeline = get_redis().pipeline(transaction=False)
    for name in names:
        pipeline.pttl(streams.usage(name))
        pipeline.get(streams.usage(name))
    try:
        answers = iter(pipeline.execute() if names else ())
    except redis.RedisError:
        return {}
    found = {name: _read(name, cast(int, next(answers)), next(answers)) for name in names}
    return {name: sample for name, sample in found.items() if sample is not None}


def _read(node: str, ttl_ms: int, text: bytes | None) -> Sample | None:
    if text is None or ttl_ms < 0:
        return None
    age_s = max(0.0, streams.USAGE_S - ttl_ms / 1000)
    try:
        return Sample(age_s, _usages.validate_json(text)) if age_s <= OLD_S else None
    except ValidationError as error:
        log.warning("sample cannot be read node=%s error=%s", node, error)
        return None
