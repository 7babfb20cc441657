"""Answers what the hub wants to read: at once, and without a trace."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import assert_never

from redis import Redis
from redis.exceptions import RedisError

from ..wire import streams
from ..wire.checks import CheckNode, CheckNodeAnswer
from ..wire.codec import Unreadable, read_request, to_json
from ..wire.commands import (
    AnyRequest,
    EvidenceSlice,
    EvidenceSliceAnswer,
    LogSlice,
    LogSliceAnswer,
    TakeStacks,
)
from ..wire.log_requests import LogBytes, LogBytesAnswer, LogMerge, LogMergeAnswer, LogSearch
from ..wire.stacks import StacksAnswer
from .checks import answer_check
from .evidence_parts import read_part
from .link import BLOCK_S
from .log_bytes import read_bytes
from .log_merging import read_merged, search_lines
from .logs import read_slice
from .stacks import take_stacks

log = logging.getLogger("regroup.agent")

KEPT_S = 10
"""Seconds that an answer waits for whoever asked."""
AT_ONCE = 8
"""Requests that are answered at the same time: one that hangs for its two seconds delays no other."""


class Requests:
    def __init__(
        self,
        redis: Redis,
        node: str,
        data: Path,
        python: str = sys.executable,
        environments: Mapping[str, str] | None = None,
        hub_url: str | None = None,
    ) -> None:
        """``python``: the default interpreter of jobs. ``environments``: those that they ask for by name.

        ``hub_url``: where the hub is reached from here. None: where it says itself.
        """
        self._redis = redis
        self._node = node
        self._data = data
        self._python, self._environments = python, environments
        self._hub_url = hub_url
        self._places = threading.BoundedSemaphore(AT_ONCE)

    def step(self) -> None:
        popped = self._redis.blpop([streams.requests(self._node)], timeout=BLOCK_S)
        if popped is not None:
            self._places.acquire()
            threading.Thread(target=self._try, args=(str(popped[1]),), name="request", daemon=True).start()

    def _try(self, body: str) -> None:
        try:
            self._answer(body)
        except RedisError as error:
            log.debug("answer not delivered error=%r", error)
        except Exception:  # the edge of a thread: whoever asked is told that no answer came
            log.exception("request failed body=%.200s", body)
        finally:
            self._places.release()

    def _answer(self, body: str) -> None:
        try:
            request = read_request(body)
        except Unreadable as error:
            log.error("request cannot be read error=%s body=%.200s", error, body)
            return
        pipe = self._redis.pipeline(transaction=False)
        answer = answer_to(request, self._data, self._node, self._python, self._environments, self._hub_url)
        pipe.rpush(streams.answer(request.id), to_json(answer))
        pipe.expire(streams.answer(request.id), KEPT_S)
        pipe.execute()


def answer_to(
    request: AnyRequest,
    data: Path,
    node: str,
    python: str = sys.executable,
    environments: Mapping[str, str] | None = None,
    hub_url: str | None = None,
) -> LogSliceAnswer | LogMergeAnswer | LogBytesAnswer | EvidenceSliceAnswer | StacksAnswer | CheckNodeAnswer:
    match request:
        case LogSlice():
            return read_slice(request, data, node)
        case LogMerge():
            return read_merged(request, data, node)
        case LogSearch():
            return search_lines(request, data, node)
        case LogBytes():
            return read_bytes(request, data, node)
        case EvidenceSlice():
            return read_part(request, data, node)
        case TakeStacks():
            return take_stacks(request, data, node)
        case CheckNode():
            return answer_check(request, data, node, python, environments, hub_url)
        case _:
            assert_never(request)
