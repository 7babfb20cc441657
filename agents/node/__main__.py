"""``python -m regroup_agent.node``: the same as the console script."""

from __future__ import annotations

import sys

from .cli import main

sys.exit(main())
