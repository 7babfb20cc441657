"""Which GPUs a runner may use: one for each of its workers, and none that another runner has.

A runner is told by ``CUDA_VISIBLE_DEVICES``, by UUID, since numbers change with what is visible.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field

from ..bundle import Bundle
from ..wire.events import Gpu
from ..wire.spec import StartMessage, workers_on
from .outcome import Refused
from .probes import gpus
from .probes.gpus import VISIBLE, named


@dataclass(frozen=True)
class Devices:
    """What was chosen for one runner; kept in its bundle."""

    gpus: tuple[str, ...] = ()
    """UUIDs."""
    variables: dict[str, str] = field(default_factory=dict)
    """For its environment."""
    said: str = ""
    """The choice in words, where there is something to say."""

    def note(self, bundle: Bundle) -> None:
        bundle.write_devices(**asdict(self))


def devices_of(bundle: Bundle) -> Devices:
    """What its bundle says; nothing where nothing was chosen."""
    facts = bundle.devices() or {}
    return Devices(tuple(facts.get("gpus", ())), facts.get("variables", {}), facts.get("said", ""))


class NodeGpus:
    """The GPUs that were here when the daemon began. On a node without any, nothing is ever chosen."""

    def __init__(self, node: str, slots: int) -> None:
        self._node, self._slots = node, slots
        self._known = {gpu.uuid for gpu in gpus.find_gpus()[0]}

    def choose(self, message: StartMessage, held: Collection[str]) -> Devices:
        """``held``: what the other runners have.

        Raises:
            Refused: too few are free, though each slot stands for one.
        """
        if not self._known:
            return Devices()
        present = gpus.find_gpus()[0]
        own = message.spec.env.get(VISIBLE)
        if own is not None:
            return Devices(named(own, present), said=f"{VISIBLE} is {own!r}, as the job has it.")
        return self._allot(workers_on(message), present, held)

    def _allot(self, wanted: int, present: Sequence[Gpu], held: Collection[str]) -> Devices:
        free = [gpu.uuid for gpu in present if gpu.uuid not in held]
        if len(free) >= wanted:
            return _give(free[:wanted])
        sentence = (
            f"{self._node} has {len(free)} of {len(self._known)} GPUs free, and the job has {wanted} workers "
            f"there.{self._say_vanished(present)}"
        )
        if self._slots <= len(self._known):
            raise Refused(sentence)
        # More slots than GPUs were asked for, so not every worker can expect one.
        return Devices(variables={VISIBLE: ""}, said=f"{sentence} It sees none, so that none is shared.")

    def _say_vanished(self, present: Sequence[Gpu]) -> str:
        vanished = sorted(self._known - {gpu.uuid for gpu in present})
        return f" Gone since the node agent began: {', '.join(vanished)}." if vanished else ""


def _give(uuids: list[str]) -> Devices:
    return Devices(tuple(uuids), {VISIBLE: ",".join(uuids)}, f"It has {', '.join(uuids)}.")
