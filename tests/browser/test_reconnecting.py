"""A bad night: the socket is cut, the laptop sleeps, the hub is replaced. Then the page equals the API."""

from __future__ import annotations

import os
import re
import signal
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.conftest import open_window
from tests.browser.newer_page import another_web, built_anew
from tests.browser.proxy import Proxy, run_proxy
from tests.system.jobs import job, kill, launch_counting, stop, wait_job
from tests.system.stack import Stack
from tests.waiting import ms, wait_until

CUT_S = float(os.environ.get("REGROUP_TEST_CUT_S", "12"))
ASLEEP_S = 20.0
EQUAL_S = 40.0
"""Promised are 3 s on a machine that has nothing else to do."""
NOTICED_MS = ms(30)
SLOW_MS = ms(60)

KINDS = ("worker_exited", "rendezvous_completed", "workers_started")
"""Events that come with a round and not all the time."""

Facts = dict[str, Any]

READ_PAGE = """() => {
  const text = (name) => document.querySelector(`[data-testid=${name}]`)?.innerText ?? "";
  const texts = (what) => [...document.querySelectorAll(what)].map((each) => each.innerText);
  return {
    state: text("headline").split("\\n")[0].trim(),
    round: texts("dd").map((each) => /^round (\\d+)$/.exec(each)?.[1]).filter(Boolean).map(Number),
    worldSize: text("world-size"),
    failures: text("failure-restarts"),
    workers: [...document.querySelectorAll("[data-testid=workers] tbody tr")].map((row) => [
      Number(row.dataset.rank), row.cells[1].innerText, Number(row.cells[2].innerText)]),
    rounds: texts("[aria-label='Timeline as a table'] td:nth-child(4)")
      .map((each) => /^Round (\\d+) formed/.exec(each)?.[1]).filter(Boolean).map(Number),
    events: [...document.querySelectorAll("[aria-label='Events, newest first'] [role=listitem]")]
      .sort((a, b) => a.dataset.index - b.dataset.index).slice(0, 6).map((row) => row.children[2].innerText),
  };
}"""


def on_page(page: Page) -> Facts:
    found: Facts = page.evaluate(READ_PAGE)
    return found


def in_api(api: httpx.Client, job_id: int) -> Facts:
    """The same facts, as the API has them."""
    seen = job(api, job_id)
    timeline = api.get(f"/api/jobs/{job_id}/timeline").json()
    says = [event["says"] for event in _events(api, job_id) if event["kind"] in KINDS]
    return {
        "state": seen["state"],
        "round": [seen["round"]],
        "worldSize": str(seen["world_size"]),
        "failures": str(seen["restarts"]["failure"]),
        "workers": [[w["rank"], w["node"], w["pid"]] for w in seen["workers"]],
        "rounds": [each["number"] for each in timeline["rounds"]],
        "events": says[::-1][:6],
    }


def _events(api: httpx.Client, job_id: int) -> Iterator[Facts]:
    after = ""
    while True:
        page = api.get(f"/api/jobs/{job_id}/events", params={"limit": 500, "after": after}).json()
        yield from page["items"]
        if len(page["items"]) < 500:
            return
        after = page["next"]


def wait_equal(page: Page, api: httpx.Client, job_id: int, since: float, what: str) -> None:
    """Wait until the page equals the API, and say how long it took."""
    true = in_api(api, job_id)

    def is_equal() -> bool:
        nonlocal true
        if on_page(page) != true or not _step_is_new(page, api, job_id):
            return False
        took.append(time.monotonic() - since)
        before, true = true, in_api(api, job_id)
        return before == true

    took: list[float] = []
    try:
        wait_until(is_equal, EQUAL_S, "the page to equal the API")
    except AssertionError:
        shown = on_page(page)
        told = {name: (shown[name], value) for name, value in true.items() if shown[name] != value}
        raise AssertionError(f"{what}: page and API differ: {told}") from None
    print(f"\n{what}: the page equals the API after {took[-1]:.2f} s")  # noqa: T201 - what is promised


def _step_is_new(page: Page, api: httpx.Client, job_id: int) -> bool:
    """The step moves, so that it is held between two looks at the API."""
    before = job(api, job_id)["step"] or 0
    found = re.search(r"step ([\d,]+)", page.get_by_test_id("headline").inner_text())
    return found is not None and int(found[1].replace(",", "")) >= before - 15


@pytest.fixture(scope="module")
def proxy(stack: Stack) -> Iterator[Proxy]:
    with run_proxy(stack.port) as running:
        yield running


