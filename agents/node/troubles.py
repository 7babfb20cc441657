"""What is wrong on this node at present: said once in the log, and told to the hub with each sign of life."""

from __future__ import annotations

import errno
import logging
import threading

log = logging.getLogger("regroup.agent")

WHAT_TO_DO = {
    errno.ENOSPC: "Make room there; records wait in memory until then.",
    errno.EDQUOT: "Raise the quota, or make room; records wait in memory until then.",
    errno.EROFS: "Mount it writable again; records wait in memory until then.",
    errno.EMFILE: "Raise the limit of open files of the node agent (ulimit -n, LimitNOFILE=).",
    errno.ENFILE: "The whole machine has too many open files: raise fs.file-max, or end what holds them.",
}


class Troubles:
    """From any thread. One sentence for each thing that does not work, until it works again."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._lock = threading.Lock()

    def note(self, what: str, text: str) -> bool:
        """Whether that is news."""
        with self._lock:
            is_new = what not in self._texts
            self._texts[what] = text
        if is_new:
            log.error("trouble what=%s: %s", what, text)
        return is_new

    def clear(self, what: str) -> None:
        with self._lock:
            was_there = self._texts.pop(what, None)
        if was_there:
            log.info("trouble is over what=%s", what)

    def texts(self) -> list[str]:
        with self._lock:
            return sorted(set(self._texts.values()))


def describe(error: OSError) -> str:
    """What could not be done, on what, and what to do about it."""
    on = f" ({error.filename})" if error.filename else ""
    sentence = f"The node agent meets: {error.strerror or error}{on}."
    return f"{sentence} {WHAT_TO_DO.get(error.errno or 0, '')}".strip()
