"""The Dockerfiles, line by line: what they name is there, nothing runs as root, nothing is secret."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path

import node
import pytest

from tests.docker.files import (
    DOCKER,
    DOCKERFILES,
    ROOT,
    Dockerfile,
    Instruction,
    Stage,
    is_sent,
    read_dockerfile,
)

EACH = pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.stem)
KNOWN = {"WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "HEALTHCHECK", "CMD", "ENTRYPOINT", "STOPSIGNAL"}
"""ADD is not among them: what it fetches is checked by nobody."""
PINNED = re.compile(r"[a-z./-]+:\d[\w.-]*")


def base_of(stage: Stage, file: Dockerfile) -> str:
    argument = re.fullmatch(r"\$\{(\w+)\}", stage.base)
    return file.arguments[argument[1]] if argument else stage.base


def sources_of(copy: Instruction) -> list[str]:
    return copy.words[:-1]


def copies_from_tree(stage: Stage) -> list[Instruction]:
    return [copy for copy in stage.all("COPY") if "from" not in copy.options]


@EACH
def test_every_stage_stands_on_a_pinned_image_or_on_an_earlier_stage(path: Path) -> None:
    file = read_dockerfile(path)
    earlier: list[str] = []
    for stage in file.stages:
        base = base_of(stage, file)
        assert base in earlier or PINNED.fullmatch(base), base
        assert all(
            copy.options.get("from", stage.name) in [*earlier, stage.name] for copy in stage.all("COPY")
        )
        earlier.append(stage.name)


@EACH
def test_what_is_copied_is_in_the_tree_and_is_sent_to_the_builder(path: Path) -> None:
    sources = [
        name
        for stage in read_dockerfile(path).stages
        for copy in copies_from_tree(stage)
        for name in sources_of(copy)
    ]
    assert sources
    for name in sources:
        assert (ROOT / name).exists(), name
        assert is_sent(name), name


def test_only_what_images_are_made_of_is_sent() -> None:
    for name in (
        ".git/config",
        "docker/.env",
        "data/secret_key",
        ".venv/bin/python",
        "tests/waiting.py",
        ".env",
    ):
        assert not is_sent(name), name
    assert not is_sent("frontend/node_modules/react/index.js")
    assert not is_sent("webapp/__pycache__/urls.cpython-311.pyc")
    assert is_sent("frontend/src/main.tsx")
    assert is_sent("webapp/jobs/migrations/0001_initial.py")


def test_passwords_cannot_be_committed() -> None:
    ignored = subprocess.run(
        ["git", "check-ignore", "--no-index", "docker/.env"], cwd=ROOT, capture_output=True
    )
    assert ignored.returncode == 0


@EACH
def test_nothing_is_fetched_by_hand_and_nothing_secret_is_baked_in(path: Path) -> None:
    file = read_dockerfile(path)
    for one in (one for stage in file.stages for one in stage.instructions):
        assert one.word in KNOWN, one
        assert not re.search(r"curl|wget|https?://(?!127\.0\.0\.1)", one.text), one
        assert one.word != "ENV" or not re.search("PASSWORD|SECRET|TOKEN|_URL", one.text), one


@EACH
def test_the_image_does_not_run_as_root(path: Path) -> None:
    image = read_dockerfile(path).image
    user = image.last("USER").text
    assert user not in {"root", "0"}
    made = "\n".join(run.text for run in image.all("RUN"))
    assert re.search(rf"useradd --uid \d{{5,}} --create-home {user}\b", made)
    assert f"install -d -o {user} -g {user} -m 0700 {image.settings['REGROUP_DATA']}" in made


@EACH
def test_what_is_installed_from_was_copied_before(path: Path) -> None:
    for stage in read_dockerfile(path).stages:
        there: set[str] = set()
        for one in stage.instructions:
            if one.word == "COPY":
                there |= {
                    name if one.words[-1] == "./" else one.words[-1].rstrip("/") for name in sources_of(one)
                }
            if one.word == "RUN":
                wanted = re.findall(r"pip install .*-r (\S+)|pip install .*\./(\w+)", one.text)
                assert {name for pair in wanted for name in pair if name} <= there, one
                assert "npm ci" not in one.text or "frontend/package-lock.json" in there


def test_the_page_is_built_as_the_page_says() -> None:
    scripts = json.loads((ROOT / "frontend" / "package.json").read_text())["scripts"]
    page = read_dockerfile(DOCKER / "hub.Dockerfile").stages[0]
    called = [name for run in page.all("RUN") for name in re.findall(r"npm run (\w+)", run.text)]
    assert called == ["build"]
    assert set(called) <= set(scripts)
    assert node.fits(f"v{page.base.partition(':')[2].partition('-')[0]}.0.0")


def test_the_images_have_a_python_that_fits() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=")
    for path in DOCKERFILES:
        bases = [stage.base for stage in read_dockerfile(path).stages if stage.base.startswith("python:")]
        assert bases == [f"python:{oldest}-slim-bookworm"]


def test_the_image_to_try_out_has_the_torch_that_is_tested() -> None:
    pins = set((ROOT / "requirements.txt").read_text().splitlines())
    trial = next(s for s in read_dockerfile(DOCKER / "agent.Dockerfile").stages if s.name == "trial")
    installed = {word for run in trial.all("RUN") for word in run.text.split() if "==" in word}
    assert {name.partition("==")[0] for name in installed} == {"torch", "numpy"}
    assert installed <= pins


def test_a_node_is_started_through_its_init() -> None:
    image = read_dockerfile(DOCKER / "agent.Dockerfile").image
    init = next(copy for copy in image.all("COPY") if sources_of(copy) == ["docker/agent_init.py"])
    assert image.last("ENTRYPOINT").words == [Path(init.words[-1]).name]
    assert init.options["chmod"] == "0755"
    assert image.last("STOPSIGNAL").text == "SIGTERM"
