"""What a node forgets, and when: never a record that the hub's database does not have.

Bundles go some days after their process has ended; the node's own journal is cut down to its last
line once it has grown and everything in it is acknowledged; pages of the ledger go after a day.
"""

from __future__ import annotations

import json
import logging
import shutil
import threading
import time
from collections.abc import Mapping
from pathlib import Path

from ..bundle import KINDS, Bundle, KeeperBundle, bundle_of, find_bundles, find_keeper, list_bundles
from ..journal import Line
from .code import forget_code
from .journal import NodeJournal
from .ledger import Ledger
from .tail import needs_shipping

log = logging.getLogger("regroup.agent")

DAY_S = 24 * 3600.0
EVERY_S = 600.0
TRIM_BYTES = 64 << 10
"""The node's journal is not looked at before it is longer than this."""
LOOK_S = 10.0
"""Nor oftener than this: what must stay may be all of it."""
GONE = ".gone-"


class Trimming:
    def __init__(self, data: Path, keep_days: float, journal: NodeJournal, ledger: Ledger) -> None:
        self._data = data
        self._keep_s = keep_days * DAY_S
        self._journal = journal
        self._ledger = ledger
        self._next_look = 0.0

    def step(self, stopping: threading.Event) -> None:
        self.prune_bundles()
        forget_code(self._data, older_than_s=self._keep_s)
        self._ledger.forget_closed(older_than_s=DAY_S)
        stopping.wait(min(EVERY_S, self._keep_s + 1))

    # -- bundles --

    def prune_bundles(self) -> None:
        """Remove whole bundles. Renamed first: one that was half removed is no bundle any more."""
        for bundle in list_bundles(self._data):
            if self._is_over(bundle):
                name = bundle.folder.name
                bundle.folder.rename(bundle.folder.with_name(f"{GONE}{name}"))
                log.info("bundle is removed of=%s bundle=%s", bundle.PROCESS, name)
        for kind in KINDS:
            for left in (self._data / kind.HOME).glob(f"{GONE}*"):
                shutil.rmtree(left, ignore_errors=True)

    def _is_over(self, bundle: Bundle) -> bool:
        if not bundle.is_settled() or needs_shipping(bundle):
            return False
        keeper = find_keeper(self._data, bundle.attempt)
        if keeper is not None and not keeper.is_settled():
            return False  # by the runner's bundle it is known that the keeper is needed
        return self._is_old(bundle)

    def _is_old(self, bundle: Bundle) -> bool:
        """The logs of an attempt's earlier runners here stay as long as those of the last one."""
        is_runner = not isinstance(bundle, KeeperBundle)
        alike = find_bundles(self._data, bundle.attempt) if is_runner else [bundle]
        if not all(one.is_settled() for one in alike):
            return False
        return time.time() - max(one.settled_at() for one in alike) >= self._keep_s

    # -- the node's own journal --

    def trim_journal(self, acked: int) -> bool:
        """Cut off what the database has. Whether anything was cut; readers begin anew then.

        To be called by whoever reads the journal, between two reads.
        """
        if self._journal.size() < TRIM_BYTES or time.monotonic() < self._next_look:
            return False
        self._next_look = time.monotonic() + LOOK_S
        return self._journal.cut(lambda lines: self._first_kept(lines, acked))

    def _first_kept(self, lines: list[Line], acked: int) -> int:
        """The index of the first line that must stay. Pages of commands that end before it are closed."""
        for index, line in enumerate(lines[:-1]):
            if line.seq is not None and (line.seq >= acked or not self.may_go(json.loads(line.text))):
                return index
        return max(0, len(lines) - 1)

    def may_go(self, record: Mapping[str, object]) -> bool:
        """Whether the next daemon would not miss that record: it must not write the same one again."""
        kind = record.get("kind")
        if kind == "command_received":
            return self._ledger.has_ended(str(record["command"]))
        if kind == "command_ended":
            self._ledger.close(str(record["command"]))
        if kind == "runner_settled":
            bundle = bundle_of(Bundle, self._data, str(record["attempt"]), _incarnation_in(record))
            return not bundle.folder.exists() or bundle.is_settled()
        return True


def _incarnation_in(record: Mapping[str, object]) -> int:
    return int(str(record.get("incarnation", 1)))
