"""What a person sees on a hub on which nothing has happened yet."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.axe import bring_axe, grave_faults
from tests.browser.conftest import open_window
from tests.system.stack import Stack, run_stack
from tests.waiting import ms


@pytest.fixture(scope="module")
def empty_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run_stack(tmp_path_factory.mktemp("empty"), nodes=1, slots=2) as running:
        yield running


def test_the_first_job_is_launched_from_the_empty_list_and_opens_its_page(
    chromium: Browser, empty_stack: Stack
) -> None:
    page = open_window(chromium, empty_stack.url).new_page()
    bring_axe(page)
    page.goto("/")
    page.get_by_label("Name").fill("operator")
    page.get_by_label("Password", exact=True).fill(empty_stack.password)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("No job has been launched yet.")).to_be_visible()
    assert grave_faults(page, "the empty list of jobs") == []

    page.get_by_role("button", name="Launch the example").click()

    expect(page).to_have_url(re.compile(r"/jobs/1$"), timeout=ms(15))
    expect(page.get_by_test_id("headline")).to_contain_text("queued")
    # One node is here, and the example wants two.
    expect(page.get_by_test_id("why")).to_contain_text("needs 2 nodes", timeout=ms(15))
    page.close()
