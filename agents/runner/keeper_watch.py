"""Whether the store that a runner waits for is still to come. Standard library only."""

from __future__ import annotations

import json

from ..bundle import Bundle, KeeperBundle
from ..journal import last_line
from ..wire.spec import StartMessage
from ..wire.store import keeps_store
from .endpoint import StoreError


class KeeperWatch:
    """Only the store host's own runner can tell; the other nodes are told of its end."""

    def __init__(self, bundle: Bundle, message: StartMessage) -> None:
        data = bundle.folder.parents[1]
        self._keeper = KeeperBundle(data / KeeperBundle.HOME / bundle.attempt)
        self._is_here, self._node = keeps_store(message), message.node

    def check(self) -> None:
        """Raises ``StoreError`` once the node agent has settled the keeper."""
        if self._is_here and self._keeper.is_settled():
            raise StoreError(
                f"The rendezvous store on {self._node} is gone, so nobody can meet: {self._why()}"
            )

    def _why(self) -> str:
        line = last_line(self._keeper.journal)
        return str(json.loads(line.text).get("reason", "")) if line and line.seq is not None else ""
