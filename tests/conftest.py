"""The running product, shared by all tests that use it as a person would."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.system.jobs import leave_as_found
from tests.system.stack import Stack, run_stack

# Before anything imports torch: threads of many small workers on few cores would only wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Hundreds of processes are started, and what they import is compiled once.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# The hub sets it once it is imported; runners are forked only where the environment is as it was before.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")


# How fast a machine makes examples is not tested.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that use the shared stack come last: it is not free, and lives to the end."""
    late = {item.path for item in items if "shared_stack" in getattr(item, "fixturenames", ())}
    items.sort(key=lambda item: item.path in late)


@pytest.fixture(scope="session")
def shared_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with run_stack(tmp_path_factory.mktemp("stack"), REGROUP_WARM="on") as running:
        yield running


@pytest.fixture(scope="module")
def stack(shared_stack: Stack) -> Iterator[Stack]:
    """With all its slots free: what a module has left running is ended behind it."""
    yield shared_stack
    with shared_stack.client("ursula", "operator") as api:
        leave_as_found(api)
