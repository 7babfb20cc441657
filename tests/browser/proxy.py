"""A TCP proxy between a browser and the hub, whose connections can be cut, stalled and refused."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

OPEN, CUT, STALLED, REFUSING = "open", "cut", "stalled", "refusing"

CHUNK = 65536


@dataclass
class Link:
    """One connection of the browser. ``is_dead``: nothing passes any more, and nobody is told."""

    writers: list[asyncio.StreamWriter]
    is_dead: bool = False


@dataclass
class Proxy:
    """Runs in a thread of its own, because the browser's driver keeps the event loop of the test's."""

    upstream: int
    """Port of the hub. New connections go to the one that is set when they come."""
    port: int = 0
    asked: list[tuple[float, str]] = field(default_factory=list)
    """Each connection: when it came, by the monotonic clock, and the path it asked for first."""
    mode: str = OPEN
    _links: list[Link] = field(default_factory=list)
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def sockets_asked(self, since: float) -> list[float]:
        """When the live socket was tried, from that moment on."""
        return [at for at, path in self.asked if at >= since and path == "/ws/live"]

    def cut(self) -> None:
        """Close every connection, and each new one as soon as it has said what it wants."""
        self._become(CUT)

    def stall(self) -> None:
        """As when a cable is pulled: nothing passes, nothing is closed; what was open never comes back."""
        self._become(STALLED)

    def refuse(self) -> None:
        """Close every connection and listen no more."""
        self._become(REFUSING)

    def mend(self) -> float:
        """New connections pass again. Gives the moment."""
        self._become(OPEN)
        return time.monotonic()

    def _become(self, mode: str) -> None:
        asyncio.run_coroutine_threadsafe(self._change(mode), self._loop).result(10)

    async def _change(self, mode: str) -> None:
        self.mode = mode
        for link in self._links:
            link.is_dead = link.is_dead or mode == STALLED
            if mode in (CUT, REFUSING) and not link.is_dead:
                _abort(link)
        if mode == REFUSING and self._server is not None:
            self._server.close()
            self._server = None
        elif mode != REFUSING and self._server is None:
            await self._listen()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = int(self._server.sockets[0].getsockname()[1])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = Link([writer], is_dead=self.mode == STALLED)
        self._links.append(link)
        with suppress(OSError, asyncio.IncompleteReadError, IndexError):
            first = await reader.readuntil(b"\n")
            self.asked.append((time.monotonic(), first.split()[1].decode()))
            if self.mode == OPEN and not link.is_dead:
                await self._pass(link, reader, first)
            elif link.is_dead:
                await reader.read()
        _abort(link)
        self._links.remove(link)

    async def _pass(self, link: Link, reader: asyncio.StreamReader, first: bytes) -> None:
        theirs, to_hub = await asyncio.open_connection("127.0.0.1", self.upstream)
        link.writers.append(to_hub)
        to_hub.write(first)
        ways = [_pump(link, reader, to_hub), _pump(link, theirs, link.writers[0])]
        _, rest = await asyncio.wait(
            [asyncio.ensure_future(way) for way in ways], return_when=asyncio.FIRST_COMPLETED
        )
        for way in rest:
            way.cancel()


async def _pump(link: Link, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(CHUNK):
            if not link.is_dead:
                writer.write(data)
                await writer.drain()


def _abort(link: Link) -> None:
    for writer in link.writers:
        writer.transport.abort()


@contextmanager
def run_proxy(upstream: int) -> Iterator[Proxy]:
    proxy = Proxy(upstream)
    thread = threading.Thread(target=proxy._loop.run_forever, name="proxy", daemon=True)
    thread.start()
    try:
        proxy.mend()
        yield proxy
    finally:
        proxy.refuse()
        proxy._loop.call_soon_threadsafe(proxy._loop.stop)
        thread.join(10)
