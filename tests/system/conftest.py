"""People at the API of the running product."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.system.jobs import ending_new_jobs
from tests.system.stack import Stack


@pytest.fixture(scope="module")
def operator(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client("olga", "operator") as client:
        yield client


@pytest.fixture(scope="module")
def viewer(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client("victor", "viewer") as client:
        yield client


@pytest.fixture(autouse=True)
def _ended_with_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """What the operator launches in a test ends with it, and what a module's fixture has launched goes on."""
    if "operator" not in request.fixturenames:
        yield
        return
    with ending_new_jobs(request.getfixturevalue("operator")):
        yield
