"""On the launch page: where a job would run, and what its nodes say of it before it is launched."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.axe import bring_axe, grave_faults
from tests.browser.conftest import log_in
from tests.system.jobs import EXAMPLES
from tests.system.stack import Stack
from tests.waiting import ms

SOON_MS = ms(15)


def test_a_person_sees_where_the_job_would_run_and_what_fails_on_which_node(
    page: Page, stack: Stack, tmp_path: Path
) -> None:
    bring_axe(page)
    log_in(page, stack)
    page.goto("/jobs/new")
    page.get_by_label("script", exact=True).fill(str(EXAMPLES / "char_lm.py"))
    preview = page.get_by_role("region", name="Where it would run")
    expect(preview).to_contain_text("It would start now on", timeout=SOON_MS)
    page.get_by_text("Nodes, priority, checkpoint folder and checks").click()
    page.get_by_label("node_names").fill("node-1, node-2")
    page.get_by_label("checkpoint_dir").fill(str(tmp_path / "shared"))
    expect(preview).to_contain_text("2 nodes: node-1", timeout=SOON_MS)
    page.get_by_role("button", name="Check nodes").click()
    checks = page.get_by_role("region", name="Checks")
    expect(checks.get_by_role("status")).to_contain_text("on 2 nodes", timeout=ms(30))
    table = checks.get_by_role("table")
    expect(table.get_by_role("row", name="node-2")).to_contain_text("ok")
    assert grave_faults(page, "the checks") == []
    page.get_by_label("script", exact=True).fill("/nowhere/train.py")
    page.get_by_role("button", name="Check nodes").click()
    expect(checks).to_contain_text(
        "The script /nowhere/train.py does not exist on node-2. Put it there", timeout=ms(30)
    )
    page.get_by_label("checks", exact=True).select_option("require")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The checks of its nodes are required", timeout=ms(30))
    expect(page).to_have_url(f"{stack.url}/jobs/new")
