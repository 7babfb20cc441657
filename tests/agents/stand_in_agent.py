"""The node agent's console script, with the stand-in for its runner."""

from __future__ import annotations

import dataclasses
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agents.node.cli import run_daemon
from agents.node.config import read_config

config = read_config(sys.argv[1:], os.environ)
stand_in = Path(__file__).with_name("stand_in_runner.py")
sys.exit(run_daemon(dataclasses.replace(config, runner_boot=stand_in)))
