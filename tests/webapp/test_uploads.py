"""Code that comes with a job: taken, kept by its digest, named by jobs, and fetched with a ticket."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import stat
import zipfile
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import StreamingHttpResponse
from django.test import Client

from agents.cli.config import Door
from agents.cli.hub import Hub
from agents.cli.uploading import upload
from agents.uploads.archive import unpack
from agents.wire.code import TICKET
from agents.wire.masking import MASK
from tests.webapp.api_client import Api
from tests.webapp.factories import make_node
from tests.webapp.test_launch import start_of
from webapp.fleet.models import Command
from webapp.jobs.models import Job
from webapp.jobs.placing import place
from webapp.uploads import tickets
from webapp.uploads.tickets import make_ticket

SCRIPT = {"train.py": b"print('training')\n"}
HUB = "http://hub:8000"


@pytest.fixture(autouse=True)
def a_hub_that_nodes_reach(settings: Any, tmp_path: Path) -> None:
    settings.DATA, settings.HUB_URL = tmp_path, HUB


def send(who: Api, files: dict[str, bytes], **fields: str) -> tuple[int, Any]:
    """As a browser does it: the files of a form, whose names are without folders."""
    given = [SimpleUploadedFile(path.rpartition("/")[2], content) for path, content in files.items()]
    answer = who.client.post("/api/uploads", {"files": given, **fields}, headers=who.headers)
    return answer.status_code, answer.json()


def send_folder(who: Api, files: dict[str, bytes]) -> tuple[int, Any]:
    return send(who, files, paths=json.dumps(list(files)), name="project")


def kept(who: Api, files: dict[str, bytes] = SCRIPT) -> str:
    status, body = send_folder(who, files)
    assert status == 201, body
    return str(body["digest"])


def zipped(**files: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as out:
        for name, content in files.items():
            out.writestr(name.replace("__", "/"), content)
    return packed.getvalue()


def fetch(digest: str, path: str = "", **headers: str) -> tuple[int, bytes]:
    path = path or f"/api/uploads/{digest}/content"
    answer = Client(raise_request_exception=False).get(path, headers=headers)
    if not isinstance(answer, StreamingHttpResponse):
        return answer.status_code, answer.content

    async def read() -> bytes:
        return b"".join([piece async for piece in answer])

    return answer.status_code, asyncio.run(read())


def names_in(content: bytes) -> list[str]:
    return zipfile.ZipFile(io.BytesIO(content)).namelist()


def test_a_script_is_kept_by_the_digest_of_what_nodes_fetch(operator: Api, tmp_path: Path) -> None:
    status, body = send(operator, SCRIPT)
    assert (status, body["name"], body["files"], body["script"]) == (
        201,
        "train.py",
        ["train.py"],
        "train.py",
    )
    content = (tmp_path / "uploads" / f"{body['digest']}.zip").read_bytes()
    assert hashlib.sha256(content).hexdigest() == body["digest"]
    assert (names_in(content), len(content)) == (["train.py"], body["size_bytes"])
    files = list((tmp_path / "uploads").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert len(files) == 2, "nothing that was written aside is left"


def test_a_zip_is_unpacked_to_its_files(operator: Api) -> None:
    status, body = send(operator, {"project.zip": zipped(main__py=b"1", **{"lib__net.py": b"2"})})
    assert (status, body["name"], body["files"]) == (201, "project.zip", ["lib/net.py", "main/py"])


def test_a_folder_keeps_its_paths_and_leaves_out_what_is_no_code(operator: Api) -> None:
    folder = {"net/model.py": b"m", "train.py": b"t", ".git/config": b"g", "net/__pycache__/model.pyc": b"c"}
    status, body = send_folder(operator, folder)
    assert (status, body["files"], body["left_out"]) == (201, ["net/model.py", "train.py"], 2)
    assert (body["name"], body["script"]) == ("project", "train.py")


def test_the_same_files_have_the_same_digest_and_are_kept_once(operator: Api) -> None:
    first, again = kept(operator), kept(operator)
    assert first == again
    assert kept(operator, {"train.py": b"other"}) != first
    assert kept(operator, {"sub/train.py": SCRIPT["train.py"]}) != first
    items = operator.get("/api/uploads").body["items"]
    assert [item["file_count"] for item in items] == [1, 1, 1]
    assert {item["uploaded_by"] for item in items} == {"anna"}


REFUSED: dict[str, tuple[dict[str, bytes], dict[str, str], str]] = {
    "a zip that leads out": ({"a.zip": zipped(**{"..__out.py": b"x"})}, {}, "leads out"),
    "a zip that is none": ({"a.zip": b"print(1)"}, {}, "no zip"),
    "a folder that leads out": ({"out.py": b"x"}, {"paths": '["../out.py"]'}, "leads out"),
    "an absolute path": ({"out.py": b"x"}, {"paths": '["/srv/out.py"]'}, "absolute"),
    "nothing but what is no code": ({"x": b"x"}, {"paths": '[".git/x"]'}, "no file in it"),
    "paths that are no JSON": ({"x": b"x"}, {"paths": "["}, "no JSON"),
    "paths of something else": ({"x": b"x"}, {"paths": "{}"}, "no list"),
    "too few paths": ({"x": b"x", "y": b"y"}, {"paths": '["x"]'}, "has 1, and there are 2"),
    "no file": ({}, {}, "Field required"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_node_could_use_is_refused_in_words(case: str, operator: Api, tmp_path: Path) -> None:
    files, fields, said = REFUSED[case]
    status, body = send(operator, files, **fields)
    assert (status, body["reason"]) == (422, "invalid"), body
    assert said in body["what"]
    assert not list(tmp_path.glob("uploads/*"))


def test_more_than_may_be_is_refused(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webapp.uploads.receiving.MOST_BYTES", 10)
    status, body = send(operator, SCRIPT)
    assert (status, body["where"]) == (422, "files")


def test_more_files_than_may_be_are_refused(operator: Api, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_NUMBER_FILES = 2
    status, body = send_folder(operator, {f"{number}.py": b"x" for number in range(3)})
    assert (status, body["where"]) == (422, "files"), body
    assert "too many files" in body["what"]


def test_a_form_that_is_cut_off_is_refused_in_words(operator: Api) -> None:
    answer = operator.client.post(
        "/api/uploads",
        b"--x\r\nnonsense",
        content_type="multipart/form-data; boundary=",
        headers=operator.headers,
    )
    assert (answer.status_code, answer.json()["reason"]) == (400, "unreadable")


def test_a_viewer_looks_and_uploads_nothing(operator: Api, viewer: Api) -> None:
    digest = kept(operator)
    assert viewer.get(f"/api/uploads/{digest}").body["files"] == ["train.py"]
    assert send(viewer, SCRIPT)[1]["reason"] == "not_an_operator"


def test_only_a_ticket_for_that_upload_opens_it(operator: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    digest, other = kept(operator), kept(operator, {"other.py": b"o"})
    status, content = fetch(digest, **{TICKET: make_ticket(digest, "node-a")})
    assert (status, hashlib.sha256(content).hexdigest()) == (200, digest)
    assert fetch(other, **{TICKET: make_ticket(digest, "node-a")})[0] == 401
    assert fetch(digest, **{TICKET: f"{make_ticket(digest, 'node-a')}x"})[0] == 401
    assert fetch(digest)[0] == 401
    monkeypatch.setattr(tickets, "GOOD_FOR_S", -1)
    assert fetch(digest, **{TICKET: make_ticket(digest, "node-a")})[0] == 401


def test_a_ticket_opens_nothing_else(operator: Api) -> None:
    ticket = {TICKET: make_ticket(kept(operator), "node-a")}
    answers = [Client().get(path, headers=ticket).status_code for path in ("/api/uploads", "/api/jobs")]
    assert answers == [401, 401]


def test_a_job_with_uploaded_code_tells_each_node_where_to_fetch_it(operator: Api, tmp_path: Path) -> None:
    make_node("node-a")
    digest = kept(operator)
    answer = operator.post("/api/jobs", {"script": "train.py", "code": digest})
    assert (answer.status, answer.body["spec"]["code"]) == (201, digest)
    assert place(Job.objects.get().pk)
    message = start_of(Command.objects.get(kind="start_runner")).message
    assert message.code is not None
    assert (message.code.hub, message.code.digest, message.spec.script) == (HUB, digest, "train.py")
    status, content = fetch(digest, **{TICKET: message.code.ticket}, path=message.code.path)
    assert status == 200
    (tmp_path / "code.zip").write_bytes(content)
    unpack(tmp_path / "code.zip", tmp_path / "code")
    assert (tmp_path / "code" / "train.py").read_bytes() == SCRIPT["train.py"]


def test_the_ticket_is_not_shown(operator: Api) -> None:
    make_node("node-a")
    operator.post("/api/jobs", {"script": "train.py", "code": kept(operator)})
    job = Job.objects.get()
    place(job.pk)
    asked = operator.get(f"/api/jobs/{job.pk}/commands").body["items"][0]["asked"]
    assert asked["message"]["code"]["ticket"] == MASK


WRONG: dict[str, tuple[dict[str, str], str, str]] = {
    "an unknown digest": ({"code": "0" * 64, "script": "train.py"}, "code", "There is no upload"),
    "no digest": ({"code": "../x", "script": "train.py"}, "code", "64 digits"),
    "a script that is not in it": ({"script": "tain.py"}, "script", "has no file tain.py"),
    "a script elsewhere": ({"script": "/srv/train.py"}, "script", "looked for in the uploaded code"),
    "a script outside": ({"script": "../train.py"}, "script", "looked for in the uploaded code"),
    "a module with a workdir": ({"module": "train", "workdir": "/srv"}, "workdir", "Leave out workdir"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_job_whose_code_cannot_be_had_is_refused_at_once(case: str, operator: Api) -> None:
    spec, where, said = WRONG[case]
    answer = operator.post("/api/jobs", {"code": kept(operator), **spec})
    assert (answer.status, answer.body["where"]) == (422, where), answer.body
    assert said in answer.body["what"] + answer.body["what_to_do"]


def test_without_an_address_for_nodes_the_launch_is_refused(operator: Api, settings: Any) -> None:
    settings.HUB_URL = ""
    answer = operator.post("/api/jobs", {"script": "train.py", "code": kept(operator)})
    assert (answer.status, answer.body["where"]) == (422, "code")
    assert "REGROUP_HUB_URL" in answer.body["what_to_do"]


def test_an_upload_is_listed_for_who_sent_it_and_removed_once_no_job_can_need_it(
    operator: Api, viewer: Api, tmp_path: Path
) -> None:
    make_node("node-1")
    digest = kept(operator)
    form = {"code": digest, "script": "train.py"}
    job = operator.post("/api/jobs", form).body["id"]
    (item,) = operator.get("/api/uploads?mine=true").body["items"]
    assert (item["digest"], item["script"], item["used_by"]) == (digest, "train.py", [job])
    assert viewer.get("/api/uploads?mine=true").body["items"] == []

    refused = operator.ask("DELETE", f"/api/uploads/{digest}")
    assert (refused.status, refused.body["reason"]) == (409, "upload_in_use")
    assert f"job {job} may fetch it yet" in refused.body["what"]

    Job.objects.update(state="succeeded")
    removed = operator.client.delete(f"/api/uploads/{digest}", headers=operator.headers)
    assert removed.status_code == 204
    assert operator.get("/api/uploads?mine=true").body["items"] == []
    assert not (tmp_path / "uploads" / f"{digest}.zip").exists()
    again = operator.post("/api/jobs", form)
    assert again.status == 422
    assert f"The upload project ({digest[:12]}…) is gone: anna removed it at " in again.body["what"]
    assert "is gone: anna removed it" in operator.get(f"/api/uploads/{digest}").body["what"]
    assert operator.ask("DELETE", f"/api/uploads/{digest}").status == 404

    assert kept(operator) == digest
    assert operator.post("/api/jobs", form).status == 201


class ToTheHub(httpx.BaseTransport):
    """The same bytes as over a network."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        answer = Client().generic(
            request.method,
            request.url.path,
            request.read(),
            content_type=request.headers["Content-Type"],
            headers={"Authorization": request.headers["Authorization"]},
        )
        return httpx.Response(answer.status_code, content=answer.content)


def test_what_the_command_line_sends_is_taken_as_from_a_browser(operator: Api, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    (folder / "net").mkdir(parents=True)
    (folder / "net/model.py").write_text("m")
    (folder / "train.py").write_text("t")
    token = operator.headers["Authorization"].removeprefix("Bearer ")
    door = Door(url="http://testserver", token=token)
    said: list[str] = []
    with Hub(door, transport=ToTheHub()) as hub:
        code = upload(hub, folder, said.append)
    assert (code["name"], code["files"]) == ("project", ["net/model.py", "train.py"])
    assert code["digest"] == kept(operator, {"net/model.py": b"m", "train.py": b"t"})
    assert said == [f"{folder} is uploaded: 2 files, {code['digest'][:12]}"]
