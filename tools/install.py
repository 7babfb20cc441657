"""The steps from a fresh clone to something that runs. Standard library only: nothing is installed yet.

Each step is skipped when its stamp says that nothing it depends on has changed.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import node
from progress import ProgressLine, StepFailed, run_tool
from stamps import Stamps, hash_of

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = str(VENV / "bin" / "python")
FRONTEND = ROOT / "frontend"
PIP = (PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-input")
PIP_HINT = (
    "Check the network and the package index (pip config list), then try again; what is installed is kept."
)
SOURCE_SUFFIXES = {".json", ".ts", ".js", ".mjs", ".cjs", ".html"}
NPM_HINT = "Check the network and the npm registry (npm config get registry), then try again."


@dataclass(frozen=True)
class Step:
    name: str
    says: str
    inputs: tuple[Path | str, ...]
    makes: Path
    """Missing: the step is done whatever its stamp says."""
    command: tuple[str, ...]
    hint: str
    folder: Path = ROOT


def make_venv(stamps: Stamps) -> None:
    """``.venv`` as a virtual environment of this Python; made anew after an installation that was killed."""
    interrupted = stamps.was_interrupted("packages")
    has_moved = stamps.read("venv") not in (None, str(ROOT))
    if Path(PYTHON).exists() and not interrupted and not has_moved:
        return
    if interrupted:
        print("  The last installation was interrupted half-way; .venv is made anew.")
    stamps.forget_all()
    with ProgressLine("virtual environment"), stamps.under_way("packages"):
        hint = "Install Python's venv module (Debian: apt install python3-venv), then try again."
        own_pip = importlib.util.find_spec("ensurepip") is not None
        options = [] if own_pip else ["--without-pip"]
        run_tool([sys.executable, "-m", "venv", "--clear", *options, str(VENV)], ROOT, hint)
        if not own_pip:
            run_tool([sys.executable, "-m", "pip", "--python", PYTHON, "install", "pip"], ROOT, hint)
    stamps.write("venv", str(ROOT))


def with_included(requirements: Path) -> list[Path]:
    """That file and those that it takes in with ``-r``."""
    lines = requirements.read_text().splitlines()
    taken_in = [requirements.parent / line.removeprefix("-r ") for line in lines if line.startswith("-r ")]
    return [requirements, *(file for other in taken_in for file in with_included(other))]


def python_steps(with_tests: bool) -> list[Step]:
    site = VENV / "lib"
    wanted = "requirements-dev.txt" if with_tests else "requirements.txt"
    return [
        Step(
            "test-packages" if with_tests else "packages",
            f"Python packages of {wanted} (the first time PyTorch is fetched: minutes on a slow line)",
            (*with_included(ROOT / wanted), VENV / "pyvenv.cfg"),
            site,
            (*PIP, "-r", wanted),
            PIP_HINT,
        ),
        Step(
            "agent",
            "node agent and command line",
            (ROOT / "pyproject.toml", str(ROOT), VENV / "pyvenv.cfg"),
            VENV / "bin" / "regroup-agent",
            (*PIP, "--no-deps", "-e", "."),
            PIP_HINT,
        ),
    ]


def node_step() -> Step | None:
    """Node from its wheel, unless one that fits is on the PATH."""
    if node.find_fitting(node.without(os.environ.get("PATH", os.defpath), VENV / "bin")):
        return None
    return Step(
        "node", "Node from its wheel", (node.WHEEL,), VENV / "bin" / "node", (*PIP, node.WHEEL), PIP_HINT
    )


def frontend_steps(with_page: bool) -> list[Step]:
    version = node.find_fitting(os.environ["PATH"]) or "none"
    lock = (FRONTEND / "package.json", FRONTEND / "package-lock.json")
    settings = tuple(sorted(file for file in FRONTEND.glob("*.*") if file.suffix in SOURCE_SUFFIXES))
    packages = Step(
        "npm",
        "packages of the page",
        (*lock, version),
        FRONTEND / "node_modules",
        ("npm", "ci", "--no-audit", "--no-fund"),
        NPM_HINT,
        FRONTEND,
    )
    page = Step(
        "page",
        "building the page",
        (*settings, FRONTEND / "src", FRONTEND / "public", version),
        FRONTEND / "dist" / "index.html",
        ("npm", "run", "build"),
        "The page's sources do not build; the lines above say where.",
        FRONTEND,
    )
    return [packages, page] if with_page else [packages]


def do_step(step: Step, stamps: Stamps) -> None:
    """Raises ``StepFailed``. What is interrupted here is done again next time."""
    inputs_hash = hash_of([*step.inputs, " ".join(step.command)])
    if step.makes.exists() and stamps.read(step.name) == inputs_hash:
        return
    with ProgressLine(step.says), stamps.renewing(step.name, inputs_hash):
        if step.command[: len(PIP)] == PIP:
            with stamps.under_way("packages"):
                run_tool(step.command, step.folder, step.hint)
        else:
            run_tool(step.command, step.folder, step.hint)


def install(target: str, stamps: Stamps) -> None:
    """Bring the clone to where ``target`` can run. Raises ``StepFailed``."""
    os.environ["PATH"] = f"{VENV / 'bin'}:{node.without(os.environ.get('PATH', os.defpath), VENV / 'bin')}"
    make_venv(stamps)
    for step in python_steps(with_tests=target != "run"):
        do_step(step, stamps)
    wheel = node_step()
    if wheel is not None:
        do_step(wheel, stamps)
    for step in frontend_steps(with_page=target != "check"):
        do_step(step, stamps)


def main(arguments: Sequence[str]) -> int:
    """Give 0 when ``run``, ``check`` or ``test`` can start."""
    if len(arguments) != 1 or arguments[0] not in ("run", "check", "test"):
        print("Say what to install for: python3 tools/bootstrap.py run|check|test", file=sys.stderr)
        return 2
    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        stamps = Stamps(ROOT / ".stamps")
        with stamps.alone("Another installation is under way in this folder; waiting for it …"):
            install(arguments[0], stamps)
    except StepFailed as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted; started again, it goes on from here.", file=sys.stderr)
        return 130
    return 0
