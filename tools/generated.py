"""The files that are made from code: the API's description and the frontend's types.

Without arguments writes them anew; with ``--check`` says which of them is out of date.
"""

from __future__ import annotations

import filecmp
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OPENAPI = ROOT / "webapp" / "openapi.json"
SCHEMA = ROOT / "frontend" / "src" / "api" / "schema.ts"
TYPES_TOOL = ROOT / "frontend" / "node_modules" / ".bin" / "openapi-typescript"


def generate(openapi: Path, schema: Path) -> None:
    """Write both files. Raises ``CalledProcessError`` when a tool fails."""
    export = [sys.executable, "manage.py", "export_openapi", "--output", str(openapi)]
    subprocess.run(export, cwd=ROOT, check=True)
    types = [str(TYPES_TOOL), str(openapi), "-o", str(schema)]
    subprocess.run(types, cwd=ROOT / "frontend", check=True, stdout=subprocess.DEVNULL)


def find_stale() -> list[Path]:
    """Those that the code would make differently today."""
    with tempfile.TemporaryDirectory() as folder:
        openapi, schema = Path(folder) / "openapi.json", Path(folder) / "schema.ts"
        generate(openapi, schema)
        fresh = {OPENAPI: openapi, SCHEMA: schema}
        return [file for file, made in fresh.items() if not _is_same(file, made)]


def _is_same(file: Path, made: Path) -> bool:
    return file.exists() and filecmp.cmp(file, made, shallow=False)


def main() -> int:
    if "--check" not in sys.argv[1:]:
        generate(OPENAPI, SCHEMA)
        return 0
    stale = find_stale()
    for file in stale:
        print(f"{file.relative_to(ROOT)} is not what the code makes today. Write it anew: make api")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
