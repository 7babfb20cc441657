"""What all tests of the hub have: a database, a Valkey server, and people who may look or act."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import redis
from channels.layers import channel_layers
from django.conf import settings
from django.db import connections
from django.db.models import Model

from tests.postgres import FOLDER, PART
from tests.valkey import run_valkey
from tests.webapp.api_client import Api
from tests.webapp.processes import Hub
from webapp.accounts.models import Account, Role
from webapp.accounts.tokens import make_token
from webapp.celery import app as celery
from webapp.jobs.goodput_past import Past
from webapp.jobs.models import Job
from webapp.jobs.shelf import Shelf
from webapp.jobs.story import Story
from webapp.jobs.timeline_schemas import TimelineOut
from webapp.redis import get_redis


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the files of this part, where there are parts; on PostgreSQL, what reads or writes rows."""
    which, many = map(int, os.environ.get(PART, "1/1").split("/"))
    files = sorted({item.path for item in items})
    mine = set(files[which - 1 :: many])
    kept = [item for item in items if item.path in mine and (FOLDER not in os.environ or _has_rows(item))]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def _has_rows(item: pytest.Item) -> bool:
    names = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(names & {"db", "transactional_db", "hub"})


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file, so that threads and processes see the same rows, as they do in earnest."""
    if connections["default"].vendor == "sqlite":
        test = connections["default"].settings_dict["TEST"]
        test["NAME"] = str(tmp_path_factory.mktemp("database") / "test.sqlite3")


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> None:
    settings.PASSWORD_HASHERS = ["tests.webapp.quick_hasher.QuickHasher"]


@pytest.fixture(scope="session", autouse=True)
def valkey_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with run_valkey(tmp_path_factory.mktemp("valkey")) as url:
        settings.REDIS_URL = url
        layers: dict[str, Any] = settings.CHANNEL_LAYERS
        layers["default"]["CONFIG"]["hosts"][0]["address"] = url
        channel_layers.backends.clear()
        celery.conf.update(broker_url=url)
        yield url


@pytest.fixture(autouse=True)
def held_as_the_rows_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever changes a job in whatever way: what is held of it says what its rows say now."""
    held = Shelf.of

    def of(shelf: Shelf[Any], job: Job) -> Any:
        value = held(shelf, job)
        assert _plain(value) == _plain(shelf.read(job)), "a change that job_changed was not called for"
        return value

    monkeypatch.setattr(Shelf, "of", of)


def _plain(value: Any) -> Any:
    """Rows by their fields: as they are, they are equal by their key alone."""
    if isinstance(value, Story | Past):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, TimelineOut):
        return value.model_dump(exclude={"now"})
    if isinstance(value, Model):
        return {name: told for name, told in vars(value).items() if name != "_state"}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


@pytest.fixture
def bus(valkey_server: str) -> redis.Redis:
    """The Valkey server, empty."""
    client = get_redis()
    client.flushdb()
    return client


@pytest.fixture
def hub(bus: redis.Redis, tmp_path: Path) -> Hub:
    """For real processes on the tests' database."""
    return Hub(tmp_path)


@pytest.fixture
def no_redis(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens where Redis should be."""
    monkeypatch.setattr(settings, "REDIS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setattr(celery.conf, "broker_url", "redis://127.0.0.1:1/0")


@pytest.fixture
def anna(db: None) -> Account:
    """An operator."""
    return Account.objects.create_user("anna", password="correct horse battery", role=Role.OPERATOR)


@pytest.fixture
def vera(db: None) -> Account:
    """A viewer."""
    return Account.objects.create_user("vera", password="staple of the horse", role=Role.VIEWER)


@pytest.fixture
def operator(anna: Account) -> Api:
    return Api(make_token(anna))


@pytest.fixture
def viewer(vera: Account) -> Api:
    return Api(make_token(vera))


@pytest.fixture
def nobody(db: None) -> Api:
    return Api()


@pytest.fixture
def script(tmp_path: Path) -> str:
    """The path of a script that is there."""
    path = tmp_path / "train.py"
    path.write_text("print('training')\n")
    return str(path)
