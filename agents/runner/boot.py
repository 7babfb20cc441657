"""The file a runner is started with: ``PYTHON boot.py BUNDLE``.

It loads our package under its own name without touching ``sys.path``, so that nothing of
ours can shadow a module of the job.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import NoReturn

PACKAGE = "regroup_agent"


def load_package(script: str) -> None:
    """Import the folder above this one as ``regroup_agent``. ``script``: the file that Python was given."""
    sys.path[:] = [entry for entry in sys.path if entry != str(Path(script).parent)]
    folder = Path(__file__).resolve().parent.parent
    spec = importlib.util.spec_from_file_location(
        PACKAGE, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"the runner's package cannot be loaded from {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = module
    spec.loader.exec_module(module)


def run(script: str, module: str) -> NoReturn:
    """Give the process to ``main`` of that module of ours, and end with what it gives."""
    load_package(script)
    code = importlib.import_module(f"{PACKAGE}.{module}").main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    # The last record is written: a thread or a destructor of a library must not hold the process now.
    os._exit(code)


if __name__ == "__main__":
    run(__file__, "runner.launch")
