"""The way to Redis: connections that fail loudly instead of hanging, and loops that outlive an outage."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from ..wire import bus
from .gate import gate
from .troubles import Troubles, describe

log = logging.getLogger("regroup.agent")

BLOCK_S = 2
"""Seconds that a blocking read waits in Redis."""

_ANSWER_S = 10.0
"""Silence after which a connection is given up: well above ``BLOCK_S``, so that no blocking read
runs into it, and finite, so that a peer that vanished without a word is noticed."""

_LONGEST_PAUSE_S = 1.0


def connect(url: str) -> Redis:
    """A client for one thread. It does not retry by itself: its loop does, in ``keep_doing``."""
    client = bus.connect(
        url,
        decode_responses=True,
        socket_timeout=_ANSWER_S,
        socket_connect_timeout=2.0,
        socket_keepalive=True,
        retry=Retry(NoBackoff(), 0),
    )
    return gate.guard(client)


def keep_doing(step: Callable[[], None], stopping: threading.Event, name: str, troubles: Troubles) -> None:
    """Call ``step`` until it is time to stop. No error ends the loop, and none is said twice in a row.

    While Redis cannot be used the pauses grow to a second; who says so is the heartbeat.
    """
    pause_s = 0.05
    while not stopping.is_set():
        try:
            step()
        except RedisError as error:
            log.debug("redis failed loop=%s error=%r", name, error)
            stopping.wait(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, pause_s * 2)
        except OSError as error:
            troubles.note(name, describe(error))
            stopping.wait(_LONGEST_PAUSE_S)
        except Exception as error:  # the edge of a loop that must go on
            # While the gate is shut, a connection may have been taken away under it.
            says = f"The node agent fails in its {name} ({error!r}); see its log."
            if gate.left_s <= 0 and troubles.note(name, says):
                log.exception("step failed loop=%s", name)
            stopping.wait(_LONGEST_PAUSE_S)
        else:
            pause_s = 0.05
            troubles.clear(name)


def start_loop(
    step: Callable[[], None], stopping: threading.Event, name: str, troubles: Troubles
) -> threading.Thread:
    thread = threading.Thread(
        target=keep_doing, args=(step, stopping, name, troubles), name=name, daemon=True
    )
    thread.start()
    return thread
