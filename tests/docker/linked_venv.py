"""A Python environment that shows the packages some requirements bring, out of those that the tests run with.

What it lacks is what an installation from the same file would lack. Nothing is fetched, unpacked or compiled,
which for the hub's packages takes a minute of a core.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def make_linked_venv(folder: Path, requirements: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    for found in closure(read(requirements)).values():
        for name in top_names(found):
            (packages / name).symlink_to(Path(str(found.locate_file(name))))
        for script in found.entry_points.select(group="console_scripts"):
            write_script(folder / "bin", script.name, script.module, script.attr)
    return folder


def read(requirements: Path) -> list[Requirement]:
    lines = (line.partition("#")[0].strip() for line in requirements.read_text().splitlines())
    return [Requirement(line) for line in lines if line]


def closure(wanted: list[Requirement]) -> dict[str, Distribution]:
    """By name: what is asked for, in a version that fits, and what that asks for in turn."""
    found: dict[str, Distribution] = {}
    seen: set[str] = set()
    while wanted:
        one = wanted.pop()
        if str(one) in seen:
            continue
        seen.add(str(one))
        package = found[canonicalize_name(one.name)] = distribution(one.name)
        assert one.specifier.contains(package.version, prereleases=True), f"{one}: {package.version} is here"
        wanted += needs_of(package, one.extras)
    return found


def needs_of(package: Distribution, extras: set[str]) -> Iterator[Requirement]:
    for need in map(Requirement, package.requires or ()):
        if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield need


def top_names(package: Distribution) -> set[str]:
    """The files and folders it has in ``site-packages``."""
    return {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}


def write_script(folder: Path, name: str, module: str, function: str) -> None:
    path = folder / name
    path.write_text(
        f"#!{folder / 'python'}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n"
    )
    path.chmod(0o755)
