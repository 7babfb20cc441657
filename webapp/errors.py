"""What goes wrong, as an answer: one form for all of it, with a sentence, a place and what to do."""

from __future__ import annotations

import codecs
import errno
import logging
import os
import time
from typing import Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation, TooManyFilesSent
from django.db import Error as DatabaseError
from django.db import ProgrammingError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError

from .database import is_trouble
from .schemas import ErrorAnswer, Fault

log = logging.getLogger("regroup.web")

# Django's log of a refused request needs it, and a process with too many open files can import nothing.
codecs.lookup("unicode_escape")

SAY_AGAIN_S = 60.0
_said: dict[str, float] = {}


class Problem(Exception):
    """Something that the person who asked can act on. Anything else is a bug and says only 'internal'."""

    def __init__(
        self,
        status: int,
        reason: str,
        what: str,
        *,
        where: str = "",
        what_to_do: str = "",
        faults: tuple[Fault, ...] = (),
    ) -> None:
        super().__init__(what)
        self.status, self.reason, self.what = status, reason, what
        self.where, self.what_to_do, self.faults = where, what_to_do, faults

    def answer(self) -> ErrorAnswer:
        return ErrorAnswer(
            what=self.what,
            where=self.where,
            what_to_do=self.what_to_do,
            reason=self.reason,
            faults=list(self.faults),
        )


def not_found(what: str, where: str = "path") -> Problem:
    return Problem(404, "not_found", what, where=where, what_to_do="Look at the list for what there is.")


def refuse_field(where: str, message: str, what_to_do: str = "") -> Problem:
    """One field of a request that makes no sense."""
    fault = Fault(where=where, message=message, what_to_do=what_to_do)
    return Problem(422, "invalid", message, where=where, what_to_do=what_to_do, faults=(fault,))


def _internal() -> Problem:
    return Problem(
        500,
        "internal",
        "Regroup failed to answer because of a fault of its own.",
        what_to_do="Look into the log of the web process for the traceback, and report it.",
    )


def _database_silent(error: Exception | None = None) -> Problem:
    why = f" ({str(error).strip().splitlines()[0]})" if error is not None and str(error).strip() else ""
    return Problem(
        503,
        "database_unavailable",
        f"The database does not answer{why}, so that nothing can be read or changed now. Training goes on.",
        what_to_do="Try again in a few seconds; if it stays so, look at the database and the disk it is on.",
    )


def not_authenticated() -> Problem:
    return Problem(
        401,
        "not_authenticated",
        "Nobody is logged in, and the request carries no valid token.",
        where="Authorization",
        what_to_do="Log in, or send the header Authorization: Bearer TOKEN.",
    )


def problem_of_status(status: int, method: str, path: str) -> Problem:
    """For answers that Django made without saying more than a status."""
    match status:
        case 400:
            return Problem(
                400,
                "bad_request",
                f"{method} {path} makes no sense, or the host name is not one that Regroup answers under.",
                where="Host",
                what_to_do="Add the host name to REGROUP_ALLOWED_HOSTS if it is meant to be Regroup's.",
            )
        case 404:
            return Problem(
                404, "not_found", f"There is no {path}.", where="path", what_to_do="See /api/docs."
            )
        case 405:
            return Problem(
                405,
                "method_not_allowed",
                f"{path} does not take {method}.",
                where="method",
                what_to_do="See /api/docs.",
            )
        case 500:
            return _internal()
        case 503:
            return _database_silent()
        case _:
            return Problem(
                status,
                "refused",
                f"{method} {path} was refused with status {status}.",
                what_to_do="See /api/docs.",
            )


def has_no_file_left() -> bool:
    """Whether this process, or the machine, has too many open files: SQLite for one does not tell."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


def _no_file_left() -> Problem:
    return Problem(
        503,
        "too_many_open_files",
        "The web process has too many open files, so that it cannot answer now. Training goes on.",
        what_to_do="Raise its limit (ulimit -n, LimitNOFILE=), or have fewer pages open.",
    )


def _say_once(what: str) -> None:
    """A trouble that meets every request is logged once a minute."""
    now = time.monotonic()
    if now - _said.get(what, -SAY_AGAIN_S) >= SAY_AGAIN_S:
        _said[what] = now
        log.error("%s", what)


def answer_for(error: Exception, request_line: str) -> Problem:
    """The problem that an exception amounts to. A bug is logged here, with its traceback."""
    match error:
        case Problem():
            return error
        case ValidationError():
            return _invalid(error)
        case AuthenticationError():
            return not_authenticated()
        case HttpError():
            return _refused(error)
        case TooManyFilesSent():
            return _too_many_files()
        case SuspiciousOperation() | MultiPartParserError():
            return _form_unreadable(error)
        case Http404():
            return not_found(str(error) or "There is nothing here.")
        case DatabaseError() | OSError() if has_no_file_left():
            _say_once("too many open files; raise the limit of this process")
            return _no_file_left()
        case DatabaseError() if is_trouble(error) and not isinstance(error, ProgrammingError):
            _say_once(f"database does not answer error={str(error)!r}")
            return _database_silent(error)
        case _:
            log.error("request failed request=%r", request_line, exc_info=error)
            return _internal()


def _too_many_files() -> Problem:
    most = settings.DATA_UPLOAD_MAX_NUMBER_FILES
    return refuse_field(
        "files", f"There are too many files: {most} are the most.", "Pack them as a zip, or leave some out."
    )


def _form_unreadable(error: Exception) -> Problem:
    return Problem(
        400,
        "unreadable",
        f"What was sent cannot be read: {error}",
        where="body",
        what_to_do="Send it whole, and smaller if it is large.",
    )


def _refused(error: HttpError) -> Problem:
    if error.status_code == 403:
        return Problem(
            403,
            "csrf_failed",
            "The request does not carry the page's own CSRF token.",
            where="X-CSRFToken",
            what_to_do="Reload the page, or use a bearer token.",
        )
    if isinstance(error.__cause__, Problem):
        # What the reader of the body has to say.
        return error.__cause__
    if error.status_code == 400:
        return Problem(
            400, "unreadable", "The body is not valid JSON.", where="body", what_to_do="Send one JSON object."
        )
    return Problem(error.status_code, "refused", error.message)


def _invalid(error: ValidationError) -> Problem:
    faults = tuple(Fault(where=_field(item["loc"]), message=_sentence(item)) for item in error.errors)
    first = faults[0] if faults else Fault(where="", message="The request makes no sense.")
    return Problem(422, "invalid", f"{first.where}: {first.message}", where=first.where, faults=faults)


def _field(loc: Any) -> str:
    """Pydantic's location without the places that only this program knows: ``body``, the parameter's name."""
    parts = [str(part) for part in loc]
    if parts[:1] == ["body"] and len(parts) > 2:
        return ".".join(parts[2:])
    return parts[0] if len(parts) == 1 else ".".join(parts[1:])


def _sentence(item: Any) -> str:
    text = str(item.get("msg", "makes no sense")).removeprefix("Value error, ")
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def install(api: NinjaAPI) -> None:
    """Make every error of that API an ``ErrorAnswer``."""

    def answer(request: HttpRequest, error: Any) -> HttpResponse:
        problem = answer_for(error, f"{request.method} {request.path}")
        return api.create_response(request, problem.answer(), status=problem.status)

    for kind in (Exception, Http404, HttpError, ValidationError):
        api.add_exception_handler(kind, answer)


ERRORS: dict[int, type[ErrorAnswer]] = dict.fromkeys((401, 403, 404, 409, 422, 500, 503), ErrorAnswer)
"""What every endpoint may answer besides what it promises; for the description of the API."""
