"""``manage.py`` on the data folder of a local stack: ``python -m webapp.stack.admin DATA COMMAND …``.

Replaces this process by the command, so that the command's output is all there is.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from .environment import django_environment
from .options import ROOT


def main() -> int:
    data = Path(sys.argv[1]).expanduser().resolve()
    elsewhere = any(os.environ.get(f"REGROUP_DATABASE_URL{end}") for end in ("", "_FILE"))
    if not (data / "regroup.sqlite3").exists() and not elsewhere:
        print(  # noqa: T201 - for the person at the terminal
            f"There is no database in {data}. Start Regroup on it first (make run DATA=FOLDER), "
            "or name the data folder it runs on: DATA=FOLDER. "
            "If it runs on PostgreSQL, set REGROUP_DATABASE_URL here too.",
            file=sys.stderr,
        )
        return 1
    os.chdir(ROOT)
    os.execve(sys.executable, [sys.executable, "manage.py", *sys.argv[2:]], django_environment(data))


if __name__ == "__main__":
    sys.exit(main())
