"""Secret variables at rest and on their way: sealed by the hub, opened by the node they are for."""

from __future__ import annotations

import importlib
import json
import stat
from pathlib import Path
from typing import Any

import pytest
import redis
from cryptography.fernet import Fernet
from django.apps import apps
from django.conf import settings
from django.db import connection

from agents.wire import streams
from tests.webapp.api_client import Api
from tests.webapp.factories import make_job, make_node, message_sent, secrets_sent
from webapp import sealing
from webapp.accounts.models import Account
from webapp.fleet.models import Command, Node
from webapp.fleet.outbox import expire, find_late, send_waiting
from webapp.jobs.models import Job
from webapp.jobs.tasks import place_queued
from webapp.masking import MASK

pytestmark = pytest.mark.django_db(transaction=True)

WORD = "s3cr3t-4711"
ENV = {
    "TEAM_WORD": f"{WORD}-marked",
    "API_TOKEN": f"{WORD}-named",
    "DB": f"postgres://u:{WORD}@h/x",
    "EPOCHS": "3",
}
SPEC: dict[str, Any] = {"script": "/data/train.py", "env": ENV, "secret_env": ["TEAM_WORD"]}
SHOWN = {"TEAM_WORD": MASK, "API_TOKEN": MASK, "DB": f"postgres://u:{MASK}@h/x", "EPOCHS": "3"}
SECRETS = {"env": {name: value for name, value in ENV.items() if name != "EPOCHS"}}


@pytest.fixture(autouse=True)
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(settings, "SECRET_ENV_KEY_FILE", tmp_path / "secret_env_key")
    return tmp_path / "secret_env_key"


def rows() -> str:
    return json.dumps([list(table.objects.values()) for table in (Job, Command)], default=str)


def test_a_key_is_made_once_for_its_owner_alone(key_file: Path) -> None:
    sealed = sealing.seal(SECRETS)
    key = key_file.read_text()
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600
    assert sealing.unseal(sealed) == SECRETS
    assert key_file.read_text() == key
    assert [path.name for path in key_file.parent.iterdir()] == [key_file.name]


def test_a_new_key_in_front_seals_and_the_old_one_still_opens(key_file: Path) -> None:
    old = sealing.seal(SECRETS)
    new_key = Fernet.generate_key().decode()
    key_file.write_text(f"# of today\n{new_key}\n{key_file.read_text()}")
    assert sealing.unseal(old) == SECRETS
    assert json.loads(Fernet(new_key).decrypt(sealing.seal(SECRETS).encode())) == SECRETS


def test_a_marked_a_named_and_an_address_are_masked_in_rows_and_sealed_for_the_node(operator: Api) -> None:
    make_node("node-1")
    body = operator.post("/api/jobs", SPEC).body
    assert body["spec"]["env"] == SHOWN
    assert place_queued() == 1
    assert WORD not in rows()
    command = Command.objects.get()
    sent = message_sent(command)
    assert sent["spec"]["env"] == {"EPOCHS": "3"}
    assert WORD not in json.dumps(sent)
    assert secrets_sent(command) == SECRETS
    shown = operator.get(f"/api/commands/{command.id}").body["asked"]["message"]
    assert shown["spec"]["env"] == SHOWN
    assert "sealed" not in operator.get(f"/api/jobs/{body['id']}").body


def test_checks_before_a_launch_take_no_secret_to_a_node(operator: Api, bus: redis.Redis) -> None:
    make_node("node-1")
    assert operator.post("/api/jobs/checks", SPEC).status == 202
    asked: Any = bus.lrange(streams.requests("node-1"), 0, -1)
    assert [json.loads(body)["env"] for body in asked] == [{"EPOCHS": "3"}]


def test_what_is_marked_has_to_be_a_variable(operator: Api) -> None:
    answer = operator.post("/api/jobs", SPEC | {"secret_env": ["TEAM_WRD"]})
    assert (answer.status, answer.body["where"]) == (422, "secret_env")
    assert "TEAM_WRD" in answer.body["what"]


