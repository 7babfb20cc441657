"""What can be said of the job's interpreter without importing torch. Standard library only."""

from __future__ import annotations

import contextlib
import importlib.metadata
import sys


def torch_version() -> str:
    """The installed version, without the second that importing torch takes; '' when there is none."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version("torch")
    return ""


def say_no_torch(error: Exception) -> str:
    return (
        f"torch cannot be used by the interpreter {sys.executable}: {type(error).__name__}: {error}. "
        "Install torch 2.13 or later for it, or give the job another interpreter (python)."
    )
