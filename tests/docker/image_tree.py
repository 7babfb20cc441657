"""An image's files without a builder: the COPY lines of a Dockerfile carried out on a folder."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.docker.files import ROOT, Stage, is_sent


def lay_out(stage: Stage, folder: Path) -> Path:
    """What the stage copies to relative places, and nothing that is not sent to the builder.

    The page is taken as it was built here, where the image has it from an earlier stage.
    """
    for copy in stage.all("COPY"):
        *sources, target = copy.words
        if target.startswith("/"):
            continue
        for name in ["frontend/dist"] if "from" in copy.options else sources:
            _copy(name, folder / target / ("" if (ROOT / name).is_dir() else Path(name).name))
    return folder


def _copy(name: str, target: Path) -> None:
    source = ROOT / name
    for file in sorted(source.rglob("*")) if source.is_dir() else [source]:
        inside = str(file.relative_to(ROOT))
        if file.is_file() and (is_sent(inside) or name == "frontend/dist"):
            into = target / file.relative_to(source) if source.is_dir() else target
            into.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, into)
