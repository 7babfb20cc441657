"""A viewer from the terminal to the page: made with make user, shown by name, without a button that acts."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.system.jobs import launch_counting, stop, wait_job
from tests.system.stack import ROOT, Stack
from tests.waiting import ms

ACTS = re.compile(r"^(Launch|Stop|Kill|Scale)")
NEW_PASSWORD = "a horse of another colour"
SOON_MS = ms(15)


def make_user(stack: Stack, name: str, role: str = "") -> str:
    """As a person types it; gives the password that is printed."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("REGROUP_")}
    command = ["make", "user", f"NAME={name}", f"DATA={stack.data}", *([f"ROLE={role}"] if role else [])]
    made = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    assert f"The account {name}" in made.stderr
    return made.stdout.strip()


def log_in(page: Page, name: str, password: str) -> None:
    page.goto("/")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Log in").click()


def open_menu(page: Page, name: str, role: str) -> None:
    page.get_by_role("button", name=f"Account {name}, {role}").click()


@pytest.fixture
def running_job(api: httpx.Client, tmp_path: Path) -> Iterator[int]:
    job_id = launch_counting(api, tmp_path, steps=1_000_000, nnodes="1", nodes=1, nproc_per_node=1)
    wait_job(api, job_id, "the job to train", 90, state="training")
    yield job_id
    stop(api, job_id)


def test_a_viewer_looks_at_everything_and_finds_no_button_that_acts(
    page: Page, stack: Stack, running_job: int
) -> None:
    log_in(page, "vic", make_user(stack, "vic", "viewer"))
    account = page.get_by_role("button", name="Account vic, viewer")
    expect(account).to_be_visible(timeout=SOON_MS)
    expect(account).to_contain_text("vic viewer")
    for path, shown in {
        "/jobs": "counting",
        f"/jobs/{running_job}": "training",
        "/nodes": "node-1",
    }.items():
        page.goto(path)
        expect(page.get_by_text(shown).first).to_be_visible(timeout=SOON_MS)
        expect(page.get_by_role("button", name=ACTS)).to_have_count(0)
        expect(page.get_by_role("link", name=ACTS)).to_have_count(0)
    page.goto(f"/jobs/{running_job}")
    expect(page.get_by_text("Stop and Kill need the role operator")).to_be_visible()
    page.keyboard.press("k")
    expect(page.get_by_role("dialog")).not_to_be_visible()


def test_a_password_is_changed_on_the_page_and_the_old_one_is_worth_nothing(page: Page, stack: Stack) -> None:
    password = make_user(stack, "wanda")
    log_in(page, "wanda", password)
    open_menu(page, "wanda", "viewer")
    page.get_by_role("menuitem", name="Change password").click()
    dialog = page.get_by_role("dialog")
    current, new = dialog.get_by_label("Current password"), dialog.get_by_label("New password")
    change = dialog.get_by_role("button", name="Change password")

    current.fill("not it")
    new.fill(NEW_PASSWORD)
    change.click()
    expect(current).to_have_attribute("aria-invalid", "true", timeout=SOON_MS)
    expect(dialog.get_by_text("This is not the current password.")).to_be_visible()
    current.fill(password)
    new.fill("1234")
    change.click()
    expect(new).to_have_attribute("aria-invalid", "true", timeout=SOON_MS)
    expect(dialog.get_by_text("too short")).to_be_visible()
    new.fill(NEW_PASSWORD)
    change.click()
    expect(dialog.get_by_text("The password is changed.")).to_be_visible(timeout=SOON_MS)
    dialog.get_by_role("button", name="Close").click()

    # The tab goes on, although its session has another key now.
    expect(page.get_by_text(re.compile("^live"))).to_be_visible(timeout=SOON_MS)
    open_menu(page, "wanda", "viewer")
    page.get_by_role("menuitem", name="Log out").click()
    expect(page.get_by_role("button", name="Log in")).to_be_visible(timeout=SOON_MS)
    log_in(page, "wanda", password)
    expect(page.get_by_role("alert")).to_contain_text("no account with that name and password")
    log_in(page, "wanda", NEW_PASSWORD)
    expect(page.get_by_role("button", name="Account wanda, viewer")).to_be_visible(timeout=SOON_MS)


def test_who_guesses_is_told_to_wait_and_make_user_opens_the_door_again(page: Page, stack: Stack) -> None:
    make_user(stack, "xaver", "operator")
    for _ in range(5):
        log_in(page, "xaver", "a guess")
        expect(page.get_by_role("alert")).to_contain_text("no account with that name", timeout=SOON_MS)
    log_in(page, "xaver", "a guess")
    expect(page.get_by_role("alert")).to_contain_text("Wait a minute and try again.", timeout=SOON_MS)

    log_in(page, "xaver", make_user(stack, "xaver"))

    expect(page.get_by_role("button", name="Account xaver, operator")).to_be_visible(timeout=SOON_MS)
