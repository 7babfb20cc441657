"""The running product, shared by all tests that use it as a person would."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.system.stack import Stack, run_stack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run_stack(tmp_path_factory.mktemp("stack")) as running:
        yield running
