"""After a kill the page tells where the time of the recovery went, and where all the wall time went."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import PHONE
from tests.system.jobs import Json, launch_counting, stop, wait_job
from tests.waiting import ms, wait_until

SLOW_MS = ms(60)
SOON_MS = ms(15)
WAY_BACK = (
    *("detect", "stop", "joining", "last_call", "start"),
    *("script", "process_group", "checkpoint", "first_step"),
)
"""The phases until a job is back; its pace is told beside them."""


@pytest.fixture(scope="module")
def training(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """One job for all of this file, on two nodes with one worker each."""
    job_id = launch_counting(api, tmp_path_factory.mktemp("checkpoints"), steps=1_000_000, collective=True)
    wait_job(api, job_id, "the job to train", 90, state="training")
    yield job_id
    stop(api, job_id)


def _kill(page: Page, rank: int) -> None:
    page.get_by_role("button", name=f"Kill rank {rank}").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("to see how long it takes")
    dialog.get_by_role("button", name=f"Kill rank {rank}").click()
    expect(dialog.get_by_test_id("fault-progress")).to_contain_text("round 2 is formed", timeout=SLOW_MS)
    dialog.get_by_role("button", name="Close").last.click()


def _round(api: httpx.Client, job_id: int, number: int) -> Json | None:
    rounds = api.get(f"/api/jobs/{job_id}/timeline").json()["rounds"]
    return next((one for one in rounds if one["number"] == number), None)


def _restart_that_was_told(api: httpx.Client, job_id: int) -> Json:
    """Round 2, as soon as every phase of its way back is reported."""

    def told() -> Json | None:
        found = _round(api, job_id, 2)
        phases = {} if found is None else {each["name"]: each["seconds"] for each in found["phases"]}
        return found if all(phases.get(name) is not None for name in WAY_BACK) else None

    return wait_until(told, 60, "all phases of round 2 to be reported")


def _shown_seconds(table: Locator) -> dict[str, float]:
    """Of each row that has seconds, by the name of the phase or of the row."""
    found: dict[str, float] = table.evaluate(
        """table => Object.fromEntries([...table.querySelectorAll("tbody tr")].flatMap(row => {
          const data = row.querySelector("data");
          return data ? [[row.dataset.phase ?? row.cells[0].innerText.trim(), +data.value]] : [];
        }))"""
    )
    return found


def _told_and_shown(api: httpx.Client, job_id: int, way: Locator) -> tuple[Json, dict[str, float]] | None:
    """Both, once they are the same: a rank that is later than all others still moves a phase's end."""
    told = _restart_that_was_told(api, job_id)
    shown = _shown_seconds(way.get_by_test_id("waterfall"))
    phases = {each["name"]: each["seconds"] for each in told["phases"] if each["name"] in WAY_BACK}
    same = phases.items() <= shown.items() and shown["in all"] == told["recovery_s"]
    return (told, shown) if same else None


def test_a_kill_shows_where_the_recovery_went_phase_by_phase_and_rank_by_rank(
    operator_page: Page, api: httpx.Client, training: int
) -> None:
    page = operator_page
    page.goto(f"/jobs/{training}")
    expect(page.get_by_text("No restart so far.")).to_be_visible(timeout=SLOW_MS)
    _kill(page, 1)
    _restart_that_was_told(api, training)

    line = page.get_by_test_id("newest-restart")
    expect(line).to_contain_text(re.compile(r"Round 2 was back in .* s: detect .* · first step .* s"))
    page.get_by_role("button", name="Show round 2").press("Enter")
    expect(page).to_have_url(re.compile("round=2"))
    way = page.get_by_role("region", name="Waterfall")
    expect(way.get_by_test_id("recovery")).to_contain_text("from the fault to the first step")
    expect(way).to_be_focused()

    told, shown = wait_until(lambda: _told_and_shown(api, training, way), 15, "the page to equal the API")
    assert sum(shown[name] for name in (*WAY_BACK, "unaccounted")) == pytest.approx(shown["in all"], abs=1e-5)
    assert shown["in all"] == told["recovery_s"]
    phases = {each["name"]: each for each in told["phases"]}
    _read_who_was_last(way, phases)
    _read_each_rank(page, way)


