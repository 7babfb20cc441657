"""Everything by keyboard: the command palette, the keys, and a job from its launch to its end."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.test_people import log_in as log_in_as
from tests.browser.test_people import make_user
from tests.system.jobs import job, launch_counting, stop, wait_job
from tests.system.stack import Stack
from tests.waiting import ms

SLOW_MS = ms(60)
SOON_MS = ms(15)
MOST_TABS = 120

NAME_OF_FOCUSED = """() => {
  const at = document.activeElement;
  if (at === document.body) return "nothing";
  return at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent ?? "";
}"""
IS_MARKED = """() => {
  const at = document.activeElement;
  const { outlineStyle, boxShadow } = getComputedStyle(at);
  // Fields are marked by the colour of their border.
  if (at === document.body || at.matches("input, textarea, select")) return true;
  return outlineStyle !== "none" || boxShadow !== "none";
}"""


def _tab_to(page: Page, name: str) -> None:
    """As a person who has no mouse: on and on until it is there, each stop marked as having the focus."""
    for _ in range(MOST_TABS):
        if page.evaluate(NAME_OF_FOCUSED).strip() == name:
            return
        page.keyboard.press("Tab")
        assert page.evaluate(IS_MARKED), f"no mark on {page.evaluate(NAME_OF_FOCUSED)!r}"
    raise AssertionError(f"the Tab key does not lead to {name!r}")


def _open_palette(page: Page) -> Locator:
    page.keyboard.press("Control+k")
    found = page.get_by_role("combobox", name="Find a job, a node, a page or an act")
    expect(found).to_be_focused()
    return found


def _chosen(page: Page) -> Locator:
    return page.get_by_role("listbox", name="Found").get_by_role("option", selected=True)


def _choose(page: Page, text: str, expected: str) -> None:
    """Type it in the palette and take what is found first."""
    _open_palette(page)
    page.keyboard.type(text)
    expect(_chosen(page)).to_contain_text(expected, timeout=SOON_MS)
    page.keyboard.press("Enter")


@pytest.fixture
def running_job(api: httpx.Client, tmp_path: Path) -> Iterator[int]:
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nnodes="1", nodes=1, nproc_per_node=1)
    wait_job(api, job_id, "the job to train", 90, state="training")
    yield job_id
    stop(api, job_id)


def _launch(page: Page) -> int:
    _choose(page, "launch", "Launch a job")
    page.wait_for_url("**/jobs/new")
    page.get_by_role("heading", name="Launch a job").wait_for()
    _tab_to(page, "name")
    page.keyboard.type("by-hand")
    _tab_to(page, "nodes")
    page.keyboard.press("Control+a")
    page.keyboard.type("2")
    _tab_to(page, "Launch")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/jobs/\d+$"))
    return int(page.url.rsplit("/", 1)[1])


def _kill_rank_1(page: Page) -> None:
    _tab_to(page, "Select rank 0")
    page.keyboard.press("ArrowDown")
    chosen = page.get_by_role("button", name="Select rank 1")
    expect(chosen).to_be_focused()
    expect(page).to_have_url(re.compile("rank=1"))
    page.keyboard.press("k")
    dialog = page.get_by_role("dialog", name="Kill rank 1")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("by keyboard")
    page.keyboard.press("Enter")
    expect(dialog.get_by_test_id("fault-progress")).to_contain_text("round 2 is formed", timeout=SLOW_MS)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(chosen).to_be_focused()


def test_a_job_is_launched_opened_killed_and_stopped_without_a_mouse(
    page: Page, stack: Stack, api: httpx.Client
) -> None:
    page.goto("/")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("operator")
    page.keyboard.press("Tab")
    page.keyboard.type(stack.password)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Jobs").wait_for()
    job_id = _launch(page)
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SLOW_MS)

    page.keyboard.press("g")
    page.keyboard.press("j")
    page.wait_for_url("**/jobs")
    expect(page.get_by_role("link", name=f"by-hand {job_id}")).to_be_visible(timeout=SOON_MS)
    _tab_to(page, f"by-hand {job_id}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/{job_id}")
    _kill_rank_1(page)

    _choose(page, "stop", "Stop by-hand")
    dialog = page.get_by_role("dialog", name="Stop by-hand")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("headline")).to_contain_text("stopped", timeout=SLOW_MS)
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    seen = job(api, job_id)
    assert (seen["stopped_by"], seen["restarts"]["failure"]) == ("operator", 1)


def test_the_palette_finds_jobs_by_name_and_number_and_puts_what_was_chosen_first(
    operator_page: Page, running_job: int
) -> None:
    page = operator_page
    found = _open_palette(page)
    expect(found).to_have_attribute("aria-expanded", "true")
    page.keyboard.type(str(running_job))
    first = _chosen(page)
    expect(first).to_contain_text(f"job {running_job}, training", timeout=SOON_MS)
    expect(found).to_have_attribute("aria-activedescendant", first.get_attribute("id") or "none")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/{running_job}")

    _choose(page, "node-2", "node-2")
    page.wait_for_url("**/nodes?node=node-2")
    expect(page.locator("tr[data-node=node-2]")).to_have_attribute("aria-selected", "true")

    _open_palette(page)
    lately = page.get_by_role("group", name="Lately").get_by_role("option")
    expect(lately.first).to_contain_text("node-2")
    expect(lately.nth(1)).to_contain_text(f"job {running_job}", timeout=SOON_MS)
    page.keyboard.press("ArrowDown")
    expect(_chosen(page)).to_contain_text(f"job {running_job}")
    page.keyboard.type("no such thing")
    expect(page.get_by_role("dialog")).to_contain_text(
        "No job, node, page or act has “no such thing” in its name."
    )
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_the_palette_offers_what_the_page_can_do_and_nothing_more_to_a_viewer(
    page: Page, stack: Stack, running_job: int
) -> None:
    log_in_as(page, "pavel", make_user(stack, "pavel", "viewer"))
    page.get_by_role("heading", name="Jobs").wait_for(timeout=SOON_MS)
    page.goto(f"/jobs/{running_job}")
    expect(page.get_by_test_id("headline")).to_contain_text("training", timeout=SOON_MS)
    _choose(page, "spec", "Show spec")
    expect(page.get_by_role("tab", name="Spec")).to_have_attribute("aria-selected", "true")
    _open_palette(page)
    for acts in ("kill", "stop", "scale", "launch"):
        page.keyboard.press("Control+a")
        page.keyboard.type(acts)
        expect(page.get_by_role("dialog")).to_contain_text(f"has “{acts}” in its name", timeout=SOON_MS)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_keys_do_nothing_while_somebody_types_or_a_dialog_is_open(operator_page: Page) -> None:
    page = operator_page
    page.keyboard.press("/")
    search = page.get_by_label("Search jobs")
    expect(search).to_be_focused()
    page.keyboard.type("g n?")
    expect(search).to_have_value("g n?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(search).to_have_value("")
    page.keyboard.press("Tab")
    page.get_by_role("link", name="Nodes").focus()

    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("kill the selected worker")
    page.keyboard.press("g")
    page.keyboard.press("n")
    expect(keys).to_be_visible()
    assert page.url.endswith("/jobs")
    page.keyboard.press("Escape")
    expect(keys).to_have_count(0)
    expect(page.get_by_role("link", name="Nodes")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("n")
    page.wait_for_url("**/nodes")
