"""Beyond loopback: who may come, under which name, and what is refused. The hub has a machine of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import redis

from agents.wire import streams
from tests.system.hosts import Host, make_hosts
from tests.system.stack import ROOT, Stack, free_port, keep_running
from tests.valkey import run_valkey
from webapp.listening import allowed_hosts
from webapp.stack.valkey_port import keep_port


@pytest.fixture(scope="module")
def machine() -> Iterator[Host]:
    with make_hosts("hub") as hosts:
        yield hosts.hosts[0]


@pytest.fixture(scope="module")
def hub(machine: Host, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """It listens on all addresses of its machine; the test is a neighbour of that machine."""
    stack = Stack(tmp_path_factory.mktemp("hub") / "data", free_port(), nodes=1, slots=1, host="0.0.0.0")
    stack.reached_at, stack.prefix = machine.addresses["hub"], machine.prefix
    with keep_running(stack) as running:
        yield running


def url_for_nodes(hub: Stack) -> str:
    return (hub.data / "redis_url_for_nodes").read_text().strip()


def test_a_neighbour_reaches_the_page_by_its_address_and_no_foreign_name_does(hub: Stack) -> None:
    assert httpx.get(f"{hub.url}/healthz").status_code == 200
    assert httpx.get(f"{hub.url}/api/jobs").status_code == 401
    names = {socket.gethostname(): 401, "attacker.example": 400, "198.18.0.250": 400}
    for name, status in names.items():
        answer = httpx.get(f"{hub.url}/api/jobs", headers={"Host": f"{name}:{hub.port}"})
        assert (name, answer.status_code) == (name, status)


def test_the_terminal_tells_how_to_join_and_keeps_the_password_to_itself(hub: Stack) -> None:
    file = hub.data / "redis_url_for_nodes"
    password = (hub.data / "valkey_password").read_text().strip()
    assert str(file) in hub.output
    assert "REGROUP_REDIS_URL_FILE=redis_url_for_nodes regroup-agent --name" in hub.output
    assert password not in hub.output
    assert password in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_neighbour_reaches_valkey_with_that_url_alone(hub: Stack, machine: Host) -> None:
    url = url_for_nodes(hub)
    assert machine.addresses["hub"] in url
    with redis.Redis.from_url(url) as client:
        assert client.exists(streams.EPOCH)
    open_door = redis.Redis(host=machine.addresses["hub"], port=int(url.rpartition(":")[2].split("/")[0]))
    with open_door as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_nodes_beside_the_hub_give_an_address_that_others_reach(hub: Stack, machine: Host) -> None:
    with hub.client("olga", "operator") as api:
        (node,) = api.get("/api/nodes").json()["items"]
    assert node["facts"]["addresses"][0] == machine.addresses["hub"]


def test_the_url_that_nodes_hold_outlives_a_restart(hub: Stack) -> None:
    before = url_for_nodes(hub)
    assert hub.end() == 0
    hub.start()
    assert url_for_nodes(hub) == before


def refuse(*command: str, **environment: str) -> str:
    """Run it; it must end by itself with one sentence."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("REGROUP_")}
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        env={**clean, **environment},
    )
    assert done.returncode == 1, done.stderr
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


@pytest.mark.parametrize("program", ["stack", "web"])
def test_a_redis_that_lets_anybody_in_is_no_bus_for_other_machines(tmp_path: Path, program: str) -> None:
    command = {"stack": ("-m", "webapp.stack", "--data", str(tmp_path)), "web": ("-m", "webapp.web")}[program]
    with run_valkey(tmp_path) as url:
        # A user that needs no password takes any, so that one in the URL proves nothing.
        for given in (url, url.replace("//", "//default:word@")):
            where = {"REGROUP_REDIS_URL": given, "REGROUP_DATA": str(tmp_path)}
            said = refuse(*command, "--host", "0.0.0.0", "--port", str(free_port()), **where)
            assert "Web does not listen on 0.0.0.0: Redis lets anybody in without a password" in said
            assert "requirepass" in said


def test_a_redis_without_a_password_that_is_down_is_not_trusted(tmp_path: Path) -> None:
    where = {"REGROUP_REDIS_URL": "redis://127.0.0.1:1/0", "REGROUP_DATA": str(tmp_path)}
    said = refuse("-m", "webapp.web", "--host", "0.0.0.0", **where)
    assert "REGROUP_REDIS_URL holds no password" in said


@pytest.mark.parametrize("host", ["203.0.113.9", "no-such-machine.invalid"])
def test_an_address_that_is_not_here_is_refused(tmp_path: Path, host: str) -> None:
    said = refuse("-m", "webapp.stack", "--data", str(tmp_path / "data"), "--host", host)
    assert host in said
    assert "0.0.0.0" in said


def test_allowed_hosts_are_never_everybody() -> None:
    assert allowed_hosts("127.0.0.1", ["localhost"]) == ["localhost"]
    beyond = allowed_hosts("0.0.0.0", ["hub.example"])
    assert "hub.example" in beyond
    assert socket.gethostname().lower() in beyond
    assert not {"*", "", "0.0.0.0"} & set(beyond)
    assert not [name for name in beyond if name.startswith(".")]


def test_valkeys_port_is_kept_until_somebody_else_has_it(tmp_path: Path) -> None:
    file = tmp_path / "valkey_port"
    port = keep_port(file, ["127.0.0.1"])
    assert keep_port(file, ["127.0.0.1"]) == port
    with socket.create_server(("127.0.0.1", port)):
        other = keep_port(file, ["127.0.0.1"])
    assert other != port
    assert keep_port(file, ["127.0.0.1"]) == other
    with suppress(OSError):
        file.write_text("nonsense")
    assert keep_port(file, ["127.0.0.1"]) > 0
