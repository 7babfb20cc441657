"""The commands for containers in the documentation are those of the files."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from agents.node.config import read_config
from tests.docker.files import DOCKER, ROOT, read_compose, read_dockerfile

OPTIONS_WITH_VALUE = {
    "--name",
    "--network",
    "--gpus",
    "--shm-size",
    "--stop-timeout",
    "--env",
    "--volume",
    "--restart",
}


def section() -> str:
    text = (ROOT / "docs" / "operations.md").read_text()
    return text.partition("\n## Containers\n")[2].partition("\n## ")[0]


def commands() -> list[list[str]]:
    blocks = re.findall(r"```\n(.*?)```", section(), flags=re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    inline = re.findall(r"`(docker compose [^`]+)`", section())
    return [shlex.split(line, comments=True) for line in [*lines, *inline] if line]


def of_kind(*start: str) -> list[list[str]]:
    found = [command[len(start) :] for command in commands() if command[: len(start)] == list(start)]
    assert found
    return found


def test_every_file_that_is_named_is_there() -> None:
    files = {word for command in commands() for word in command if word.startswith("docker/")}
    assert files == {"docker/.env.example", "docker/.env", "docker/compose.yaml", "docker/agent.Dockerfile"}
    assert all((ROOT / file).exists() for file in files - {"docker/.env"})


def test_commands_in_a_service_are_ones_of_the_hub(tmp_path: Path) -> None:
    for service, *command in of_kind("docker", "compose", "-f", "docker/compose.yaml", "exec"):
        assert service in read_compose()["services"]
        assert command[:2] == ["python", "manage.py"]
        done = subprocess.run(
            [sys.executable, "manage.py", command[2], "--help"],
            cwd=ROOT,
            env={"REGROUP_DATA": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert {word for word in command if word.startswith("--")} <= set(
            done.stdout.replace(",", " ").split()
        )


def test_the_build_names_an_argument_of_the_dockerfile_and_the_image_that_is_run() -> None:
    (build,) = of_kind("docker", "build")
    file = read_dockerfile(ROOT / build[build.index("-f") + 1])
    assert build[build.index("--build-arg") + 1].partition("=")[0] in file.arguments
    image = build[build.index("-t") + 1]
    assert image in of_kind("docker", "run")[0]
    assert image == read_compose()["services"]["node-1"]["image"]
    comment = (DOCKER / "agent.Dockerfile").read_text()
    assert f"docker build {shlex.join(build)}" in comment


def split_run() -> tuple[list[tuple[str, str]], list[str]]:
    """The options of ``docker run``, and the node agent's arguments after the image."""
    (run,) = of_kind("docker", "run")
    options: list[tuple[str, str]] = []
    while run[0].startswith("--"):
        has_value = run[0] in OPTIONS_WITH_VALUE
        options.append((run[0], run[1] if has_value else ""))
        run = run[2 if has_value else 1 :]
    return options, run[1:]


def test_a_node_in_a_container_is_given_settings_that_the_agent_takes(tmp_path: Path) -> None:
    options, arguments = split_run()
    environment = dict(value.split("=", 1) for name, value in options if name == "--env")
    volumes = [value.split(":")[1] for name, value in options if name == "--volume"]
    image = read_dockerfile(DOCKER / "agent.Dockerfile").image
    assert image.settings["REGROUP_DATA"] in volumes
    assert environment["REGROUP_REDIS_URL_FILE"] in volumes
    secret = tmp_path / "redis_url"
    secret.write_text("redis://:word@hub:6379/0\n")
    environment |= {"REGROUP_REDIS_URL_FILE": str(secret), **image.settings}
    config = read_config(arguments, environment)
    assert (config.name, config.slots, str(config.data)) == ("gpu-7", "gpus", "/var/lib/regroup")
    assert config.redis_url == "redis://:word@hub:6379/0"


def test_a_stop_gives_the_jobs_their_grace() -> None:
    options, _ = split_run()
    grace_s = int(
        dict(value.split("=", 1) for name, value in options if name == "--env")["REGROUP_STOP_GRACE_S"]
    )
    assert grace_s < int(dict(options)["--stop-timeout"])


@pytest.mark.parametrize(
    "fact", ["10001", "REGROUP_STOP_GRACE_S", "agent-init", "AGENT_BASE", "0.2 s", "10 s"]
)
def test_what_the_text_names_is_in_the_files(fact: str) -> None:
    files = [*DOCKER.glob("*.Dockerfile"), DOCKER / ".env.example", DOCKER / "agent_init.py"]
    code = "".join(file.read_text() for file in files)
    assert f"{fact}" in section()
    assert {"0.2 s": "FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 10.0", "10 s": "10.0"}.get(fact, fact) in code
