"""The node agent with a made-up list of GPUs, as UUIDs in the file that ``MADE_UP_GPUS`` names."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from agents.node.cli import main
from agents.node.probes import gpus
from agents.wire.events import Gpu


def find_gpus() -> tuple[tuple[Gpu, ...], str]:
    uuids = Path(os.environ["MADE_UP_GPUS"]).read_text().split()
    found = [
        Gpu(index=index, name="made up", memory_bytes=1 << 30, uuid=uuid) for index, uuid in enumerate(uuids)
    ]
    return tuple(found), "none"


gpus.find_gpus = find_gpus
sys.exit(main())