def test_a_copy_has_the_same_secrets_and_keeps_their_marks(operator: Api) -> None:
    first = operator.post("/api/jobs", SPEC).body
    again = {
        "script": "/data/train.py",
        "env": first["spec"]["env"] | {"EPOCHS": "4"},
        "copy_of": first["id"],
    }
    answer = operator.post("/api/jobs", again)
    assert answer.status == 201, answer.body
    copy = Job.objects.get(pk=answer.body["id"])
    assert sealing.unseal(copy.sealed) == SECRETS
    assert copy.spec["secret_env"] == ["TEAM_WORD"]
    assert copy.spec["env"] == SHOWN | {"EPOCHS": "4"}


def test_a_node_whose_agent_opens_none_gets_no_job_with_secrets(operator: Api) -> None:
    make_node("node-1", secrets_key="")
    waiting = operator.post("/api/jobs", SPEC).body["id"]
    plain = operator.post("/api/jobs", {"script": "/data/train.py"}).body["id"]
    assert place_queued() == 1
    assert Command.objects.get().job == plain
    says = operator.get(f"/api/jobs/{waiting}").body["state_reason"]
    assert "node-1 cannot be given secret variables, as its node agent is of an older release" in says


def test_with_another_key_a_job_waits_and_says_so_and_a_copy_is_refused(
    operator: Api, key_file: Path
) -> None:
    make_node("node-1")
    job_id = operator.post("/api/jobs", SPEC).body["id"]
    kept = key_file.read_text()
    key_file.write_bytes(Fernet.generate_key())
    assert place_queued() == 0
    says = operator.get(f"/api/jobs/{job_id}").body["state_reason"]
    assert "cannot be opened. They were sealed with another key than those in" in says
    copy = operator.post("/api/jobs", {"script": "/data/train.py", "env": SHOWN, "copy_of": job_id})
    assert (copy.status, copy.body["where"]) == (409, "env")
    key_file.write_text(kept)
    assert place_queued() == 1
    assert secrets_sent(Command.objects.get()) == SECRETS


def test_a_file_without_keys_is_told_by_a_launch_and_by_the_health_page(
    operator: Api, key_file: Path
) -> None:
    key_file.write_text("nonsense\n")
    answer = operator.post("/api/jobs", SPEC)
    assert answer.status == 503
    assert "was not launched" in answer.body["what"]
    part = operator.get("/api/health").body["secrets"]
    assert not part["ok"]
    assert str(key_file) in part["says"]
    assert operator.post("/api/jobs", {"script": "/data/train.py"}).status == 201


def test_a_start_whose_secrets_cannot_be_opened_ends_undelivered_with_the_reason(
    anna: Account, key_file: Path
) -> None:
    make_node("node-1")
    make_job(anna, **SPEC)
    Node.objects.update(facts={**Node.objects.get().facts, "secrets_key": "c2hvcnQ="})
    assert place_queued() == 1
    assert send_waiting() == 0
    row = Command.objects.get()
    Command.objects.update(created_at=row.created_at.replace(year=2020))
    assert [expire(late) for late in find_late()] == [True]
    row.refresh_from_db()
    assert row.state == "undelivered"
    assert "node-1 has announced no key" in row.reason
    assert WORD not in row.reason


def test_rows_of_before_are_sealed_and_leave_nothing_in_the_file(anna: Account) -> None:
    make_node("node-1")
    job = make_job(anna, **SPEC)
    assert place_queued() == 1
    step = importlib.import_module("webapp.jobs.migrations.0019_seal_rows")
    with connection.schema_editor() as editor:
        step.reopen(apps, editor)
    assert Job.objects.get().spec["env"] == ENV
    assert Job.objects.get().sealed == ""
    assert WORD in rows()
    editor.connection.close()
    step.close(apps, editor)
    assert WORD not in rows()
    job.refresh_from_db()
    assert job.spec["env"] == SHOWN
    assert sealing.unseal(job.sealed) == sealing.unseal(Command.objects.get().sealed) == SECRETS
    if connection.vendor == "sqlite":
        path = Path(connection.settings_dict["NAME"])
        files = [file for file in path.parent.iterdir() if file.name.startswith(path.name)]
        assert [file.name for file in files if WORD.encode() in file.read_bytes()] == []
