"""A log of 300,000 lines in a real browser: opened at its end, followed, scrolled and searched."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import DESK, PHONE, log_in, open_window
from tests.system.jobs import launch, stop
from tests.system.stack import Stack
from tests.waiting import ms, wait_until

log = logging.getLogger("regroup.tests")

LINES = 300_000
SOON_MS = ms(60)
SCRIPT = f"""
import os, sys, time
rank, out = int(os.environ["RANK"]), sys.stdout.buffer
if rank == 0:
    for start in range(0, {LINES}, 10_000):
        line = b"line %06d loss 2.50 and the rest of a usual line\\n"
        out.write(b"".join(line % n for n in range(start, start + 10_000)))
    out.write(b"\\x1b[31mred alert\\x1b[0m on \\x1b[38;2;255;255;0myellow\\x1b[0m\\n")
    out.write(b"10%\\r50%\\r100% of the bar\\n")
    out.write(b"<img src=x onerror=alert(1)> is text, and \\xff\\xfe are no text\\n")
    out.write(b"long " + b"x" * 5000 + b"\\n")
else:
    sys.stderr.write("rank 1 has something to say\\n")
out.write(b"rank %d is ready\\n" % rank)
out.flush()
while True:
    time.sleep(0.2)
    print("tick", int(time.time() * 1000), flush=True)
"""


@pytest.fixture(scope="module")
def talking(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A job of two ranks: rank 0 has written 300,000 lines and some odd ones; both go on slowly."""
    script = tmp_path_factory.mktemp("script") / "talk.py"
    Path(script).write_text(SCRIPT)
    job_id = launch(api, name="talk", script=str(script), nproc_per_node=2, start="exec")

    def is_ready() -> bool:
        found = api.get(f"/api/jobs/{job_id}/logs", params={"q": "rank 0 is ready", "limit": 1})
        return bool(found.json().get("items"))

    wait_until(is_ready, 90, "rank 0 to have written its lines")
    yield job_id
    stop(api, job_id)


@pytest.fixture(scope="module")
def window(chromium: Browser, stack: Stack) -> Iterator[Page]:
    """One window for all, logged in once. Errors of the page's own fail the test."""
    context = open_window(chromium, stack.url)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    log_in(opened, stack)
    yield opened
    context.close()
    assert errors == []


@pytest.fixture
def at_desk(window: Page) -> Page:
    window.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    return window


def _log(page: Page) -> Locator:
    return page.get_by_role("log", name="Output")


def _rows(page: Page) -> Locator:
    return _log(page).locator("[data-index]")


