"""What goes into the images is enough: the hub runs from it as compose.yaml says, and an agent installs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.agents.node_harness import Valkey
from tests.docker.files import DOCKER, ROOT, SECRETS, read_compose, read_dockerfile, read_settings
from tests.docker.image_tree import lay_out
from tests.docker.init_process import InitProcess
from tests.docker.linked_venv import make_linked_venv
from tests.postgres import run_postgres
from tests.valkey import free_port
from tests.waiting import wait_until

IMAGE = read_dockerfile(DOCKER / "hub.Dockerfile").image
COMPOSE = read_compose()


@pytest.fixture(scope="module")
def hub_image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the hub's image and, in ``venv``, the packages it installs, and no others."""
    assert any(run.text.endswith("-r requirements-hub.txt") for run in IMAGE.all("RUN"))
    folder = lay_out(IMAGE, tmp_path_factory.mktemp("hub"))
    make_linked_venv(folder / "venv", folder / "requirements-hub.txt")
    return folder


@dataclass
class Container:
    """Runs commands of the image with the places of the container moved to free ones of this machine."""

    image: Path
    moved: dict[str, str]
    environment: dict[str, str]

    def _here(self, text: str) -> str:
        for there, here in self.moved.items():
            text = text.replace(there, here)
        return text

    def start(self, command: list[str], log: Path) -> subprocess.Popen[bytes]:
        program = self.image / "venv" / "bin" / command[0]
        with log.open("wb") as output:
            return subprocess.Popen(
                [str(program), *map(self._here, command[1:])],
                cwd=self.image,
                env={name: self._here(value) for name, value in self.environment.items()},
                stdout=output,
                stderr=output,
            )

    def run(self, command: list[str], log: Path) -> str:
        """Run it to its end, and give what it said."""
        status = self.start(command, log).wait(60)
        said = log.read_text()
        assert status == 0, said
        return said


def environment_of(service: str) -> dict[str, str]:
    """Compose's on top of the image's, and what any process has."""
    base = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    return {**base, **IMAGE.settings, **COMPOSE["services"][service]["environment"]}


@pytest.fixture
def container(hub_image: Path, valkey: Valkey, tmp_path: Path) -> Iterator[Container]:
    """With a real PostgreSQL and a real Valkey, whose addresses come from the secrets alone."""
    secrets = tmp_path / "secrets"
    secrets.mkdir()
    settings = read_settings(POSTGRES_PASSWORD="5ec2e7", VALKEY_PASSWORD="b0a7")
    with run_postgres() as postgres:
        with psycopg.connect(postgres.url, autocommit=True) as connection:
            connection.execute("CREATE ROLE regroup LOGIN SUPERUSER")
        servers = {"valkey:6379": f"127.0.0.1:{valkey.port}", "postgres:5432": f"127.0.0.1:{postgres.port}"}
        valkey.redis.config_set("requirepass", "b0a7")
        for secret, source in COMPOSE["secrets"].items():
            text = settings[source["environment"]]
            for there, here in servers.items():
                text = text.replace(there, here)
            (secrets / secret).write_text(text)
        moved = {
            SECRETS: f"{secrets}/",
            "/var/lib/regroup": str(tmp_path / "data"),
            "/tmp/beat": f"{tmp_path}/beat",
        }
        moved |= {"0.0.0.0": "127.0.0.1", "8000": str(free_port())}
        yield Container(hub_image, moved, environment_of("web"))


def command_of(service: str) -> list[str]:
    return list(COMPOSE["services"][service].get("command") or IMAGE.last("CMD").words)


def health_check() -> list[str]:
    """The command of the image's HEALTHCHECK."""
    text = IMAGE.last("HEALTHCHECK").text
    return list(json.loads(text[text.index("[") :]))


def test_the_hub_runs_from_its_image_and_a_node_joins(container: Container, tmp_path: Path) -> None:
    container.run(command_of("migrate"), tmp_path / "migrate.log")
    running: dict[str, subprocess.Popen[bytes]] = {}
    with ExitStack() as ending:
        for name in ("web", "ingest", "worker", "beat"):
            running[name] = container.start(command_of(name), tmp_path / f"{name}.log")
            ending.callback(end, running[name])
        wait_until(lambda: is_healthy(container, tmp_path), timeout_s=60, what="web to be healthy")
        make_token = ["python", "manage.py", "make_token", "olga", "--role", "operator"]
        token = container.run(make_token, tmp_path / "token").strip()
        ending.callback(start_node(container, tmp_path).stop)
        url = f"http://127.0.0.1:{container.moved['8000']}"
        with httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}) as api:
            wait_until(
                lambda: states_of_nodes(api) == {"node-1": "online"}, timeout_s=60, what="node-1 to be heard"
            )
            assert "<div id=" in api.get("/").text
        assert [name for name, process in running.items() if process.poll() is not None] == []


def is_healthy(container: Container, folder: Path) -> bool:
    return container.start(health_check(), folder / "health.log").wait(30) == 0


def end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(20)


def start_node(container: Container, folder: Path) -> InitProcess:
    """node-1 as compose.yaml has it, with the agent that is installed beside these tests."""
    settings = {**COMPOSE["services"]["node-1"]["environment"], "REGROUP_DATA": str(folder / "node")}
    settings["REGROUP_REDIS_URL_FILE"] = settings["REGROUP_REDIS_URL_FILE"].replace(
        SECRETS, container.moved[SECRETS]
    )
    agent = Path(sys.executable).with_name("regroup-agent")
    return InitProcess(folder, f'exec "{agent}" "$@"', **settings)


def states_of_nodes(api: httpx.Client) -> dict[str, str]:
    return {node["name"]: node["state"] for node in api.get("/api/nodes").json()["items"]}


def test_what_is_copied_for_a_node_installs_as_the_whole_agent(tmp_path: Path) -> None:
    sources = lay_out(read_dockerfile(DOCKER / "agent.Dockerfile").image, tmp_path) / "src"
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path)]
    subprocess.run([*wheel, str(sources)], check=True, cwd=tmp_path)
    (made,) = tmp_path.glob("*.whl")
    packed = {name.partition("/")[2] for name in zipfile.ZipFile(made).namelist() if name.endswith(".py")}
    assert packed == {str(file.relative_to(ROOT / "agents")) for file in (ROOT / "agents").rglob("*.py")}
    assert (tmp_path / "examples" / "char_lm.py").exists()
