"""What every handler is given."""

from __future__ import annotations

from dataclasses import dataclass

from ..config import Config
from ..faults import Faults
from ..supervisor import Supervisor


@dataclass(frozen=True)
class Node:
    config: Config
    supervisor: Supervisor
    faults: Faults

    @property
    def name(self) -> str:
        return self.config.name
