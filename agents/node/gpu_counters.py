"""What the GPUs of a job count now, through NVML: which may hang with a broken GPU, and is given up then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

PATIENCE_S = 3.0


def gpu_counters(uuids: tuple[str, ...]) -> list[dict[str, Any]] | str:
    """Of these alone; of none, or where they cannot be told, why not, in words."""
    if not uuids:
        return "The job has no GPU on this node."
    found: list[list[dict[str, Any]] | str] = []
    thread = threading.Thread(target=lambda: found.append(_read(uuids)), name="gpu counters", daemon=True)
    thread.start()
    thread.join(PATIENCE_S)
    return found[0] if found else f"NVML has not answered within {PATIENCE_S:.0f} s."


def _read(uuids: tuple[str, ...]) -> list[dict[str, Any]] | str:
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        return f"NVML cannot be used: {error}."
    try:
        return [_look(uuid) for uuid in uuids]
    finally:
        pynvml.nvmlShutdown()


def _look(uuid: str) -> dict[str, Any]:
    import pynvml

    try:
        handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
    except pynvml.NVMLError as error:
        return {"uuid": uuid, "problem": str(error)}
    memory, use = pynvml.nvmlDeviceGetMemoryInfo, pynvml.nvmlDeviceGetUtilizationRates
    return {
        "uuid": uuid,
        "memory used": _ask(lambda: int(memory(handle).used)),
        "memory in all": _ask(lambda: int(memory(handle).total)),
        "use in percent": _ask(lambda: int(use(handle).gpu)),
        "degrees": _ask(lambda: int(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))),
        "milliwatts": _ask(lambda: int(pynvml.nvmlDeviceGetPowerUsage(handle))),
        "uncorrected ECC errors": _ask(
            lambda: int(
                pynvml.nvmlDeviceGetTotalEccErrors(
                    handle, pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pynvml.NVML_VOLATILE_ECC
                )
            )
        ),
    }


def _ask(question: Callable[[], int]) -> int | str:
    import pynvml

    try:
        return question()
    except pynvml.NVMLError as error:
        return str(error)
