"""Settings from the environment: sensible without any, one sentence for nonsense."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from webapp import env


def test_a_fresh_clone_needs_no_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DATA", "REDIS_URL", "REDIS_URL_FILE", "DATABASE_URL", "SECRET_KEY_FILE", "DEBUG"):
        monkeypatch.delenv(f"REGROUP_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    data = env.data_folder()
    assert data == tmp_path / "data"
    assert env.redis_url() == "redis://127.0.0.1:6379/0"
    assert env.database(data)["NAME"] == data / "regroup.sqlite3"
    assert not env.read_flag("REGROUP_DEBUG")


def test_the_key_for_secrets_lies_in_the_data_folder_unless_told_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REGROUP_SECRET_ENV_KEY_FILE", raising=False)
    assert env.secret_env_key_file(tmp_path) == tmp_path / "secret_env_key"
    monkeypatch.setenv("REGROUP_SECRET_ENV_KEY_FILE", "/etc/keys")
    assert env.secret_env_key_file(tmp_path) == Path("/etc/keys")


def test_the_secret_key_is_made_once_and_for_its_owner_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("REGROUP_SECRET_KEY_FILE", raising=False)
    key = env.secret_key(tmp_path)
    assert len(key) >= 50
    assert env.secret_key(tmp_path) == key
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_postgres_address_is_taken_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGROUP_DATABASE_URL", "postgres://hub:p%40ss@db.example:5433/regroup")
    database = env.database(tmp_path)
    assert (database["HOST"], database["PORT"], database["NAME"]) == ("db.example", "5433", "regroup")
    assert (database["USER"], database["PASSWORD"]) == ("hub", "p@ss")


def test_what_follows_a_postgres_address_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REGROUP_DATABASE_URL", "postgres://hub@%2Frun%2Fpg/regroup?sslmode=verify-full")
    database = env.database(tmp_path)
    assert (database["HOST"], database["PORT"]) == ("/run/pg", "")
    assert database["OPTIONS"]["sslmode"] == "verify-full"


def test_each_process_may_wait_for_the_database_as_long_as_it_wants(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("REGROUP_DATABASE_URL", raising=False)
    monkeypatch.delenv("REGROUP_DATABASE_WAIT_S", raising=False)
    assert env.database(tmp_path)["OPTIONS"]["timeout"] == 20
    monkeypatch.setenv("REGROUP_DATABASE_WAIT_S", "5")
    assert env.database(tmp_path)["OPTIONS"]["timeout"] == 5
    monkeypatch.setenv("REGROUP_DATABASE_URL", "postgres://hub@db/regroup")
    assert "statement_timeout=5000ms" in env.database(tmp_path)["OPTIONS"]["options"]


def test_a_secret_may_come_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("redis://:word@bus:6379/1\n")
    monkeypatch.delenv("REGROUP_REDIS_URL", raising=False)
    monkeypatch.setenv("REGROUP_REDIS_URL_FILE", str(file))
    assert env.redis_url() == "redis://:word@bus:6379/1"


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("REGROUP_DEBUG", "maybe", "write 1 for yes or 0 for no"),
        ("REGROUP_REDIS_URL", "localhost:6379", "redis://HOST:PORT/0"),
        ("REGROUP_REDIS_URL_FILE", "/no/such/file", "cannot be read"),
        ("REGROUP_DATABASE_URL", "mysql://x/y", "postgres://USER:PASSWORD@HOST:PORT/NAME"),
        ("REGROUP_DATABASE_URL", "postgres://db:x/y", "postgres://USER:PASSWORD@HOST:PORT/NAME"),
        ("REGROUP_DATABASE_WAIT_S", "soon", "write seconds, from 1 to 3600"),
        ("REGROUP_DATA", "/proc/nowhere", "choose another folder"),
    ],
)
def test_nonsense_is_refused_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, value: str, says: str
) -> None:
    monkeypatch.delenv("REGROUP_REDIS_URL", raising=False)
    monkeypatch.setenv(name, value)
    with pytest.raises(env.BadSetting, match=says) as refused:
        env.read_flag("REGROUP_DEBUG"), env.redis_url(), env.database(tmp_path), env.data_folder()
    assert name.removesuffix("_FILE") in str(refused.value)
