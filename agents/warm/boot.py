"""The file a warm process is started with: ``PYTHON boot.py --socket-fd N``. Boots as a runner does."""

from __future__ import annotations

import importlib.util
from pathlib import Path

if __name__ == "__main__":
    spec = importlib.util.spec_from_file_location("boot", Path(__file__).parents[1] / "runner" / "boot.py")
    assert spec is not None
    assert spec.loader is not None
    boot = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(boot)
    boot.run(__file__, "warm.server")
