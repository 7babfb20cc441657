"""GPUs of this machine through NVML. A machine without any is a normal machine."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...wire.events import Gpu

VISIBLE = "CUDA_VISIBLE_DEVICES"


def find_gpus() -> tuple[tuple[Gpu, ...], str]:
    """Those that the node agent may use, and in words why there are none: 'none' without a driver."""
    found, note = _find_all()
    allowed = os.environ.get(VISIBLE)
    if allowed is None or not found:
        return found, note
    uuids = named(allowed, found)
    visible = tuple(gpu for gpu in found if gpu.uuid in uuids)
    return visible, note if visible else f"none that the node agent may use: its {VISIBLE} is {allowed!r}"


def take_share(which: int, many: int) -> None:
    """From here on the node agent may use every ``many``-th of those that it found, from that one on."""
    found, _ = find_gpus()
    if found and many > 1:
        os.environ[VISIBLE] = ",".join(gpu.uuid for gpu in found[which - 1 :: many])


def named(text: str, gpus: Sequence[Gpu]) -> tuple[str, ...]:
    """The UUIDs that a value of ``CUDA_VISIBLE_DEVICES`` stands for.

    As CUDA reads it, what follows something that names no GPU does not count.
    """
    uuids: list[str] = []
    for word in text.split(","):
        found = _find_named(word.strip(), gpus)
        if found is None:
            break
        uuids.append(found)
    return tuple(dict.fromkeys(uuids))


def _find_named(word: str, gpus: Sequence[Gpu]) -> str | None:
    """By index, or by the beginning of a UUID that only one GPU has."""
    if word.isdecimal():
        found = [gpu.uuid for gpu in gpus if gpu.index == int(word)]
    else:
        found = [gpu.uuid for gpu in gpus if word.startswith("GPU-") and gpu.uuid.startswith(word)]
    return found[0] if len(found) == 1 else None


def _find_all() -> tuple[tuple[Gpu, ...], str]:
    # Imported here: a machine without GPUs needs it once.
    import pynvml

    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        return (), "none"
    except pynvml.NVMLError as error:
        return (), f"not known: {error}"
    try:
        looks = [_look(index) for index in range(pynvml.nvmlDeviceGetCount())]
        return tuple(gpu for gpu in looks if gpu is not None), "none"
    except pynvml.NVMLError as error:
        return (), f"not known: {error}"
    finally:
        pynvml.nvmlShutdown()


def _look(index: int) -> Gpu | None:
    """None for one that is counted and does not answer, such as one that fell off the bus."""
    import pynvml

    try:
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        return Gpu(
            index=index,
            name=_text(pynvml.nvmlDeviceGetName(handle)),
            memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
            uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
        )
    except pynvml.NVMLError:
        return None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
