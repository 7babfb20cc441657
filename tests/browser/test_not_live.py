"""When a part of the hub falls silent the page says since when, goes grey, and heals by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest
from playwright.sync_api import Page, expect

from tests.system.stack import Stack
from tests.waiting import ms

SILENCE_MS = ms(20)

PARTS = ["web", "valkey-server", "ingest"]


def _process(stack: Stack, part: str) -> psutil.Process:
    found = stack.process_of(part)
    assert found is not None
    return found


@contextmanager
def _stopped(process: psutil.Process) -> Iterator[None]:
    process.suspend()
    try:
        yield
    finally:
        process.resume()


@pytest.mark.parametrize("part", PARTS)
def test_a_silent_part_turns_the_page_grey_until_it_speaks_again(
    operator_page: Page, stack: Stack, part: str
) -> None:
    page = operator_page
    page.goto("/nodes")
    row = page.locator("tr[data-node=node-1]")
    expect(row).to_contain_text("online", timeout=SILENCE_MS)
    filter_of_row = "row => getComputedStyle(row.closest('.live')).filter"
    in_colour = row.evaluate(filter_of_row)
    badge = page.get_by_text(re.compile(r"not live since \d\d:\d\d:\d\d"))
    with _stopped(_process(stack, part)):
        expect(badge).to_be_visible(timeout=SILENCE_MS)
        assert row.evaluate(filter_of_row) != in_colour
    expect(badge).not_to_be_visible(timeout=SILENCE_MS)
    expect(row).to_contain_text("online", timeout=SILENCE_MS)


def test_the_description_of_the_api_needs_nothing_from_elsewhere(operator_page: Page, stack: Stack) -> None:
    page = operator_page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto("/api/docs")
    expect(page.get_by_text("/api/jobs/{id}/faults").first).to_be_visible(timeout=SILENCE_MS)
    assert [url for url in asked if not url.startswith((stack.url, "data:"))] == []
