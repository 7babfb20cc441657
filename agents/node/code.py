"""A job's uploaded code on its node: fetched, unpacked into the bundle, and named by its paths here."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from ..bundle import Bundle, bundle_of
from ..uploads.archive import unpack
from ..uploads.names import UnsafeUpload
from ..wire.spec import JobSpec, StartMessage
from .code_cache import fetch, forget_copies
from .config import Config
from .outcome import Failed, Refused

UNDERWAY_S = 3600.0
"""What is younger may be of a start that goes on."""
WITHIN_S = 60.0
"""What fetching may take. The hub does not send so much that a link needs longer."""


@contextmanager
def code_in_place(message: StartMessage, config: Config) -> Iterator[StartMessage]:
    """The message as the runner needs it. Where no start comes of it, nothing is left of the code.

    Raises:
        Refused, Failed: it cannot be had, or may not be unpacked.
    """
    if message.spec.code is None:
        yield message
        return
    bundle = bundle_of(Bundle, config.data, message.attempt, message.incarnation)
    try:
        _put(message, bundle, config)
        yield settled(message, bundle.code)
    except BaseException:
        # With its start message it is a bundle, which is removed like all of them.
        if not (bundle.folder / "start.json").exists():
            shutil.rmtree(bundle.folder, ignore_errors=True)
        raise


def _put(message: StartMessage, bundle: Bundle, config: Config) -> None:
    if bundle.code.is_dir():
        return
    if message.code is None or message.code.digest != message.spec.code:
        raise Refused(
            f"The hub did not tell {config.name} where the job's code is. Bring both to the same release."
        )
    archive = fetch(message.code, config.data, config.name, config.hub_url, WITHIN_S)
    bundle.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        unpack(archive, bundle.code)
    except UnsafeUpload as error:
        raise Refused(
            f"{config.name} does not unpack the job's code. {error} Mend it, and upload it again."
        ) from error
    except OSError as error:
        raise Failed(
            f"{config.name} could not unpack the job's code in {bundle.folder}: {error.strerror}. "
            "Make room on that disk, or let the user of the node agent write there."
        ) from error


def settled(message: StartMessage, folder: Path) -> StartMessage:
    """With whole paths in the spec, and without the ticket: nothing that is kept needs it."""
    spec = message.spec
    return replace(
        message,
        code=message.code and replace(message.code, ticket=""),
        spec=replace(spec, script=_script(spec, folder), workdir=spec.workdir or str(folder)),
    )


def forget_code(data: Path, older_than_s: float) -> None:
    """Copies that were not used for so long, and what was unpacked for starts that never came to be."""
    forget_copies(data, max(older_than_s, UNDERWAY_S))
    for folder in (data / Bundle.HOME).glob("*"):
        with suppress(OSError):
            is_old = time.time() - folder.stat().st_mtime >= UNDERWAY_S
            if is_old and not (folder / "start.json").exists() and any(folder.glob("*code*")):
                shutil.rmtree(folder, ignore_errors=True)


def _script(spec: JobSpec, folder: Path) -> str | None:
    return str(folder / spec.script) if spec.script else None
