"""``python -m regroup_agent.cli`` is ``regroup``."""

from __future__ import annotations

import sys

from .main import main

sys.exit(main())
