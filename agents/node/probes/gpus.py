"""GPUs of this machine through NVML. A machine without any is a normal machine."""

from __future__ import annotations

from ...wire.events import Gpu


def find_gpus() -> tuple[tuple[Gpu, ...], str]:
    """The GPUs, and in words why there are none: 'none' where there is no driver."""
    # Imported here: it is needed once in the daemon's life.
    import pynvml

    try:
        pynvml.nvmlInit()
    except (pynvml.NVMLError_LibraryNotFound, pynvml.NVMLError_DriverNotLoaded):
        return (), "none"
    except pynvml.NVMLError as error:
        return (), f"not known: {error}"
    try:
        return tuple(_gpu(index) for index in range(pynvml.nvmlDeviceGetCount())), "none"
    except pynvml.NVMLError as error:
        return (), f"not known: {error}"
    finally:
        pynvml.nvmlShutdown()


def _gpu(index: int) -> Gpu:
    import pynvml

    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    return Gpu(
        index=index,
        name=_text(pynvml.nvmlDeviceGetName(handle)),
        memory_bytes=int(pynvml.nvmlDeviceGetMemoryInfo(handle).total),
        uuid=_text(pynvml.nvmlDeviceGetUUID(handle)),
    )


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