@pytest.fixture(scope="module")
def running_job(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One job for the whole night."""
    job_id = launch_counting(api, tmp_path_factory.mktemp("night"), steps=1_000_000, max_restarts=50)
    wait_job(api, job_id, "the job to train", 90, state="training", round=1)
    yield job_id
    stop(api, job_id)


@pytest.fixture
def window(chromium: Browser, proxy: Proxy, stack: Stack) -> Iterator[BrowserContext]:
    """A browser window behind the proxy, somebody logged in."""
    proxy.upstream = stack.port
    proxy.mend()
    context = open_window(chromium, proxy.url)
    errors: list[str] = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    page = context.new_page()
    page.goto("/")
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password", exact=True).fill(stack.password)
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("heading", name="Jobs").wait_for()
    yield context
    proxy.mend()
    context.close()
    assert errors == []


@pytest.fixture
def page(window: BrowserContext, running_job: int, api: httpx.Client) -> Page:
    """On the job, with its events and the timeline in words; equal to the API to begin with."""
    return open_job(window.pages[0], running_job, api)


def open_job(page: Page, job_id: int, api: httpx.Client) -> Page:
    kinds = "".join(f"&kind={kind}" for kind in KINDS)
    page.goto(f"/jobs/{job_id}?tab=events{kinds}")
    page.get_by_role("button", name="Show as table").click()
    wait_equal(page, api, job_id, time.monotonic(), "freshly opened")
    return page


def badge(page: Page) -> Any:
    return page.get_by_text(re.compile(r"not live since \d\d:\d\d:\d\d"))


def is_grey(page: Page) -> bool:
    grey: bool = page.evaluate(
        """() => [...document.querySelectorAll('.live')]
            .every((each) => getComputedStyle(each).filter === 'grayscale(1)')"""
    )
    return grey


def reconnected_at(proxy: Proxy, mended: float) -> float:
    """When the live socket was opened again."""
    return wait_until(lambda: proxy.sockets_asked(mended), NOTICED_MS / 1000, "the socket to be tried")[0]


def next_round(api: httpx.Client, job_id: int) -> None:
    """A worker is killed through the API, and the job comes back in a new round."""
    seen = wait_job(api, job_id, "the job to train", 90, state="training")
    assert kill(api, seen, rank=1).status_code == 202
    wait_job(api, job_id, "the next round", 90, state="training", round=seen["round"] + 1)


def test_after_a_cut_the_page_equals_the_api_and_meanwhile_it_is_grey_with_its_age(
    page: Page, proxy: Proxy, api: httpx.Client, running_job: int
) -> None:
    before = on_page(page)
    cut_at = time.monotonic()
    proxy.cut()
    expect(badge(page)).to_be_visible(timeout=NOTICED_MS)
    assert is_grey(page)
    assert page.title().startswith("not live")
    next_round(api, running_job)
    wait_until(lambda: time.monotonic() > cut_at + CUT_S, CUT_S + 5, "the cut to have lasted")
    assert on_page(page) == before
    expect(badge(page)).to_contain_text(re.compile(r"· \d+ (s|min)"))

    tried = proxy.sockets_asked(cut_at)
    mended = proxy.mend()
    wait_equal(page, api, running_job, mended, f"a cut of {mended - cut_at:.0f} s")

    expect(badge(page)).not_to_be_visible()
    assert not is_grey(page)
    _assert_backs_off(tried, mended - cut_at)


def _assert_backs_off(tried: list[float], lasted_s: float) -> None:
    gaps = [after - before for before, after in pairwise(tried)]
    print(f"tried {len(tried)} times in {lasted_s:.0f} s: {[round(gap, 2) for gap in gaps]}")  # noqa: T201
    assert 4 < len(tried) < lasted_s + 5
    assert statistics.median(gaps[-3:]) > 1.5 * min(gaps[:2])
    assert max(gaps[3:]) - min(gaps[3:]) > 0.02, "without jitter all tabs come back in one moment"


def test_a_hub_that_refuses_connections_is_found_again(
    page: Page, proxy: Proxy, api: httpx.Client, running_job: int
) -> None:
    proxy.refuse()
    expect(badge(page)).to_be_visible(timeout=NOTICED_MS)
    next_round(api, running_job)
    wait_equal(page, api, running_job, proxy.mend(), "refused connections")


def test_a_half_open_connection_is_noticed_and_replaced(
    page: Page, proxy: Proxy, api: httpx.Client, running_job: int
) -> None:
    stalled = time.monotonic()
    proxy.stall()
    expect(badge(page)).to_be_visible(timeout=NOTICED_MS)
    print(f"\nhalf-open: noticed after {time.monotonic() - stalled:.1f} s")  # noqa: T201
    next_round(api, running_job)
    assert is_grey(page)
    # The attempt that is on its way is lost too, so that its time-out comes first.
    again = reconnected_at(proxy, proxy.mend())
    wait_equal(page, api, running_job, again, "half-open, from the new connection on")
    expect(badge(page)).not_to_be_visible()


@contextmanager
def asleep(window: BrowserContext, proxy: Proxy) -> Iterator[None]:
    """As when the lid is closed: no line of the page runs, and its connections die without a word."""
    assert window.browser is not None
    session = window.browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    renderers = [int(each["id"]) for each in processes if each["type"] == "renderer"]
    assert renderers
    proxy.stall()
    for pid in renderers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        proxy.mend()
        for pid in renderers:
            os.kill(pid, signal.SIGCONT)


def test_after_a_sleep_the_page_equals_the_api(
    page: Page, window: BrowserContext, proxy: Proxy, api: httpx.Client, running_job: int
) -> None:
    slept_at = time.monotonic()
    with asleep(window, proxy):
        next_round(api, running_job)
        wait_until(lambda: time.monotonic() > slept_at + ASLEEP_S, ASLEEP_S + 5, "the sleep to have lasted")
    wait_equal(page, api, running_job, time.monotonic(), "asleep")
    expect(badge(page)).not_to_be_visible()


def test_a_frozen_tab_equals_the_api_once_it_is_thawed(
    page: Page, window: BrowserContext, api: httpx.Client, running_job: int
) -> None:
    session = window.new_cdp_session(page)
    session.send("Page.setWebLifecycleState", {"state": "frozen"})
    next_round(api, running_job)
    session.send("Page.setWebLifecycleState", {"state": "active"})
    wait_equal(page, api, running_job, time.monotonic(), "frozen")


def test_a_hub_that_is_killed_and_restarted_is_found_again(
    page: Page, stack: Stack, api: httpx.Client, running_job: int
) -> None:
    seen = job(api, running_job)
    web = stack.process_of("web")
    assert web is not None
    web.kill()
    # While nobody can be asked, a worker dies by itself.
    psutil.Process(seen["workers"][0]["pid"]).kill()
    expect(badge(page)).to_be_visible(timeout=NOTICED_MS)

    expect(badge(page)).not_to_be_visible(timeout=SLOW_MS)

    back_at = time.monotonic()
    wait_job(api, running_job, "the next round", 90, state="training", round=seen["round"] + 1)
    wait_equal(page, api, running_job, back_at, "restarted hub, and its next round")


def test_a_newer_page_is_offered_and_what_is_typed_stays(
    window: BrowserContext, proxy: Proxy, stack: Stack, tmp_path: Path
) -> None:
    page = window.pages[0]
    page.goto("/jobs/new")
    page.get_by_label("nnodes").fill("1:7")
    notice = page.get_by_text("A newer version of this page is there.")
    expect(notice).not_to_be_visible()
    with another_web(stack, built_anew(tmp_path)) as port:
        proxy.upstream = port
        proxy.cut()
        proxy.mend()
        expect(notice).to_be_visible(timeout=NOTICED_MS)
        expect(page.get_by_label("nnodes")).to_have_value("1:7")

        page.get_by_role("button", name="Reload").click()

        expect(page.locator("script[src='/assets/index-NewerNew.js']")).to_be_attached(timeout=NOTICED_MS)
        expect(page.get_by_label("nnodes")).to_be_visible(timeout=NOTICED_MS)
        expect(notice).not_to_be_visible()


def test_two_tabs_equal_the_api_after_a_cut_and_see_each_others_kill_and_log_out(
    page: Page, window: BrowserContext, proxy: Proxy, api: httpx.Client, running_job: int
) -> None:
    other = open_job(window.new_page(), running_job, api)
    proxy.cut()
    for tab in (page, other):
        expect(badge(tab)).to_be_visible(timeout=NOTICED_MS)
    next_round(api, running_job)
    mended = proxy.mend()
    for name, tab in {"first tab": page, "second tab": other}.items():
        wait_equal(tab, api, running_job, mended, name)

    page.get_by_role("button", name="Kill rank 1").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("seen in both tabs")
    dialog.get_by_role("button", name="Kill rank 1").click()
    expect(dialog.get_by_test_id("fault-progress")).to_contain_text("is gone", timeout=SLOW_MS)
    dialog.get_by_role("button", name="Close").last.click()
    expect(other.get_by_test_id("why")).to_contain_text("by operator (seen in both tabs)", timeout=SLOW_MS)
    commands = api.get(f"/api/jobs/{running_job}/commands").json()["items"]
    assert sum(command["by"] == "operator" for command in commands) == 1

    page.get_by_role("button", name="Account operator").click()
    page.get_by_role("menuitem", name="Log out").click()
    for tab in (page, other):
        expect(tab.get_by_role("button", name="Log in")).to_be_visible(timeout=NOTICED_MS)
    expect(other.get_by_test_id("headline")).not_to_be_visible()
