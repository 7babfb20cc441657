"""Which GPUs of this machine answer, asked of the driver's own library.

Through ``ctypes``, as the job's interpreter need not have a binding for it. Names and numbers are those of
NVIDIA's NVML API reference.
"""

from __future__ import annotations

import ctypes

LIBRARY = "libnvidia-ml.so.1"
_UUID_BYTES = 96
"""``NVML_DEVICE_UUID_V2_BUFFER_SIZE``."""


class _Memory(ctypes.Structure):
    """``nvmlMemory_t``, in bytes."""

    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


def answering() -> frozenset[str] | None:
    """UUIDs. None: there is no such library, or it says nothing."""
    try:
        library = ctypes.CDLL(LIBRARY)
        if library.nvmlInit_v2() != 0:
            return None
    except (OSError, AttributeError):
        return None
    try:
        return _all(library)
    finally:
        library.nvmlShutdown()


def _all(library: ctypes.CDLL) -> frozenset[str] | None:
    count = ctypes.c_uint()
    if library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
        return None
    found = (_uuid(library, index) for index in range(count.value))
    return frozenset(uuid for uuid in found if uuid)


def _uuid(library: ctypes.CDLL, index: int) -> str:
    """Empty for one that is counted and does not answer, such as one that fell off the bus."""
    handle, text, memory = ctypes.c_void_p(), ctypes.create_string_buffer(_UUID_BYTES), _Memory()
    answers = (
        library.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(index), ctypes.byref(handle)) == 0
        and library.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == 0
        and library.nvmlDeviceGetUUID(handle, text, ctypes.c_uint(_UUID_BYTES)) == 0
    )
    return text.value.decode("ascii", "replace") if answers else ""
