"""The live socket. What it sends is made from rows at the time of sending; hints only say when to look."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import suppress
from typing import Any, cast

from channels.exceptions import StopConsumer
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.conf import settings
from django.db import Error as DatabaseError
from django.utils import timezone

from webapp.accounts.socket import account_now
from webapp.page import read_build

from .pulse import read_pulse
from .subscription import Subscription
from .topics import UnknownTopic, group_of

log = logging.getLogger("regroup.live")

NOT_LOGGED_IN = 4401
TRY_LATER = 1013
PULSE_S = 2.0
FRESH_S = 1.0
"""With a pulse it is enough to see what anybody has read within that time."""
GATHER_S, MOST_S = 0.2, 2.0
"""At least and at most so long between two frames of one topic."""
TIMES = 4
"""So many times as long as it takes to read a topic, it is left alone: huge ones are read less often."""

Json = dict[str, Any]


class LiveConsumer(AsyncJsonWebsocketConsumer):
    """Keeps, for each topic, only what was sent last: a slow page costs no memory."""

    async def connect(self) -> None:
        await self.accept()
        if not await self._is_still_known():
            return
        self.topics: dict[str, Subscription] = {}
        self.joined: set[str] = set()
        self.wake = asyncio.Event()
        self.tasks = [asyncio.create_task(self._pulses()), asyncio.create_task(self._frames())]
        redis, build = (await read_pulse()).redis, read_build(settings.FRONTEND)
        await self._say({"type": "hello", "server_time": _now(), "redis": redis, "build": build})

    async def _is_still_known(self) -> bool:
        """Whether the account may watch, by the rows as they are now. Closes the socket if not."""
        try:
            account = await account_now(self.scope)
        except DatabaseError as error:
            log.warning("account not read error=%s", error)
            await self.close(TRY_LATER)
            return False
        if account is None:
            await self.close(NOT_LOGGED_IN)
        return account is not None

    async def disconnect(self, code: int) -> None:
        for task in getattr(self, "tasks", []):
            task.cancel()
        for group in list(getattr(self, "joined", ())):
            with suppress(Exception):
                await self._layer().group_discard(group, self.channel_name)
        raise StopConsumer

    async def receive(
        self, text_data: str | None = None, bytes_data: bytes | None = None, **kwargs: Any
    ) -> None:
        if not hasattr(self, "topics"):
            # It was turned away while this was on its way.
            return
        try:
            content = json.loads(text_data or "")
        except ValueError:
            content = None
        await self.receive_json(content)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        topic = content.get("topic") if isinstance(content, dict) else None
        if not isinstance(topic, str):
            await self._refuse("", 'A message names a topic: {"type": "subscribe", "topic": "jobs"}.')
            return
        match content.get("type"):
            case "subscribe" | "resync":
                await self._subscribe(topic)
            case "unsubscribe":
                await self._unsubscribe(topic)
            case other:
                await self._refuse(topic, f"There is no message of type {other!r}.")

    # -- topics --

    async def _subscribe(self, name: str) -> None:
        try:
            group = group_of(name)
        except UnknownTopic as error:
            await self._refuse(name, str(error))
            return
        topic = self.topics.get(name) or self.topics.setdefault(name, Subscription(name))
        topic.start_over()
        await self._join(group)
        self._mark(topic)

    async def _unsubscribe(self, name: str) -> None:
        if self.topics.pop(name, None) is None:
            return
        group = group_of(name)
        self.joined.discard(group)
        with suppress(Exception):
            await self._layer().group_discard(group, self.channel_name)

    async def _join(self, group: str) -> None:
        """Without Redis there are no hints; the pulse looks at the rows instead, and joins later."""
        try:
            await self._layer().group_add(group, self.channel_name)
            self.joined.add(group)
        except Exception as error:  # noqa: BLE001  # whatever is wrong with the layer, the socket stays
            log.debug("group not joined group=%s error=%s", group, error)

    async def changed(self, hint: Json) -> None:
        """A hint from the channel layer."""
        for topic in self.topics.values():
            if group_of(topic.topic) == hint["group"]:
                self._mark(topic)

    def _mark(self, topic: Subscription, age_s: float = 0.0) -> None:
        topic.mark(age_s)
        self.wake.set()

    # -- what is sent --

    async def _frames(self) -> None:
        """The first change goes out at once; those right behind it are gathered."""
        while True:
            await self.wake.wait()
            self.wake.clear()
            took_s = 0.0
            for topic in [topic for topic in self.topics.values() if topic.dirty]:
                topic.dirty = False
                took_s = max(took_s, await self._send_frame(topic))
            await asyncio.sleep(min(MOST_S, max(GATHER_S, TIMES * took_s)))

    async def _send_frame(self, topic: Subscription) -> float:
        """Gives how long it takes to read that topic."""
        try:
            reading = await topic.readings.after(topic.since)
        except UnknownTopic as error:
            self.topics.pop(topic.topic, None)
            await self._refuse(topic.topic, str(error))
            return 0.0
        except DatabaseError as error:
            log.warning("topic not read topic=%s error=%s", topic.topic, error)
            topic.dirty = True  # the next pulse wakes the sender
            return 0.0
        text = topic.next_frame(reading)
        if text is not None:
            await self.send(text_data=text)
        return reading.took_s

    async def _pulses(self) -> None:
        while True:
            await asyncio.sleep(PULSE_S)
            pulse = await read_pulse()
            await self._say(
                {
                    "type": "pulse",
                    "server_time": _now(),
                    "redis": pulse.redis,
                    "ingest_age_s": pulse.ingest_age_s,
                    "problem": pulse.problem,
                }
            )
            if not await self._is_still_known():
                return
            await self._look_again(pulse.redis)

    async def _look_again(self, redis: bool) -> None:
        """Rows are looked at with each pulse too: a lost hint costs three seconds and nothing else."""
        for topic in list(self.topics.values()):
            group = group_of(topic.topic)
            if redis and group not in self.joined:
                await self._join(group)
            self._mark(topic, FRESH_S)

    async def _refuse(self, topic: str, what: str) -> None:
        await self._say({"type": "refused", "topic": topic, "what": what, "reason": "unknown_topic"})

    async def _say(self, frame: Json) -> None:
        await self.send_json(frame)

    def _layer(self) -> Any:
        return cast(Any, self.channel_layer)


def _now() -> str:
    return timezone.now().isoformat(timespec="milliseconds")
