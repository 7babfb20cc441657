"""The node agent's console script, with the stand-ins for its runners and store keepers."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agents.node.cli import run_daemon
from agents.node.config import read_config

config = read_config(sys.argv[1:], os.environ)
runner, keeper = (Path(__file__).with_name(f"stand_in_{name}.py") for name in ("runner", "keeper"))
sys.exit(run_daemon(dataclasses.replace(config, runner_boot=runner, keeper_boot=keeper)))
