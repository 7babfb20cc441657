"""Which processes belong to a bundle: by their mark, or where a worker hides it, by what was recorded.

A script that sets its process title writes over the environment it was started with, and its mark with it.
Its pid and start time are in the journal, and whatever it forks stays in its session unless it leaves it.
"""

from __future__ import annotations

import json
import mmap
from pathlib import Path

from .. import procs
from ..bundle import Bundle
from ..procs import ProcessRef

_KIND = b'"kind":"workers_started"'


def find_kin(bundle: Bundle) -> list[ProcessRef]:
    """Every live process of the bundle, its runner included."""
    found = {ref.pid: ref for ref in procs.find_marked(bundle.mark)}
    leaders = {ref.pid: ref for ref in recorded_workers(bundle) if _is_free_or_ours(ref)}
    if leaders:
        for pid in procs.all_pids():
            if pid not in found and procs.session_of(pid) in leaders and (ref := procs.ref_of(pid)):
                found[pid] = ref
    return list(found.values())


def end_kin(bundle: Bundle) -> tuple[list[int], list[int]]:
    """SIGKILL them all; gives the pids that were signalled, and those that still run after ten seconds."""
    return procs.end_found(lambda: find_kin(bundle))


def is_kin(bundle: Bundle, ref: ProcessRef) -> bool:
    """Whether that process is one of the bundle's."""
    return procs.carries_mark(ref.pid, bundle.mark) or ref in recorded_workers(bundle)


def _is_free_or_ours(worker: ProcessRef) -> bool:
    """While anybody is left in a session, the kernel gives its leader's pid to nobody else."""
    return procs.start_time(worker.pid) in (None, worker.start_time)


def recorded_workers(bundle: Bundle) -> list[ProcessRef]:
    """The workers of the newest round, as the runner recorded them; none from before the last boot."""
    runner, record = bundle.process(), _newest(bundle.journal)
    if runner is None or record is None or runner.boot_id != procs.boot_id():
        return []
    return [ProcessRef(w["pid"], w["start_time"], runner.boot_id) for w in record["workers"]]


def _newest(journal: Path) -> dict[str, list[dict[str, int]]] | None:
    """The last whole record of workers that started, found from the end: journals grow long."""
    try:
        with journal.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
            return _last_with(text)
    except (FileNotFoundError, ValueError):  # mmap refuses an empty file
        return None


def _last_with(text: mmap.mmap) -> dict[str, list[dict[str, int]]] | None:
    at = text.rfind(_KIND)
    while at >= 0:
        end = text.find(b"\n", at)
        if end >= 0:
            record: dict[str, list[dict[str, int]]] = json.loads(text[text.rfind(b"\n", 0, at) + 1 : end])
            return record
        at = text.rfind(_KIND, 0, at)
    return None
