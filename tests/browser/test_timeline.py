"""The timeline by keyboard, by pointer, as a table, and from an address that somebody copied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import DESK, PHONE, log_in, open_window
from tests.system.jobs import kill, launch_counting, stop, wait_job
from tests.system.stack import Stack
from tests.waiting import ms, wait_until

SLOW_MS = ms(60)
SOON_MS = ms(20)


@pytest.fixture(scope="module")
def restarted(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A job on two nodes that trains in its second round, because rank 1 was killed in the first."""
    job_id = launch_counting(api, tmp_path_factory.mktemp("checkpoints"), steps=1_000_000)
    seen = wait_job(api, job_id, "the job to train", 90, state="training")
    assert kill(api, seen, 1).status_code == 202
    wait_job(api, job_id, "the job to train again", 90, state="training", round=2)
    yield job_id
    stop(api, job_id)


@pytest.fixture(scope="module")
def window(chromium: Browser, stack: Stack) -> Iterator[Page]:
    """One window for all, logged in once: each test begins with an address of its own."""
    context = open_window(chromium, stack.url)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    log_in(opened, stack)
    yield opened
    context.close()
    assert errors == []


@pytest.fixture
def timeline(window: Page, restarted: int) -> Page:
    """The page of that job, once its timeline knows of both rounds."""
    window.set_viewport_size({"width": DESK[0], "height": DESK[1]})
    window.goto(f"/jobs/{restarted}")
    expect(window.get_by_role("img", name="2 rounds on 2 nodes")).to_be_visible(timeout=SLOW_MS)
    return window


def _picture(page: Page) -> Locator:
    return page.get_by_role("group", name=re.compile("^Timeline picture"))


def _shown(page: Page) -> Locator:
    """From when to when, while it does not follow."""
    return page.get_by_test_id("shown-time")


def _card(page: Page, number: int) -> Locator:
    return page.get_by_role("region", name=f"Round {number}", exact=True)


def _address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def _begins_as_shown(page: Page) -> bool:
    """The address follows once a move has come to rest."""
    return _address(page)["from"][0][11:21] == _shown(page).inner_text()[:10]


def test_arrows_select_rounds_and_enter_leads_to_the_card(timeline: Page) -> None:
    page, picture = timeline, _picture(timeline)
    picture.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"round=2&attempt=1"))
    expect(_card(page, 2)).to_contain_text("was killed by SIGKILL")
    picture.press("ArrowLeft")
    expect(page).to_have_url(re.compile(r"round=1&attempt=1"))
    expect(_card(page, 1)).to_contain_text("It was the first of attempt 1.")

    picture.press("Enter")
    expect(page.locator(":focus")).to_contain_text("It was the first of attempt 1.")
    page.keyboard.press("Escape")
    expect(picture).to_be_focused()
    page.keyboard.press("Escape")
    expect(_card(page, 1)).to_have_count(0)
    assert "round" not in _address(page)


def test_zooming_leaves_following_and_a_copied_address_shows_the_same(timeline: Page) -> None:
    page, picture = timeline, _picture(timeline)
    follow = page.get_by_role("region", name="Timeline").get_by_role("switch", name="follow")
    expect(follow).to_be_checked()
    expect(_shown(page)).to_have_count(0)

    page.get_by_role("button", name="Zoom in").click()
    expect(follow).not_to_be_checked()
    half = _shown(page).inner_text()
    picture.press("+")
    expect(_shown(page)).not_to_have_text(half)
    quarter = _shown(page).inner_text()
    picture.press("Shift+ArrowLeft")
    expect(_shown(page)).not_to_have_text(quarter)

    picture.press("ArrowLeft")
    expect(_card(page, 2)).to_be_visible()
    wait_until(lambda: _begins_as_shown(page), what="the address to hold what is shown")
    copied, time = page.url, _shown(page).inner_text()
    page.goto("/jobs")
    page.goto(copied)
    expect(_shown(page)).to_have_text(time, timeout=SLOW_MS)
    expect(_card(page, 2)).to_be_visible()
    expect(follow).not_to_be_checked()

    picture.press("f")
    expect(follow).to_be_checked()
    expect(_shown(page)).to_have_count(0)
    assert not {"from", "to"} & set(_address(page))


def _turn(page: Page, across: int, down: int, key: str | None = None) -> None:
    """The wheel, in the middle of the picture."""
    box = _picture(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    if key is not None:
        page.keyboard.down(key)
    page.mouse.wheel(across, down)
    if key is not None:
        page.keyboard.up(key)


def test_the_wheel_zooms_with_ctrl_a_drag_moves_and_live_data_moves_nothing(
    timeline: Page, api: httpx.Client, restarted: int
) -> None:
    page = timeline
    _turn(page, 0, -120, "Control")
    expect(_shown(page)).to_be_visible()
    near = _shown(page).inner_text()

    box = _picture(page).bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 400, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 700, box["y"] + 50, steps=5)
    page.mouse.up()
    expect(_shown(page)).not_to_have_text(near)
    assert "round" not in _address(page), "a drag is no click"

    moved, version = _shown(page).inner_text(), _version(api, restarted)
    wait_until(lambda: _version(api, restarted) > version, 60, "news of the job")
    expect(page.get_by_test_id("headline")).to_contain_text("training")
    expect(_shown(page)).to_have_text(moved)

    page.get_by_role("radiogroup", name="Range").get_by_text("all").click()
    expect(page).to_have_url(re.compile("range=all"))
    expect(_shown(page)).to_have_count(0)


