"""Charts of a job that only prints, over three rounds: marked restarts, a table, zoom, the address."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.axe import bring_axe, grave_faults
from tests.browser.conftest import PHONE
from tests.system.jobs import kill, launch, stop, wait_job
from tests.waiting import ms, wait_until

SOON_MS = ms(20)

PRINTER = """
import os, time
rank = int(os.environ["RANK"])
for step in range(1, 100_000):
    print(f"step {step}/1000000 loss={(rank + 1) * 100 / step:.4f}", flush=True)
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def printed(api: httpx.Client, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A job in its third round that does not know of Regroup: rank 1 was killed twice."""
    script: Path = tmp_path_factory.mktemp("job") / "printer.py"
    script.write_text(PRINTER)
    job_id = launch(
        api,
        name="printer",
        script=str(script),
        preload=[],
        nnodes="2",
        nproc_per_node=1,
        max_restarts=3,
        log_metrics=[r"step (?P<step>\d+)/(?P<total>\d+)", r"loss=(?P<loss>[\d.]+)"],
    )
    for number in (1, 2):
        seen = wait_job(api, job_id, "the job to train", 90, state="training", round=number)
        _wait_for_losses(api, job_id, number)
        assert kill(api, seen, 1).status_code == 202
    wait_job(api, job_id, "the job to train again", 90, state="training", round=3)
    _wait_for_losses(api, job_id, 3)
    yield job_id
    stop(api, job_id)


def _metrics(api: httpx.Client, job_id: int) -> dict[str, Any]:
    answer = api.get(f"/api/jobs/{job_id}/metrics")
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def _runs(told: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return next((each["runs"] for each in told["series"] if each["name"] == name), [])


def _losses(api: httpx.Client, job_id: int) -> int:
    """Rounds of which both ranks have told a loss."""
    return sum(
        any(low < high for low, high in zip(run["min"], run["max"], strict=True))
        for run in _runs(_metrics(api, job_id), "loss")
    )


def _wait_for_losses(api: httpx.Client, job_id: int, rounds: int) -> None:
    wait_until(lambda: _losses(api, job_id) == rounds, 60, f"losses of {rounds} rounds")


def _chart(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def _picture(page: Page, name: str) -> Locator:
    return _chart(page, name).get_by_role("group")


def _address(page: Page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_charts_over_three_rounds_by_pointer_by_keys_and_as_a_table(
    operator_page: Page, api: httpx.Client, printed: int
) -> None:
    page = operator_page
    bring_axe(page)
    page.goto(f"/jobs/{printed}?tab=metrics")
    loss = _picture(page, "loss")
    expect(loss).to_have_attribute("aria-label", re.compile("over 2 restarts"), timeout=SOON_MS)
    for name in ("rate", "step"):
        expect(_chart(page, name)).to_be_visible()
    expect(page.get_by_test_id("headline")).to_contain_text("of 1,000,000")
    expect(page.get_by_role("progressbar", name="Steps done")).to_be_visible()

    _hovers_a_restart(page, loss)
    _goes_by_keys(page, loss)
    _zooms_by_a_drag_and_back(page, loss)
    _lives(page, loss)
    page.get_by_role("radiogroup", name="Horizontal axis").get_by_text("step").click()
    expect(page).to_have_url(re.compile("mx=step"))
    expect(page.get_by_text("shown as they were done last")).to_be_visible()
    page.get_by_role("group", name="Metrics", exact=True).get_by_role("button", name="rate").click()
    expect(_chart(page, "rate")).to_have_count(0)
    _chart(page, "loss").get_by_role("switch", name="log scale").click()
    expect(page).to_have_url(re.compile("mlog=loss"))
    assert grave_faults(page, "metrics") == []

    copied = page.url
    page.goto("/jobs")
    page.goto(copied)
    expect(_chart(page, "loss").get_by_role("switch", name="log scale")).to_be_checked(timeout=SOON_MS)
    expect(_chart(page, "rate")).to_have_count(0)

    page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    expect(_picture(page, "loss")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    stop(api, printed)
    _table_has_what_the_api_tells(page, api, printed)


def _hovers_a_restart(page: Page, chart: Locator) -> None:
    """From left to right, until the line of a restart is under the pointer."""
    chart.scroll_into_view_if_needed()
    box, readout = chart.bounding_box(), page.get_by_test_id("readout").first
    assert box is not None

    def is_said() -> bool:
        for across in range(64, int(box["width"]), 4):
            page.mouse.move(box["x"] + across, box["y"] + 60)
            if re.search(r"Round [23] formed at .*killed by SIGKILL", readout.inner_text()):
                return True
        return False

    wait_until(is_said, 20, "the cause of a restart to be said")
    page.mouse.move(0, 0)


def _goes_by_keys(page: Page, chart: Locator) -> None:
    chart.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_test_id("readout").first).to_contain_text(re.compile(r"step [\d,]+ · .*round 3"))
    page.keyboard.press("+")
    expect(page.get_by_test_id("shown-metrics")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("shown-metrics")).to_have_count(0)


def _zooms_by_a_drag_and_back(page: Page, chart: Locator) -> None:
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 60, steps=5)
    page.mouse.up()
    expect(page.get_by_test_id("shown-metrics")).to_be_visible()
    assert {"mfrom", "mto"} <= set(_address(page))
    chart.dblclick(position={"x": 150, "y": 60})
    expect(page.get_by_test_id("shown-metrics")).to_have_count(0)


def _lives(page: Page, chart: Locator) -> None:
    """Something is appended, and nothing moves."""
    before, top = chart.get_attribute("aria-label"), chart.bounding_box()
    expect(chart).not_to_have_attribute("aria-label", before or "", timeout=SOON_MS)
    assert chart.bounding_box() == top


def _table_has_what_the_api_tells(page: Page, api: httpx.Client, job_id: int) -> None:
    page.get_by_role("button", name="Show as table").click()
    table = page.get_by_role("region", name="loss as a table")
    for number in (2, 3):
        expect(table).to_contain_text(re.compile(rf"Round {number} formed at .*killed by SIGKILL"))

    def shown() -> list[tuple[Any, ...]]:
        return [
            tuple(float(value or "nan") for value in row)
            for row in table.locator("tr:has(data)").evaluate_all(
                "rows => rows.map(row => [...row.querySelectorAll('data')].map(cell => cell.value))"
            )
        ]

    def told() -> list[tuple[Any, ...]]:
        runs = _runs(_metrics(api, job_id), "loss")
        values = [value for run in runs for value in zip(run["min"], run["mean"], run["max"], strict=True)]
        return values[::-1]

    wait_until(lambda: shown() == told(), 30, "the table to hold what the API tells")
    assert len(told()) > 3


def test_a_job_without_metrics_is_told_both_ways_to_have_them(
    operator_page: Page, api: httpx.Client, tmp_path: Path
) -> None:
    script = tmp_path / "silent.py"
    script.write_text("print('done')\n")
    job_id = launch(api, name="silent", script=str(script), preload=[])
    wait_job(api, job_id, "the job to succeed", 90, state="succeeded")
    operator_page.goto(f"/jobs/{job_id}?tab=metrics")
    panel = operator_page.get_by_role("tabpanel")
    expect(panel).to_contain_text("This job has reported no metrics.", timeout=SOON_MS)
    expect(panel).to_contain_text("regroup_report.step(step, total=steps, loss=loss)")
    expect(panel).to_contain_text("log_metrics")
