"""People at the API of the running product."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.system.stack import Stack


@pytest.fixture(scope="module")
def operator(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client("olga", "operator") as client:
        yield client


@pytest.fixture(scope="module")
def viewer(stack: Stack) -> Iterator[httpx.Client]:
    with stack.client("victor", "viewer") as client:
        yield client