def _version(api: httpx.Client, job_id: int) -> int:
    return int(api.get(f"/api/jobs/{job_id}").json()["version"])


def test_a_lane_opens_to_its_ranks_by_keyboard_and_the_address_keeps_it(timeline: Page) -> None:
    page = timeline
    lanes = page.locator("button[data-lane][aria-expanded]")
    nodes = [text.strip("▸▾ \n") for text in lanes.all_inner_texts()]
    _picture(page).press("ArrowDown")
    expect(lanes.first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(lanes.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(lanes.nth(1)).to_have_attribute("aria-expanded", "true")
    ranks = page.locator(f"button[data-lane^='{nodes[1]} rank']")
    expect(ranks).to_have_count(1, timeout=SOON_MS)

    page.keyboard.press("ArrowDown")
    expect(ranks.first).to_be_focused()
    page.keyboard.press("Space")
    expect(ranks.first).to_have_attribute("aria-pressed", "true")
    address = _address(page)
    assert address["lane"] == [nodes[1]]
    assert f"rank {address['rank'][0]}" == ranks.first.inner_text()
    expect(page.get_by_role("list", name="Legend")).to_contain_text("worker failed")

    page.keyboard.press("Escape")
    expect(_picture(page)).to_be_focused()
    page.reload()
    expect(ranks).to_have_count(1, timeout=SLOW_MS)
    lanes.nth(1).click()
    expect(ranks).to_have_count(0)


def test_the_table_holds_the_same_rounds_and_the_ranks_of_an_open_lane(
    timeline: Page, api: httpx.Client, restarted: int
) -> None:
    page = timeline
    page.get_by_role("button", name="Show as table").click()
    table = page.get_by_role("region", name="Timeline as a table")
    rounds = api.get(f"/api/jobs/{restarted}/timeline").json()["rounds"]
    assert [each["number"] for each in rounds] == [1, 2]
    for each in rounds:
        row = table.get_by_role("row").filter(has_text=f"Round {each['number']} formed")
        expect(row).to_contain_text("world size 2 on 2 nodes")
        expect(row).to_contain_text((each["cause"] or {"sentence": each["why"]})["sentence"])
    expect(table).to_contain_text("Cause: a signal, known from")

    killed = rounds[1]["cause"]
    expect(table).not_to_contain_text("worker failed")
    page.get_by_role("group", name="Ranks too, of").get_by_role("button", name=killed["node"]).click()
    worker = table.get_by_role("row").filter(has_text="worker failed")
    expect(worker).to_contain_text(f"rank 1 on {killed['node']}", timeout=SOON_MS)


def test_a_mark_leads_to_the_lines_of_its_rank_and_a_row_of_the_table_to_those_of_its_round(
    timeline: Page, restarted: int
) -> None:
    page = timeline
    page.goto(f"/jobs/{restarted}?round=1&attempt=1")
    marks = _card(page, 1).get_by_role("list", name="Marked in this round")
    marks.get_by_role("listitem").filter(has_text="Rank 1").get_by_role(
        "link", name="Show its lines"
    ).first.click()
    expect(page).to_have_url(re.compile("tab=logs"))
    told = _address(page)
    assert (told["attempt"], told["round"], told["rank"], "at" in told) == (["1"], ["1"], ["1"], True)
    expect(page.get_by_label("Rank", exact=True)).to_have_value("1", timeout=SOON_MS)

    page.get_by_role("button", name="Show as table").click()
    row = (
        page.get_by_role("region", name="Timeline as a table")
        .get_by_role("row")
        .filter(has_text="Round 2 formed")
    )
    row.get_by_role("link", name=re.compile("^Show the lines around")).click()
    expect(page).to_have_url(re.compile("round=2"))
    expect(page.get_by_label("Rank", exact=True)).to_have_value("all", timeout=SOON_MS)


def test_the_loss_is_drawn_below_the_lanes_and_stands_in_the_address(
    timeline: Page, api: httpx.Client, restarted: int
) -> None:
    page = timeline
    page.get_by_role("radiogroup", name="curve").get_by_text("loss", exact=True).click()
    curve = page.get_by_role("img", name=re.compile(r"^loss between [\d.]+ and [\d.]+, at last [\d.]+$"))
    expect(curve).to_be_visible(timeout=SOON_MS)
    assert _address(page)["curve"] == ["loss"]
    told = api.get(f"/api/jobs/{restarted}/progress").json()["items"]
    losses = [point["metrics"]["loss"] for point in told]
    least, most, last = (
        float(number) for number in re.findall(r"[\d.]+\d", curve.get_attribute("aria-label") or "")
    )
    assert least <= last <= most
    assert most == pytest.approx(max(losses), rel=0.01)
    page.reload()
    expect(curve).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("radiogroup", name="curve").get_by_text("none").click()
    expect(curve).to_have_count(0)


def test_on_a_phone_the_timeline_is_a_tab_that_needs_no_scrolling_sideways(timeline: Page) -> None:
    page = timeline
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.get_by_role("tab", name="Timeline").click()
    expect(_picture(page)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert _picture(page).evaluate("element => getComputedStyle(element).touchAction") == "pan-y"
    page.get_by_role("button", name="Zoom in").click()
    expect(_shown(page)).to_be_visible()
