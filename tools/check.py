"""``make check``: style, types, import order, fresh generated files. All of it, then the verdict."""

from __future__ import annotations

import os
import subprocess
import sys
import time
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


def passes(command: tuple[str, ...], environment: dict[str, str]) -> bool:
    """Run one check; what it says is shown only when it fails."""
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        print(f"failed\n{done.stdout.rstrip()}\n  again: {' '.join(command)}")
    return done.returncode == 0


def main() -> int:
    scratch = str(ROOT / ".venv" / "scratch")
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "REGROUP_DATA": scratch}
    failed = []
    for name, command in CHECKS.items():
        print(f"  {name} … ", end="", flush=True)
        begun = time.monotonic()
        if passes(command, environment):
            print(f"{time.monotonic() - begun:.0f} s")
        else:
            failed.append(name)
    print(f"Failed: {', '.join(failed)}." if failed else "All checks passed.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
