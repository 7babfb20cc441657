"""Stacks as a row keeps them: of ranks that stand at the same place only once. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import TypeAdapter

from agents.wire.stacks import RankStacks, ThreadStack

from .stack_groups import Group, group

FRAMES = 40
"""Of the main thread so many are kept, the innermost ones."""

_threads: TypeAdapter[ThreadStack] = TypeAdapter(ThreadStack)

Kept = Sequence[dict[str, Any]]
"""``ranks`` and ``thread`` of each place."""


def keep(kept: Kept, more: Iterable[RankStacks]) -> list[dict[str, Any]]:
    """What is kept once these have come, too."""
    return [
        {"ranks": list(one.ranks), "thread": _threads.dump_python(one.threads[0], mode="json")}
        for one in group([*_ranks(kept), *map(_thin, more)])
    ]


def groups_of(kept: Kept) -> list[Group]:
    return group(_ranks(kept))


def _ranks(kept: Kept) -> list[RankStacks]:
    found = []
    for one in kept:
        thread = _threads.validate_python(one["thread"])
        found += [RankStacks(rank=rank, pid=0, threads=(thread,)) for rank in one["ranks"]]
    return found


def _thin(one: RankStacks) -> RankStacks:
    main = one.threads[:1]
    thin = tuple(ThreadStack(name=thread.name, frames=thread.frames[:FRAMES]) for thread in main)
    return RankStacks(rank=one.rank, pid=one.pid, threads=thin)
