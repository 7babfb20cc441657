"""Sockets that want the same topic at the same time read it once; none is given what is too old for it."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from webapp.live import readings
from webapp.live.readings import readings_of
from webapp.live.subscription import Subscription

Json = dict[str, Any]


class Rows:
    """What is read takes until ``go`` is set."""

    def __init__(self) -> None:
        self.go, self.begun, self.reads = asyncio.Event(), asyncio.Event(), 0

    async def read(self, topic: str) -> tuple[int, Json]:
        self.reads += 1
        number = self.reads
        self.begun.set()
        await self.go.wait()
        return number, {"id": 1, "step": number, "workers": []}


@pytest.fixture
async def rows(monkeypatch: pytest.MonkeyPatch) -> Rows:
    rows = Rows()
    monkeypatch.setattr(readings, "read_topic", rows.read)
    return rows


async def test_who_has_heard_of_a_change_meanwhile_waits_for_the_next_reading(rows: Rows) -> None:
    topic, earlier = readings_of("job:1"), time.monotonic()
    many = [asyncio.create_task(topic.after(earlier)) for _ in range(20)]
    await rows.begun.wait()
    late = [asyncio.create_task(topic.after(time.monotonic())) for _ in range(20)]
    rows.go.set()
    assert {reading.version for reading in await asyncio.gather(*many)} == {1}
    assert {reading.version for reading in await asyncio.gather(*late)} == {2}
    assert rows.reads == 2


async def test_sockets_that_share_a_reading_number_their_frames_themselves(rows: Rows) -> None:
    rows.go.set()
    one, two = Subscription("job:1"), Subscription("job:1")
    frames: list[tuple[Json, Json]] = []
    for _ in range(2):
        reading = await one.readings.after(time.monotonic())
        texts = [socket.next_frame(reading) for socket in (one, two)]
        frames.append((json.loads(texts[0] or ""), json.loads(texts[1] or "")))
    two.start_over()
    assert (
        frames[0][0]
        == frames[0][1]
        == {
            "type": "snapshot",
            "topic": "job:1",
            "n": 1,
            "version": 1,
            "data": {"id": 1, "step": 1, "workers": []},
        }
    )
    assert frames[1][0] == frames[1][1]
    assert (frames[1][0]["n"], frames[1][0]["set"], frames[1][0]["type"]) == (2, {"step": 2}, "change")
    assert one.next_frame(reading) is None
    assert json.loads(two.next_frame(reading) or "")["n"] == 1
