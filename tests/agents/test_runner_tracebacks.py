"""The exception that ended a worker is found in its stderr, whatever stands around it."""

from __future__ import annotations

import pytest

from agents.runner.tracebacks import from_error_file, last_exception, last_line

FRAMES = """  File "/home/anna/train.py", line 12, in <module>
    main()
  File "/opt/venv/lib/python3.11/site-packages/torch/nn/module.py", line 1500, in __call__
    return forward_call()
           ^^^^^^^^^^^^^^
"""
PLAIN = f"warming up\nTraceback (most recent call last):\n{FRAMES}ValueError: bad learning rate -3\n"
PREFIXED = "".join(f"[rank3]: {line}\n" for line in PLAIN.splitlines()[1:])
CHAINED = (
    "Traceback (most recent call last):\n"
    '  File "/home/anna/load.py", line 3, in load\n    open(p)\nFileNotFoundError: no file\n\n'
    "During handling of the above exception, another exception occurred:\n\n" + PLAIN
)
SYNTAX = '  File "/home/anna/train.py", line 12\n    def (\n        ^\nSyntaxError: invalid syntax\n'
SHUTDOWN_NOISE = PLAIN + "[W1129 18:09:44 socket.cpp:469] [c10d] waitForInput: timed out\n"


@pytest.mark.parametrize(
    "text", [PLAIN, PREFIXED, CHAINED, SHUTDOWN_NOISE], ids=["plain", "prefixed", "chained", "noise"]
)
def test_the_last_traceback_names_exception_and_the_users_own_line(text: str) -> None:
    error = last_exception(text)
    assert error is not None
    assert (error.type, error.message) == ("ValueError", "bad learning rate -3")
    assert (error.file, error.line, error.read_from) == ("/home/anna/train.py", 12, "stderr")
    assert error.traceback.startswith("Traceback")


def test_a_syntax_error_of_the_script_itself_has_no_header() -> None:
    error = last_exception(SYNTAX)
    assert error is not None
    assert (error.type, error.message, error.line) == ("SyntaxError", "invalid syntax", 12)


def test_an_exception_without_a_message_is_its_type_alone() -> None:
    error = last_exception(PLAIN.replace("ValueError: bad learning rate -3", "KeyboardInterrupt"))
    assert error is not None
    assert (error.type, error.message) == ("KeyboardInterrupt", "")


def test_the_lines_after_the_exception_are_kept_for_the_reader() -> None:
    error = last_exception(PLAIN + "Exception raised from recv (most recent call first):\nncclRemoteError\n")
    assert error is not None
    assert "ncclRemoteError" in error.traceback


@pytest.mark.parametrize("text", ["", "step 1\nstep 2\n", "Traceback (most recent call last):\n"])
def test_no_traceback_is_no_exception(text: str) -> None:
    assert last_exception(text) is None


def test_an_error_file_gives_the_exception_and_its_place() -> None:
    callstack = PLAIN.removeprefix("warming up\n")
    values = {
        "message": {"message": "ValueError: bad learning rate -3", "extraInfo": {"py_callstack": callstack}}
    }
    error = from_error_file(values)
    assert error is not None
    assert (error.type, error.line, error.read_from) == ("ValueError", 12, "error file")


@pytest.mark.parametrize("values", [None, [], {}, {"message": "text"}, {"message": {"message": 3}}])
def test_an_error_file_of_another_shape_gives_nothing(values: object) -> None:
    assert from_error_file(values) is None


def test_the_last_line_is_the_last_that_says_something() -> None:
    assert last_line("first\nlast words \n\n  \n") == "last words"
    assert last_line("") == ""
