"""What is measured: the table of cases, and what each has to reach."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["kill", "launch", "step", "node-loss", "store-loss", "scale-up", "scale-down"]
Mode = Literal["preload", "exec"]
Backend = Literal["c10d", "etcd-v3"]

CHANGES: Mapping[Kind, int] = {"node-loss": -1, "store-loss": -1, "scale-up": 1, "scale-down": -1}
"""How many nodes a job has more after it: kinds of cases in which nodes come and go."""


@dataclass(frozen=True)
class Shape:
    """How large a job is, in torchrun's words."""

    name: str
    nnodes: str
    nodes: int
    """Nodes that are really there."""
    nproc_per_node: int

    @property
    def world_size(self) -> int:
        return self.nodes * self.nproc_per_node

    @property
    def is_elastic(self) -> bool:
        """Whether torchrun waits for its last call in each round."""
        return ":" in self.nnodes


ONE_BY_ONE = Shape("1x1", "1", 1, 1)
ONE_BY_TWO = Shape("1x2", "1", 1, 2)
TWO_BY_ONE = Shape("2x1", "2", 2, 1)
TWO_BY_TWO = Shape("2x2", "2", 2, 2)
ELASTIC = Shape("elastic", "1:4", 2, 1)
THREE_OF_FOUR = Shape("three", "1:4", 3, 1)
DEMO = Shape("4x8", "1:4", 4, 8)


@dataclass(frozen=True)
class Case:
    name: str
    kind: Kind
    shape: Shape
    mode: Mode
    most: float
    """The largest ratio to torchrun that is good enough."""
    backend: Backend = "c10d"
    most_s: float | None = None
    """The longest median that is good enough, whatever torchrun takes."""
    is_alone: bool = False
    """Too large to be compared here: so many Python starts take minutes on few cores."""

    @property
    def is_change(self) -> bool:
        return self.kind in CHANGES

    @property
    def nodes_after(self) -> int:
        return self.shape.nodes + CHANGES.get(self.kind, 0)

    @property
    def restarts(self) -> int:
        """What each kill or change has to cost in failure restarts."""
        return 0 if self.is_change else 1


def _both(name: str, kind: Kind, shape: Shape, most: float, backend: Backend = "c10d") -> list[Case]:
    """The case with preloaded workers, and with workers that are started anew."""
    slow = 1.03 if kind == "step" else 0.6
    return [
        Case(name, kind, shape, "preload", most, backend),
        Case(f"{name}-exec", kind, shape, "exec", slow, backend),
    ]


CASES: tuple[Case, ...] = (
    *_both("kill-1x2", "kill", ONE_BY_TWO, 0.08),
    *_both("kill-2x1", "kill", TWO_BY_ONE, 0.08),
    *_both("kill-2x1-etcd", "kill", TWO_BY_ONE, 0.08, "etcd-v3"),
    *_both("kill-2x2", "kill", TWO_BY_TWO, 0.08),
    *_both("kill-elastic", "kill", ELASTIC, 0.02),
    *_both("launch", "launch", ONE_BY_TWO, 0.5),
    *_both("step", "step", ONE_BY_TWO, 1.03),
    Case("step-1x1", "step", ONE_BY_ONE, "preload", 1.03),
    Case("node-loss", "node-loss", THREE_OF_FOUR, "preload", 0.3, most_s=5.0),
    Case("scale-up", "scale-up", ELASTIC, "preload", 0.3, most_s=5.0),
    Case("scale-down", "scale-down", THREE_OF_FOUR, "preload", 0.1, most_s=3.0),
    Case("demo-node-loss", "node-loss", DEMO, "preload", 0.3, most_s=5.0, is_alone=True),
    Case("demo-store-loss", "store-loss", DEMO, "preload", 0.3, most_s=10.0, is_alone=True),
)


class UnknownCase(ValueError):
    """The text says which ones there are."""


def find_cases(names: str) -> list[Case]:
    """Those named, separated by commas; all when nothing is named.

    Raises:
        UnknownCase: one of them is not in the table.
    """
    table = {case.name: case for case in CASES}
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in table:
            raise UnknownCase(f"There is no case {name!r}. Write one or more of {', '.join(table)}.")
    return [table[name] for name in wanted] or list(CASES)


def in_groups(cases: Iterable[Case]) -> list[list[Case]]:
    """Those of the same kind and shape together: they are measured in turns, against the same torchrun."""
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.kind, case.shape.name), []).append(case)
    return list(groups.values())


def needs_etcd(cases: Sequence[Case]) -> bool:
    return any(case.backend == "etcd-v3" for case in cases)


def most_nodes(cases: Sequence[Case]) -> int:
    """How many nodes there have to be for all of them."""
    return max(max(case.shape.nodes, case.nodes_after) for case in cases)