def _read_who_was_last(way: Locator, phases: Json) -> None:
    group = phases["process_group"]
    row = way.locator("tr[data-phase=process_group]")
    expect(row).to_contain_text(f"rank {group['critical_rank']} on {group['critical_node']} was last")
    expect(row).to_contain_text("measured once")


def _read_each_rank(page: Page, way: Locator) -> None:
    way.get_by_role("button", name="each node and rank").press("Enter")
    expect(page).to_have_url(re.compile("ranks=shown"))
    rows = way.get_by_test_id("waterfall-ranks").locator("tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(0)).to_contain_text("node-")
    expect(rows.nth(2)).to_contain_text("rank 0 · node-")
    expect(rows.nth(3)).to_contain_text("process group")
    clocks = way.get_by_role("list", name="Clocks of the nodes")
    expect(clocks).to_contain_text(re.compile(r"node-\d's clock (is .* ms (ahead|behind)|was not measured)"))


def _multiplied(answer: Json, times: int) -> Json:
    """The ranks of a round so many times over, each copy with ranks of its own."""
    ranks = [row for row in answer["rows"] if row["rank"] is not None]
    copies = [row | {"rank": row["rank"] + copy * len(ranks)} for copy in range(1, times) for row in ranks]
    return answer | {"rows": answer["rows"] + copies}


def test_of_a_thousand_ranks_only_those_in_sight_are_in_the_page(
    operator_page: Page, api: httpx.Client, training: int
) -> None:
    page = operator_page
    answer = api.get(f"/api/jobs/{training}/attempts/1/rounds/1/waterfall").json()
    many = _multiplied(answer, 500)
    page.route(re.compile("/waterfall$"), lambda route: route.fulfill(json=many))
    page.goto(f"/jobs/{training}?round=1&attempt=1&ranks=shown")
    table = page.get_by_test_id("waterfall-ranks")
    expect(table).to_have_attribute("aria-rowcount", "1003", timeout=SLOW_MS)
    expect(table).to_contain_text("rank 0 · node-")
    assert table.locator("tbody tr").count() < 100
    page.get_by_role("region", name="Phases of each node and rank").press("End")
    expect(table).to_contain_text("rank 999 · node-", timeout=SOON_MS)
    assert table.locator("tbody tr").count() < 100
    page.unroute_all(behavior="ignoreErrors")


def test_what_was_not_reported_says_so_and_why(operator_page: Page, training: int) -> None:
    page = operator_page
    page.goto(f"/jobs/{training}?round=1&attempt=1")
    way = page.get_by_role("region", name="Waterfall")
    for phase in ("detect", "stop"):
        row = way.locator(f"tr[data-phase={phase}]")
        expect(row).to_contain_text("not reported", timeout=SOON_MS)
        expect(row).to_contain_text("no round came before it")
    expect(way.get_by_test_id("recovery")).to_contain_text(
        "after the beginning of the rendezvous", timeout=SOON_MS
    )


def test_the_goodput_adds_up_to_the_wall_time(operator_page: Page, training: int) -> None:
    page = operator_page
    page.goto(f"/jobs/{training}")
    page.get_by_role("tab", name="Evidence").focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("tab=goodput"))
    table = page.get_by_test_id("goodput")
    expect(table).to_contain_text("training", timeout=SOON_MS)
    parts, wall = table.evaluate(
        """table => [
          [...table.querySelectorAll("tbody td:nth-child(2) data")].map(time => +time.value),
          +table.querySelector("tfoot data").value,
        ]"""
    )
    assert wall > 0
    assert sum(parts) == pytest.approx(wall, abs=0.01)
    expect(table.locator("tfoot")).to_contain_text("wall time")


def test_on_a_phone_the_way_into_a_round_needs_no_scrolling_sideways(
    operator_page: Page, training: int
) -> None:
    page = operator_page
    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    page.goto(f"/jobs/{training}?tab=timeline&round=1&attempt=1&ranks=shown")
    way = page.get_by_role("region", name="Waterfall")
    expect(way.get_by_test_id("waterfall-ranks")).to_be_visible(timeout=SLOW_MS)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
