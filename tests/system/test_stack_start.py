"""What keeps the stack from starting is one clear sentence; nothing is left running."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.system.stack import ROOT, Stack


def refuse(*arguments: str) -> str:
    """Start a stack that must refuse; gives what it says."""
    command = [sys.executable, "-m", "webapp.stack", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr


def test_a_taken_port_is_named_with_the_way_out(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        said = refuse("--port", str(port), "--data", str(tmp_path / "data"))
    assert f"Port {port}" in said
    assert "make run PORT=" in said


def test_a_data_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = refuse("--data", str(tmp_path / "file" / "data"))
    assert str(tmp_path / "file" / "data") in said
    assert "make run DATA=" in said


@pytest.mark.parametrize(("option", "value"), [("port", "http"), ("nodes", "-1"), ("slots", "0")])
def test_a_number_that_makes_no_sense_is_named(tmp_path: Path, option: str, value: str) -> None:
    said = refuse("--data", str(tmp_path / "data"), f"--{option}={value}")
    assert option.upper() in said
    assert repr(value) in said


def test_a_second_stack_on_the_same_data_names_the_first(stack: Stack) -> None:
    assert stack.process is not None
    said = refuse("--data", str(stack.data), "--port", "0")
    assert "PORT is '0'" in said
    said = refuse("--data", str(stack.data))
    assert str(stack.process.pid) in said


def test_the_token_command_prints_the_token_alone(stack: Stack) -> None:
    command = ["make", "token", "NAME=tina", "ROLE=viewer", f"DATA={stack.data}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=True)
    assert len(done.stdout.split()) == 1
    assert done.stderr == ""


def test_a_token_for_a_folder_without_a_database_says_what_to_do(tmp_path: Path) -> None:
    command = ["make", "token", "NAME=tina", f"DATA={tmp_path}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert done.stdout == ""
    assert str(tmp_path) in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.10"])
def test_a_too_old_python_is_told_so(version: str) -> None:
    """Run by this Python under a false version: the file must say so before it does anything."""
    code = (
        f"import sys; sys.version_info = {tuple(map(int, version.split('.')))}\n"
        "exec(compile(open('tools/bootstrap.py').read(), 'bootstrap.py', 'exec'))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"is Python {version}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
