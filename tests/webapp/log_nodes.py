"""Nodes with logs on disk, which answer as real ones do: with the node agent's own code."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

from agents.bundle import Bundle
from agents.logs import times
from agents.node.requests import answer_to
from agents.wire import streams
from agents.wire.codec import read_request
from agents.wire.plain import to_json
from tests.agents.node_harness import start_command
from webapp.redis import get_blocking_redis


class LogNode:
    """``stop`` makes it silent; what is on its disk stays."""

    def __init__(self, folder: Path, name: str, attempt: str) -> None:
        self.name, self.data = name, folder / name
        self.bundle = Bundle(self.data / "bundles" / attempt)
        self.bundle.create(start_command(name).message)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def write(self, rank: int, stream: str, data: bytes, at_ms: int, round_number: int = 1) -> None:
        """Add to a stream, and note that it was at that time."""
        path = self.bundle.log(round_number, rank, stream)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(data)
        times.append(path, times.encode(at_ms, path.stat().st_size, 250))

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(10)

    def _run(self) -> None:
        connection = get_blocking_redis()
        while not self._stopping.is_set():
            found: Any = connection.blpop([streams.requests(self.name)], timeout=0.2)
            if found is not None:
                request = read_request(found[1])
                connection.rpush(
                    streams.answer(request.id), to_json(answer_to(request, self.data, self.name))
                )
