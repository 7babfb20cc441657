"""How busy the GPUs of this node are, and how full. Read in a thread of its own: a broken driver may hang."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

from ...bundle import Bundle
from ...wire.events import Gpu
from .gpus import find_gpus

PERIOD_S = 2.0
OLD_S = 10.0
"""A figure that is older is none."""
AGAIN_S = 60.0
"""How long a driver that fails is left alone."""


@dataclass(frozen=True)
class GpuFigures:
    index: int
    busy: float
    """Share of the time, from 0 to 1."""
    memory_bytes: int


class GpuUsage:
    def __init__(self, stopping: threading.Event) -> None:
        self._stopping = stopping
        self._read_at = float("-inf")
        self._figures: dict[str, GpuFigures] = {}
        threading.Thread(target=self._run, name="gpu usage", daemon=True).start()

    def of(self, bundle: Bundle, local_rank: int, workers: int) -> GpuFigures | None:
        """Of the GPU that the worker with that local rank was given, where each of so many has one."""
        if time.monotonic() - self._read_at > OLD_S:
            return None
        given = list((bundle.devices() or {}).get("gpus", ()))
        return self._figures.get(given[local_rank]) if len(given) == workers else None

    def _run(self) -> None:
        """A machine without any needs no watching."""
        found, _ = find_gpus()
        while found and not self._stopping.is_set():
            self._read_on(found)
            self._stopping.wait(AGAIN_S)

    def _read_on(self, gpus: tuple[Gpu, ...]) -> None:
        """Until none answers any more."""
        import pynvml

        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError:
            return
        while not self._stopping.is_set():
            looks = {gpu.uuid: _look(gpu) for gpu in gpus}
            self._figures = {uuid: figures for uuid, figures in looks.items() if figures is not None}
            if not self._figures:
                return
            self._read_at = time.monotonic()
            self._stopping.wait(PERIOD_S)


def _look(gpu: Gpu) -> GpuFigures | None:
    """None for one that does not answer."""
    import pynvml

    try:
        handle = pynvml.nvmlDeviceGetHandleByUUID(gpu.uuid.encode())
        return GpuFigures(
            index=gpu.index,
            busy=pynvml.nvmlDeviceGetUtilizationRates(handle).gpu / 100,
            memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).used),
        )
    except pynvml.NVMLError:
        return None
