"""After a failure: from the failure to what was kept of it, on to a page that opens without a server."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import bring_axe, grave_faults
from tests.system.jobs import launch, wait_job
from tests.waiting import ms

SOON_MS = ms(20)
SECRET = "hunter2-hunter2"
SCRIPT = """
import os, pathlib, time
import regroup_report
def wait_for_the_others():
    while True:
        time.sleep(0.05)
up = pathlib.Path(os.environ["UP"])
if os.environ["RANK"] == "1":
    while not up.exists():
        time.sleep(0.02)
    raise ValueError("the <loss> is not a number, " + os.environ["API_TOKEN"])
print("rank 0 waits", flush=True)
up.touch()
wait_for_the_others()
"""


@pytest.fixture
def failed(api: httpx.Client, tmp_path: Path) -> int:
    """A job whose rank 1 has failed, with a command that tells so."""
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    job_id = launch(
        api,
        script=str(script),
        nnodes="1",
        nproc_per_node=2,
        preload=[],
        env={"API_TOKEN": SECRET, "UP": str(tmp_path / "up")},
        on_failure='echo "told of rank $REGROUP_RANK"; exit 3',
    )
    wait_job(api, job_id, "the job to fail", 90, state="failed")
    return job_id


def test_a_failure_leads_to_what_was_kept_and_its_page_opens_without_a_server(
    operator_page: Page, failed: int, tmp_path: Path
) -> None:
    page = operator_page
    bring_axe(page)
    page.goto(f"/jobs/{failed}?tab=evidence")
    kept = page.get_by_role("region", name="Round 1 of attempt 1")
    expect(kept).to_contain_text("the <loss> is not a number", timeout=SOON_MS)
    expect(kept).to_contain_text("with the stacks of 1 rank", timeout=SOON_MS)
    hook = kept.locator("[data-hook]")
    expect(hook).to_contain_text("ended with exit code 3", timeout=SOON_MS)
    expect(hook).to_contain_text("told of rank 1")
    assert grave_faults(page, "evidence tab") == []
    page.goto(f"/jobs/{failed}")
    page.get_by_role("link", name="Show what was kept of it").click()
    expect(page).to_have_url(re.compile(r"tab=evidence&evidence=1\.1"))
    with page.expect_download(timeout=SOON_MS) as download:
        kept.get_by_role("button", name="Download the evidence of Round 1 of attempt 1").click()
    with zipfile.ZipFile(download.value.path()) as packed:
        assert all(SECRET.encode() not in packed.read(name) for name in packed.namelist())
        packed.extractall(tmp_path / "unpacked")
    _read(page, tmp_path / "unpacked" / "index.html")


def _read(page: Page, path: Path) -> None:
    """As a person does who was sent the file."""
    page.goto(path.as_uri())
    headline = page.get_by_role("heading", level=1)
    expect(headline).to_contain_text("Rank 1 on node-")
    expect(headline).to_contain_text("ValueError: the <loss> is not a number")
    expect(page.get_by_text("wait_for_the_others").first).to_be_visible()
    expect(page.get_by_text("rank 0 waits")).to_be_attached()
    assert grave_faults(page, "evidence page") == []
    page.get_by_role("link", name="rank-0/stack.txt").first.click()
    expect(page.locator("body")).to_contain_text("wait_for_the_others")
