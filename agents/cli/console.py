"""What torchrun lets through of its workers' output, so that ``regroup run`` shows the same. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import Template
from typing import Any

from ..wire.torchrun import read_ranks

_BITS = {"stdout": 1, "stderr": 2}
TEMPLATE = "[${role_name}${local_rank}]:"
"""What torchrun puts before each line that it tees."""


@dataclass(frozen=True)
class Console:
    """The settings of one job that decide it, in torchrun's words."""

    redirects: str = "0"
    tee: str = "0"
    local_ranks_filter: str = ""
    role: str = "default"
    template: str = TEMPLATE

    def prefix(self, stream: str, rank: int, local_rank: int) -> str | None:
        """What comes before each line of that stream; None: torchrun shows none of it."""
        shown_ranks = read_ranks(self.local_ranks_filter)
        if shown_ranks is not None and local_rank not in shown_ranks:
            return None
        if _bits(self.tee, local_rank) & _BITS[stream]:
            names = {"role_name": self.role, "rank": rank, "local_rank": local_rank}
            return Template(self.template).safe_substitute(names)
        return None if _bits(self.redirects, local_rank) & _BITS[stream] else ""


def _bits(setting: str, local_rank: int) -> int:
    """``3`` is for all local ranks, ``0:3,1:2`` for those that it names."""
    if ":" not in setting:
        return int(setting)
    named = dict(pair.split(":") for pair in setting.split(","))
    return int(named.get(str(local_rank), "0"))


def console_of(spec: Mapping[str, Any]) -> Console:
    """Those of a job's spec, as the hub tells it."""
    from_env = spec["env"].get("TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE")
    return Console(
        redirects=spec["redirects"],
        tee=spec["tee"],
        local_ranks_filter=spec["local_ranks_filter"],
        role=spec["role"],
        template=spec["log_line_prefix_template"] or from_env or TEMPLATE,
    )


def read_choice(text: str) -> frozenset[int] | None:
    """``--ranks``: numbers and ranges, such as ``0,4-7``. None: all. Raises ``ValueError``."""
    if not text:
        return None
    ranks: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        ranks.update(range(int(first), int(last or first) + 1))
    return frozenset(ranks)
