"""A real browser in front of the running product."""

from __future__ import annotations

import os
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.chromium import FLAGS, find_chromium
from tests.system.stack import Stack
from tests.waiting import ms

DESK = (1440, 900)
PHONE = (390, 844)

expect.set_options(timeout=ms(5))


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """For one module only: Playwright keeps an event loop in this thread, which other tests cannot have."""
    executable, environment = find_chromium(tmp_path_factory.mktemp("chromium"))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(executable),
            args=FLAGS,
            env={**os.environ, **environment},
            timeout=ms(60),
        )
        yield browser
        browser.close()


def open_window(browser: Browser, url: str) -> BrowserContext:
    """A desk-sized window in which nobody is logged in."""
    context = browser.new_context(base_url=url, viewport={"width": DESK[0], "height": DESK[1]})
    context.set_default_timeout(ms(30))
    return context


@pytest.fixture
def page(chromium: Browser, stack: Stack) -> Iterator[Page]:
    """A fresh browser window on the product, nobody logged in. Errors of the page's own fail the test."""
    context = open_window(chromium, stack.url)
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


def log_in(page: Page, stack: Stack) -> None:
    """As the first operator, up to the list of jobs. How a person does it is tested with the people."""
    page.context.add_cookies(
        [{"name": name, "value": value, "url": stack.url} for name, value in stack.session().items()]
    )
    page.goto("/")
    page.get_by_role("heading", name="Jobs").wait_for()


@pytest.fixture
def operator_page(page: Page, stack: Stack) -> Page:
    """Logged in as the operator of the first run."""
    log_in(page, stack)
    return page


@pytest.fixture(scope="module")
def api(stack: Stack) -> Iterator[httpx.Client]:
    """To hold what the page shows against."""
    with stack.client("ursula", "operator") as client:
        yield client
