"""What is uploaded is unpacked whole or not at all, and never writes outside of its folder."""

from __future__ import annotations

import os
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.uploads import archive
from agents.uploads.archive import read_entries, unpack
from agents.uploads.names import UnsafeUpload

FILE, LINK, PIPE, DEVICE = stat.S_IFREG, stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR


def make_zip(path: Path, *files: tuple[str, bytes], kind: int = FILE, mode: int = 0o644) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files:
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 3, (kind | mode) << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(info, content)
    return path


def tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def why_not(path: Path, tmp_path: Path) -> str:
    """The refusal; nothing at all is left where it would have been unpacked."""
    home = tmp_path / "home"
    home.mkdir()
    with pytest.raises(UnsafeUpload) as refusal:
        unpack(path, home / "code")
    assert list(home.iterdir()) == []
    return str(refusal.value)


def test_a_script_alone_is_unpacked(tmp_path: Path) -> None:
    unpack(make_zip(tmp_path / "a.zip", ("train.py", b"print(1)")), tmp_path / "code")
    assert tree(tmp_path / "code") == {"train.py": "print(1)"}


def test_folders_are_kept_and_only_the_user_can_read_them(tmp_path: Path) -> None:
    code = tmp_path / "code"
    unpack(make_zip(tmp_path / "a.zip", ("a/b/model.py", b"m"), ("train.py", b"t")), code)
    assert tree(code) == {"a/b/model.py": "m", "train.py": "t"}
    assert [stat.S_IMODE(path.stat().st_mode) for path in (code, code / "train.py")] == [0o700, 0o600]


def test_what_could_be_executed_can_be_and_nothing_is_setuid(tmp_path: Path) -> None:
    code = tmp_path / "code"
    unpack(make_zip(tmp_path / "a.zip", ("run.sh", b"#!/bin/sh"), mode=0o4755), code)
    assert stat.S_IMODE((code / "run.sh").stat().st_mode) == 0o700


BAD_NAMES = {
    "../out.py": "leads out of the folder",
    "a/../../out.py": "leads out of the folder",
    "/etc/cron.d/out": "absolute path",
    "C:/out.py": "absolute path",
    "a\\..\\out.py": "backslash",
    "a//b.py": "empty part",
    "./train.py": "dot alone",
    "a/\n.py": "character",
    "x" * 300: "too long",
    "/".join(["folder"] * 200): "too long",
}


@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_could_lead_elsewhere_is_refused(name: str, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", ("train.py", b"t"), (name, b"x"))
    assert BAD_NAMES[name] in why_not(path, tmp_path)


@pytest.mark.parametrize("name", ["../", "/srv/", "a/../../b/"])
def test_so_is_a_folder_of_such_a_name(name: str, tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", ("train.py", b"t"), (name, b""), kind=stat.S_IFDIR)
    assert why_not(path, tmp_path)


@pytest.mark.parametrize(("kind", "said"), [(LINK, "a link"), (PIPE, "neither"), (DEVICE, "neither")])
def test_links_pipes_and_devices_are_refused(kind: int, said: str, tmp_path: Path) -> None:
    assert said in why_not(make_zip(tmp_path / "a.zip", ("train.py", b"/etc/passwd"), kind=kind), tmp_path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [("a.py", "a.py", "twice"), ("a", "a/b.py", "a folder with 'a/b.py'")],
)
def test_names_that_meet_are_refused(first: str, second: str, said: str, tmp_path: Path) -> None:
    assert said in why_not(make_zip(tmp_path / "a.zip", (first, b"1"), (second, b"2")), tmp_path)


def test_what_unpacks_to_hundreds_of_times_its_size_is_refused(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", ("zeros.py", bytes(40 << 20)))
    assert "times its size" in why_not(path, tmp_path)


LIMITS: dict[str, tuple[str, int, str]] = {
    "many files": ("MOST_FILES", 2, "has 3 files"),
    "a large file": ("MOST_FILE_BYTES", 99, "larger than"),
    "much in all": ("MOST_UNPACKED_BYTES", 250, "unpacks to"),
    "a large zip": ("MOST_BYTES", 50, "are the most"),
    "a long list": ("MOST_DIRECTORY_BYTES", 20, "too many files"),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_holds(limit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, most, said = LIMITS[limit]
    monkeypatch.setattr(archive, name, most)
    path = make_zip(tmp_path / "a.zip", *((f"{number}.py", os.urandom(100)) for number in range(3)))
    assert said in why_not(path, tmp_path)


def lying_about_its_size(path: Path) -> None:
    """The list says 10 bytes, and the file goes on."""
    make_zip(path, ("train.py", b"x" * 5000))
    content, small = path.read_bytes(), (10).to_bytes(4, "little")
    path.write_bytes(content.replace((5000).to_bytes(4, "little"), small))


def cut_off(path: Path) -> None:
    path.write_bytes(make_zip(path, ("train.py", b"x" * 5000)).read_bytes()[:-30])


def spoilt(path: Path) -> None:
    content = bytearray(make_zip(path, ("train.py", os.urandom(5000))).read_bytes())
    content[2000] ^= 0xFF
    path.write_bytes(content)


def no_zip(path: Path) -> None:
    path.write_bytes(b"print('training')\n")


def empty(path: Path) -> None:
    make_zip(path)


def encrypted(path: Path) -> None:
    content = bytearray(make_zip(path, ("train.py", b"x")).read_bytes())
    content[content.rfind(b"PK\1\2") + 8] |= 1
    path.write_bytes(content)


@pytest.mark.parametrize("make", [lying_about_its_size, cut_off, spoilt, no_zip, empty, encrypted])
def test_what_is_not_whole_is_refused_in_words(make: Callable[[Path], None], tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    make(path)
    assert why_not(path, tmp_path).endswith((".", "password."))


def test_what_a_killed_agent_left_half_unpacked_is_not_used(tmp_path: Path) -> None:
    half = tmp_path / ".code.unpacking"
    half.mkdir()
    (half / "old.py").write_text("half")
    unpack(make_zip(tmp_path / "a.zip", ("train.py", b"t")), tmp_path / "code")
    assert tree(tmp_path / "code") == {"train.py": "t"}
    assert not half.exists()


def test_the_list_of_files_can_be_read_without_unpacking(tmp_path: Path) -> None:
    entries = read_entries(make_zip(tmp_path / "a.zip", ("b.py", b"12"), ("a.py", b"1"), mode=0o755))
    assert [(entry.path, entry.size, entry.is_executable) for entry in entries] == [
        ("b.py", 2, True),
        ("a.py", 1, True),
    ]
