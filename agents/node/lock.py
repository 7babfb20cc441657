"""One agent for each data folder: two would carry out each command twice."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import TextIO


class DataFolderTaken(RuntimeError):
    """Another agent holds the folder. The text says which."""


def lock_data_folder(data: Path, name: str) -> TextIO:
    """Lock the folder for as long as the returned file is open; the kernel lets go of it at our death.

    Raises:
        DataFolderTaken: naming the agent that holds it.
    """
    file = (data / "agent.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise DataFolderTaken(
            f"The data folder {str(data)!r} is in use by another node agent ({holder}). "
            "Stop that one first, or give another --data."
        ) from None
    file.truncate(0)
    file.write(f"node {name}, pid {os.getpid()}\n")
    file.flush()
    return file
