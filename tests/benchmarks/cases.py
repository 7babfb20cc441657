"""What is measured: the table of cases, and what each has to reach."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["kill", "launch", "step"]
Mode = Literal["preload", "exec"]
Backend = Literal["c10d", "etcd-v3"]


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


ONE_BY_TWO = Shape("1x2", "1", 1, 2)
TWO_BY_ONE = Shape("2x1", "2", 2, 1)
TWO_BY_TWO = Shape("2x2", "2", 2, 2)
ELASTIC = Shape("elastic", "1:4", 2, 1)


@dataclass(frozen=True)
class Case:
    name: str
    kind: Kind
    shape: Shape
    mode: Mode
    most: float
    """The largest ratio to torchrun that is good enough."""
    backend: Backend = "c10d"


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
