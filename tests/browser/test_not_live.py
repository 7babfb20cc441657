"""When the hub falls silent the page says since when, goes grey, and heals by itself."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import DESK
from tests.system.stack import Stack

SILENCE_MS = 20_000


def _web_process(stack: Stack) -> int:
    """The server behind the page, by what it was started with."""
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            command = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"webapp.asgi:application" in command and str(stack.port).encode() in command:
            return int(entry.name)
    raise AssertionError("the web process was not found")


@contextmanager
def _stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_a_silent_hub_turns_the_page_grey_until_it_speaks_again(operator_page: Page, stack: Stack) -> None:
    page = operator_page
    page.goto("/nodes")
    row = page.locator("tr[data-node=node-1]")
    expect(row).to_contain_text("online")
    ink = row.evaluate("row => getComputedStyle(row.closest('.live')).filter")
    with _stopped(_web_process(stack)):
        expect(page.get_by_text(re.compile(r"not live since \d\d:\d\d:\d\d"))).to_be_visible(
            timeout=SILENCE_MS
        )
        assert row.evaluate("row => getComputedStyle(row.closest('.live')).filter") != ink
    expect(page.get_by_text(re.compile("not live since"))).not_to_be_visible(timeout=SILENCE_MS)
    expect(row).to_contain_text("online")


def test_the_description_of_the_api_needs_nothing_from_elsewhere(operator_page: Page, stack: Stack) -> None:
    page = operator_page
    page.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/api/docs")
    expect(page.get_by_text("/api/jobs/{id}/faults")).to_be_visible(timeout=SILENCE_MS)
    assert [url for url in asked if not url.startswith((stack.url, "data:"))] == []
