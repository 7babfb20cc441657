"""How many workers this node starts: fewer than it was given, where a GPU is gone and the job says so."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection

from ..bundle import Bundle
from ..wire.spec import StartMessage, workers_on
from .ending import GivenUp
from .nvml import answering
from .sentences import no_gpu_left

VISIBLE = "CUDA_VISIBLE_DEVICES"


class Crew:
    """``find``: the UUIDs of the GPUs that answer, or None where that cannot be told."""

    def __init__(
        self,
        message: StartMessage,
        bundle: Bundle,
        find: Callable[[], Collection[str] | None] = answering,
    ) -> None:
        self.size = self._full = workers_on(message)
        self._node = message.node
        self.gone: tuple[str, ...] = ()
        """UUIDs of its GPUs that do not answer any more."""
        given = (bundle.devices() or {}).get("gpus", ()) if message.spec.shrink_on_gpu_loss else ()
        self._given, self._find = tuple(given), find

    def count(self) -> int:
        """How many it is to be in the round to come, whose workers see the GPUs that are left.

        Raises:
            GivenUp: there is none left.
        """
        found = self._find() if self._given else None
        if found is not None:
            self._go_by(found)
        return self.size

    def _go_by(self, found: Collection[str]) -> None:
        left = [uuid for uuid in self._given if uuid in found]
        self.gone = tuple(uuid for uuid in self._given if uuid not in found)
        self.size = min(self._full, len(left))
        if not left:
            raise GivenUp(no_gpu_left(self._node, self.gone), is_infrastructure=True)
        os.environ[VISIBLE] = ",".join(left)
