"""``python -m webapp.stack``: run Regroup on this machine until Ctrl-C."""

from __future__ import annotations

import os
import sys

from .checks import only_one, prepare_data
from .local_stack import run_stack
from .options import CannotStart, read_options


def main() -> int:
    try:
        options = read_options(sys.argv[1:], os.environ.get("REGROUP_REDIS_URL"))
        prepare_data(options)
        with only_one(options):
            return run_stack(options)
    except CannotStart as problem:
        print(problem, file=sys.stderr)  # noqa: T201 - this is the output of the command
        return 1


if __name__ == "__main__":
    sys.exit(main())
