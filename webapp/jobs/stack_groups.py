"""Ranks that stand at the same place of their code, put together; those that wait elsewhere first. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from agents.wire.stacks import Frame, RankStacks, ThreadStack

TOP = 12
"""Ranks whose innermost frames are the same, so many of them, stand at the same place."""
DEPTH = 6
"""How far out a collective is looked for: what torch puts between it and the call is a few frames."""
COLLECTIVES = ("torch/distributed/", "torch/autograd/graph.py", "torch/_tensor.py")
"""Files in whose functions a rank waits for the others; a backward pass does so for its gradients."""


@dataclass(frozen=True, kw_only=True)
class Group:
    ranks: tuple[int, ...]
    is_waiting: bool
    """For other ranks, in a collective."""
    stands_out: bool
    """It is not where the others wait for one another."""
    place: str
    """Where it stands, in a few words: ``wait_for_ever (train.py:12)``."""
    threads: tuple[ThreadStack, ...]
    """Of its lowest rank, the main thread first."""


def group(ranks: Iterable[RankStacks]) -> list[Group]:
    """Those that stand out first, then the largest. Ranks whose stacks could not be read are in none."""
    found: dict[tuple[tuple[str, str, int], ...], list[RankStacks]] = defaultdict(list)
    for one in sorted(ranks, key=lambda one: one.rank):
        if one.threads:
            found[_place_of(one)].append(one)
    groups = [_group(members) for members in found.values()]
    marked = [_marked(one, groups) for one in groups]
    return sorted(marked, key=lambda one: (not one.stands_out, one.is_waiting, -len(one.ranks), one.ranks))


def _place_of(one: RankStacks) -> tuple[tuple[str, str, int], ...]:
    return tuple((frame.file, frame.name, frame.line) for frame in one.threads[0].frames[:TOP])


def _group(members: Sequence[RankStacks]) -> Group:
    first = members[0]
    frames = first.threads[0].frames
    return Group(
        ranks=tuple(one.rank for one in members),
        is_waiting=waits_for_others(frames),
        stands_out=False,
        place=say_place(frames),
        threads=first.threads,
    )


def _marked(one: Group, groups: Sequence[Group]) -> Group:
    waiting = any(other.is_waiting for other in groups)
    most = sum(len(other.ranks) for other in groups)
    is_odd = not one.is_waiting if waiting else 2 * len(one.ranks) < most
    stands_out = is_odd and len(groups) > 1
    return Group(**{**one.__dict__, "stands_out": stands_out})


def waits_for_others(frames: Sequence[Frame]) -> bool:
    return any(part in frame.file for frame in frames[:DEPTH] for part in COLLECTIVES)


def say_place(frames: Sequence[Frame]) -> str:
    """The innermost function; of a collective its own name, and where the script calls it."""
    if not frames:
        return ""
    frame = frames[0]
    if waits_for_others(frames):
        inside = [one for one in frames[:DEPTH] if any(part in one.file for part in COLLECTIVES)]
        caller = next((one for one in frames if "/torch/" not in one.file and one not in inside), inside[-1])
        # What torch wraps around its functions says nothing of them.
        named = [one.name for one in inside if "wrapper" not in one.name and "<locals>" not in one.name]
        return f"{named[-1] if named else inside[-1].name} ({PurePath(caller.file).name}:{caller.line})"
    return f"{frame.name} ({PurePath(frame.file).name}:{frame.line})"
