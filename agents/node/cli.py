"""The console script ``regroup-agent``."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence

from .config import Config, ConfigError, read_config
from .lock import DataFolderTaken, lock_data_folder


def main(argv: Sequence[str] | None = None) -> int:
    if sys.platform != "linux":
        return _refuse("regroup-agent runs on Linux only, as it finds processes through /proc and pidfd.")
    try:
        config = read_config(sys.argv[1:] if argv is None else argv, os.environ)
    except ConfigError as error:
        return _refuse(str(error))
    return run_daemon(config)


def run_daemon(config: Config) -> int:
    # What is imported here is heavy, and a refusal need not wait for it.
    from .daemon import Daemon, count_slots

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr)
    try:
        config.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = lock_data_folder(config.data, config.name)
        daemon = Daemon(config, count_slots(config))
    except DataFolderTaken as error:
        return _refuse(str(error), status=1)
    except ConfigError as error:
        return _refuse(str(error))
    except OSError as error:
        where = error.filename or str(config.data)
        return _refuse(
            f"The data folder {str(config.data)!r} cannot be used: {error.strerror} ({where}). "
            "Make it writable, with room on its disk, or name another one with --data."
        )
    with lock:
        return daemon.run()


def _refuse(sentence: str, status: int = 2) -> int:
    sys.stderr.write(f"regroup-agent: {sentence}\n")
    return status