def _heap_mib(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used: float = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used / 2**20


def _newest_tick_age_ms(page: Page) -> int | None:
    texts = _rows(page).all_inner_texts()
    ticks = [int(found[1]) for text in texts if (found := re.search(r"tick (\d+)", text))]
    return page.evaluate("Date.now()") - max(ticks) if ticks else None


def test_it_opens_at_its_end_and_shows_new_lines_as_they_come(at_desk: Page, talking: int) -> None:
    page = at_desk
    page.goto("/jobs")
    begun = time.monotonic()
    page.goto(f"/jobs/{talking}?tab=logs&rank=0")
    expect(_log(page)).to_contain_text("tick", timeout=SOON_MS)
    opened_s = time.monotonic() - begun
    ages = [age for _ in range(10) if (age := _newest_tick_age_ms(page)) is not None]
    log.info("opened at its end after %.2f s; newest line %s to %s ms old", opened_s, min(ages), max(ages))
    first = _newest_tick_age_ms(page)
    assert first is not None
    seen = _rows(page).last.inner_text()
    expect(_rows(page).last).not_to_have_text(seen)
    assert _rows(page).count() < 120


def test_it_scrolls_back_without_limit_and_holds_only_a_part(at_desk: Page, talking: int) -> None:
    page = at_desk
    page.goto(f"/jobs/{talking}?tab=logs&rank=0")
    expect(_log(page)).to_contain_text("tick", timeout=SOON_MS)
    before = _heap_mib(page)
    _log(page).hover()

    def earliest() -> int:
        numbers = re.findall(r"line (\d{6})", _log(page).inner_text())
        return min(map(int, numbers), default=LINES)

    def scroll() -> bool:
        # What comes late above the log moves it away from under the mouse.
        _log(page).hover()
        page.mouse.wheel(0, -30_000)
        return earliest() < LINES - 8000

    begun = time.monotonic()
    wait_until(scroll, 60, "lines 8,000 before the end")
    took_s = time.monotonic() - begun
    shown = [int(number) for number in re.findall(r"line (\d{6})", _log(page).inner_text())]
    assert shown == list(range(shown[0], shown[0] + len(shown)))
    held = page.evaluate("document.querySelector('[role=log] > div:last-child').clientHeight") / 18
    log.info("scrolled %s lines back in %.1f s; %.0f lines held", LINES - shown[0], took_s, held)
    log.info("heap %.1f MiB before, %.1f MiB after", before, _heap_mib(page))
    assert held < 7000
    assert _rows(page).count() < 120
    page.get_by_role("tabpanel", name="Logs").get_by_role("switch", name="follow").click()
    expect(_rows(page).last).to_contain_text("tick", timeout=SOON_MS)


def test_a_search_leads_from_hit_to_hit_in_their_context(at_desk: Page, talking: int) -> None:
    page = at_desk
    page.goto(f"/jobs/{talking}?tab=logs&rank=0")
    expect(_log(page)).to_contain_text("tick", timeout=SOON_MS)
    field = page.get_by_role("searchbox", name="Regular expression to search for")
    field.fill(r"line 1\d0000 loss")
    field.press("Enter")
    search = page.get_by_role("search", name="Search in this log")
    expect(search.get_by_role("status")).to_contain_text("10 hits", timeout=SOON_MS)
    field.press("Enter")
    expect(search.get_by_role("status")).to_contain_text("10 of 10 hits", timeout=SOON_MS)
    target = _log(page).locator("[data-target]")
    expect(target).to_contain_text("line 190000", timeout=SOON_MS)
    expect(target).to_be_in_viewport()
    expect(target.locator("mark")).to_have_text("line 190000 loss")
    expect(_log(page)).to_contain_text("line 189999")
    search.get_by_role("button", name="Hit before").click()
    expect(target).to_contain_text("line 180000", timeout=SOON_MS)
    expect(target).to_be_in_viewport()
    assert parse_qs(urlsplit(page.url).query)["find"] == [r"line 1\d0000 loss"]
    page.reload()
    expect(target).to_contain_text("line 180000", timeout=SOON_MS)
    page.get_by_role("button", name="To the end").click()
    expect(_rows(page).last).to_contain_text("tick", timeout=SOON_MS)
    field.fill("(")
    field.press("Enter")
    expect(search.get_by_role("alert")).to_contain_text("is no regular expression", timeout=SOON_MS)


def test_colours_bars_markup_and_long_lines_are_shown_for_what_they_are(at_desk: Page, talking: int) -> None:
    page = at_desk
    page.goto(f"/jobs/{talking}?tab=logs&rank=0&find=red+alert")
    search = page.get_by_role("search", name="Search in this log")
    expect(search.get_by_role("status")).to_contain_text("1 hit", timeout=SOON_MS)
    search.get_by_role("button", name="Hit before").click()
    shown_log = _log(page)
    red = shown_log.locator("[data-target] span[style*='--ansi-1']")
    expect(red).to_have_text("red alert", timeout=SOON_MS)
    expect(shown_log.get_by_text("100% of the bar")).to_have_text("100% of the bar")
    expect(shown_log.get_by_text("<img src=x onerror=alert(1)> is text, and �� are no text")).to_be_visible()
    assert shown_log.locator("img").count() == 0
    long = shown_log.locator("[data-index]", has_text="long xxx")
    assert len(long.inner_text()) < 1200
    long.get_by_role("button", name=re.compile("show all 5,005 characters")).click()
    assert len(long.inner_text()) > 5000


def test_all_ranks_are_one_log_with_whose_and_when(at_desk: Page, talking: int, stack: Stack) -> None:
    page = at_desk
    page.goto(f"/jobs/{talking}?tab=logs&rank=all&stream=both&find=something+to+say")
    search = page.get_by_role("search", name="Search in this log")
    expect(search.get_by_role("status")).to_contain_text("1 hit", timeout=SOON_MS)
    search.get_by_role("button", name="Hit before").click()
    target = _log(page).locator("[data-target]")
    expect(target).to_contain_text("rank 1 has something to say", timeout=SOON_MS)
    assert "Rank 1 on node-" in (target.locator("[title]").get_attribute("title") or "")
    page.get_by_role("button", name="To the end").click()
    expect(_rows(page).last).to_contain_text("tick", timeout=SOON_MS)
    page.get_by_label("Rank", exact=True).select_option("1")
    page.get_by_text("stdout", exact=True).click()
    with page.expect_download() as told:
        page.get_by_role("link", name="Download").click()
    assert told.value.suggested_filename == f"job-{talking}-attempt-1-round-1-rank-1-stdout.log"
    assert told.value.path().read_text().startswith("rank 1 is ready\n")


def test_a_moment_of_the_timeline_leads_to_its_lines(at_desk: Page, talking: int) -> None:
    page = at_desk
    page.goto(f"/jobs/{talking}?round=1&attempt=1")
    page.get_by_role("link", name="Show what it wrote first").click()
    expect(_log(page)).to_contain_text("line 000000", timeout=SOON_MS)
    expect(page.get_by_text("The log begins here.")).to_be_visible()
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(_log(page)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
