"""A web process with too many open files says so, and is well again once it may open more."""

from __future__ import annotations

import itertools
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psutil

from tests.system.stack import Stack
from tests.waiting import wait_until

SAYS = "too many open files"


def allow_no_more_files(process: psutil.Process) -> None:
    """The limit counts from the lowest number that is free, whatever is open above it."""
    used = {int(path.name) for path in Path(f"/proc/{process.pid}/fd").iterdir()}
    lowest = next(number for number in itertools.count() if number not in used)
    _, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (lowest, hard))


@contextmanager
def no_file_left(process: psutil.Process) -> Iterator[None]:
    soft, hard = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
    allow_no_more_files(process)
    try:
        yield
    finally:
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (soft, hard))


def test_the_page_is_told_why_and_the_log_is_told_once(stack: Stack) -> None:
    log = stack.data / "logs" / "web.log"
    with stack.client("otto", "operator") as api:
        assert api.get("/api/jobs").status_code == 200
        web = stack.process_of("web")
        assert web is not None

        def refused() -> httpx.Response | None:
            # A file that the process has closed since would give it room for another one.
            allow_no_more_files(web)
            # Over the connection that is open already: no other is accepted.
            answer = api.get("/api/jobs")
            return answer if answer.status_code == 503 else None

        with no_file_left(web):
            answer = wait_until(refused, 30, "a request to be refused")
            assert answer.json()["reason"] == "too_many_open_files"
            assert SAYS in answer.json()["what"]
            assert refused() is not None
        wait_until(lambda: api.get("/api/jobs").status_code == 200, 30, "the web process to be well again")
    assert log.read_text().count(SAYS) == 1
