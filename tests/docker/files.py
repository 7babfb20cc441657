"""The container files as data: Dockerfiles line by line, compose.yaml with its variables put in."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "docker"
COMPOSE = DOCKER / "compose.yaml"
DOCKERFILES = sorted(DOCKER.glob("*.Dockerfile"))
SECRETS = "/run/secrets/"
_VARIABLE = re.compile(r"\$(?:\$|\{(\w+)(?::-([^}]*))?\})")


# --- Dockerfiles ---


@dataclass(frozen=True)
class Instruction:
    word: str
    text: str

    @property
    def options(self) -> dict[str, str]:
        """``--from=page`` and the like."""
        pairs = [part[2:].partition("=") for part in self.text.split() if part.startswith("--")]
        return {name: value for name, _, value in pairs}

    @property
    def words(self) -> list[str]:
        """What is left, from a JSON list or from words."""
        rest = re.sub(r"^(--\S+\s+)+", "", self.text)
        return list(json.loads(rest)) if rest.startswith("[") else rest.split()


@dataclass
class Stage:
    base: str
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    def all(self, word: str) -> list[Instruction]:
        return [one for one in self.instructions if one.word == word]

    def last(self, word: str) -> Instruction:
        return self.all(word)[-1]

    @property
    def settings(self) -> dict[str, str]:
        pairs = [pair.partition("=") for one in self.all("ENV") for pair in one.words]
        return {name: value for name, _, value in pairs}


@dataclass
class Dockerfile:
    arguments: dict[str, str]
    """Those before the first stage, with their defaults."""
    stages: list[Stage]

    @property
    def image(self) -> Stage:
        return self.stages[-1]


def read_dockerfile(path: Path) -> Dockerfile:
    lines = [line for line in path.read_text().splitlines() if not line.lstrip().startswith("#")]
    found = Dockerfile({}, [])
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        word, _, text = line.strip().partition(" ")
        if not word:
            continue
        if word == "FROM":
            base, _, name = text.partition(" AS ")
            found.stages.append(Stage(base.strip(), name.strip()))
        elif found.stages:
            found.stages[-1].instructions.append(Instruction(word, text.strip()))
        else:
            name, _, default = text.partition("=")
            found.arguments[name.strip()] = default.strip()
    return found


def is_sent(path: str) -> bool:
    """Whether the builder gets it: the last line of .dockerignore that fits it or a folder of it wins."""
    ignored = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        pattern = _as_expression(line.removeprefix("!"))
        parts = path.split("/")
        if any(pattern.fullmatch("/".join(parts[: count + 1])) for count in range(len(parts))):
            ignored = not line.startswith("!")
    return not ignored


def _as_expression(pattern: str) -> re.Pattern[str]:
    text = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*", "[^/]*")
    return re.compile(text)


# --- compose.yaml ---


def put_in(value: Any, variables: dict[str, str]) -> Any:
    """``${NAME:-default}`` and ``$$`` in every text."""
    if isinstance(value, dict):
        return {key: put_in(one, variables) for key, one in value.items()}
    if isinstance(value, list):
        return [put_in(one, variables) for one in value]
    return _VARIABLE.sub(lambda m: _look_up(m, variables), value) if isinstance(value, str) else value


def _look_up(match: re.Match[str], variables: dict[str, str]) -> str:
    name, default = match[1], match[2]
    return "$" if name is None else variables.get(name) or default or ""


def read_settings(**given: str) -> dict[str, str]:
    """``.env.example`` with some values given, each line seeing those above it."""
    found: dict[str, str] = {}
    for line in (DOCKER / ".env.example").read_text().splitlines():
        if line and not line.startswith("#"):
            name, _, value = line.partition("=")
            found[name] = given.get(name) or put_in(value.strip('"'), found)
    return found


def read_compose(variables: dict[str, str] | None = None) -> dict[str, Any]:
    chosen = read_settings() if variables is None else variables
    return dict(put_in(yaml.safe_load(COMPOSE.read_text()), chosen))
