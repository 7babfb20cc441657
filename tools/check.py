"""``make check``: style, types, import order, fresh generated files. All of it, then the verdict.

As many at once as there are cores, since the slow ones use one each.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
PYTHON_OF_JOBS = "3.10"
"""The oldest Python that may run a job, and so the runner and the wire."""
SHARED = ("bundle", "journal", "procs", "report")
OF_THE_RUNNER = (
    "agents/wire",
    "agents/runner",
    "agents/keeper",
    "agents/warm",
    *(f"agents/{name}.py" for name in SHARED),
)

CHECKS: dict[str, tuple[str, ...]] = {
    "style": ("ruff", "check", "--quiet"),
    "format": ("ruff", "format", "--check", "--quiet"),
    "types": ("mypy",),
    "types of the runner on the oldest Python": (
        *("mypy", "--python-version", PYTHON_OF_JOBS, *OF_THE_RUNNER),
    ),
    "syntax of the runner on the oldest Python": (
        *("vermin", f"-t={PYTHON_OF_JOBS}-", "--no-tips", "--violations", "--eval-annotations"),
        *OF_THE_RUNNER,
    ),
    "import order": ("lint-imports", "--no-cache"),
    "migrations": ("python", "manage.py", "makemigrations", "--check", "--dry-run"),
    "generated files": ("python", "tools/generated.py", "--check"),
    "types of the page": ("npm", "--prefix", "frontend", "run", "--silent", "typecheck"),
}


@dataclass(frozen=True)
class Verdict:
    name: str
    seconds: float
    complaint: str
    """What it said, and how to run it again. Empty: it passed."""


def run(name: str, command: tuple[str, ...], environment: dict[str, str]) -> Verdict:
    """What a check says is kept only when it fails."""
    begun = time.monotonic()
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    complaint = f"{done.stdout.rstrip()}\n  again: {' '.join(command)}" if done.returncode != 0 else ""
    return Verdict(name, time.monotonic() - begun, complaint)


def say(verdict: Verdict) -> None:
    print(f"  {verdict.name} … {'failed' if verdict.complaint else f'{verdict.seconds:.0f} s'}", flush=True)
    if verdict.complaint:
        print(verdict.complaint, flush=True)


def main() -> int:
    scratch = str(ROOT / ".venv" / "scratch")
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "REGROUP_DATA": scratch}
    failed = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running = [pool.submit(run, name, command, environment) for name, command in CHECKS.items()]
        for done in as_completed(running):
            verdict = done.result()
            say(verdict)
            failed += [verdict.name] if verdict.complaint else []
    print(f"Failed: {', '.join(failed)}." if failed else "All checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
