"""``regroup run --upload``: code of this machine goes first, and the job runs from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.cli import uploading
from agents.cli.main import main
from tests.cli.hub_server import HubServer

DIGEST = "0f" * 32


@pytest.fixture
def project(hub: HubServer, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = home / "project"
    for path in ("train.py", "net/model.py", ".git/config", "net/__pycache__/model.pyc"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    monkeypatch.chdir(home)
    told = {"digest": DIGEST, "files": ["net/model.py", "train.py"], "file_count": 2, "left_out": 0}
    hub.answers["POST /api/uploads"] = (201, told)
    hub.answers["POST /api/jobs"] = (201, hub.job)
    return folder


def reads(hub: HubServer, **spec: Any) -> None:
    hub.answers["POST /api/torchrun/parse"] = (200, {"spec": spec, "problems": [], "stripped": []})


def sent(hub: HubServer, path: str) -> Any:
    return [body for method, asked, body in hub.asked if (method, asked) == ("POST", path)][-1]


@pytest.mark.parametrize("script", ["project/train.py", "train.py", "./train.py"])
def test_a_folder_goes_with_its_paths_and_the_script_is_found_in_it(
    hub: HubServer, project: Path, script: str, capsys: pytest.CaptureFixture[str]
) -> None:
    reads(hub, script=script, nnodes="2")
    assert main(["run", "--detach", "--upload", "project", "--nnodes=2", script]) == 0
    form = sent(hub, "/api/uploads")
    fields = {name: content for name, _, content in form if name != "files"}
    assert (fields["name"], json.loads(fields["paths"])) == (b"project", ["train.py", "net/model.py"])
    assert [(at, content) for name, at, content in form if name == "files"] == [
        ("train.py", b"train.py"),
        ("model.py", b"net/model.py"),
    ]
    job = sent(hub, "/api/jobs")
    assert (job["code"], job["script"], job["workdir"]) == (DIGEST, "train.py", None)
    assert "project is uploaded: 2 files, 0f0f0f0f0f0f" in capsys.readouterr().err


def test_what_was_uploaded_before_is_named_by_its_digest(hub: HubServer, project: Path) -> None:
    reads(hub, script="train.py")
    assert main(["run", "--detach", "--set", f"code={DIGEST}", "train.py"]) == 0
    job = sent(hub, "/api/jobs")
    assert (job["code"], job["script"], job["workdir"]) == (DIGEST, "train.py", None)


def test_a_script_that_is_not_in_the_upload_is_named_with_what_is(
    hub: HubServer, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reads(hub, script="eval.py")
    assert main(["run", "--upload", "project", "eval.py"]) == 2
    assert "eval.py is not in project, which was uploaded. It has: net/model.py" in capsys.readouterr().err


def test_what_cannot_be_sent_is_refused_before_anything_is(
    hub: HubServer, project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reads(hub, script="train.py")

    def refused() -> str:
        assert main(["run", "--upload", "project", "train.py"]) == 2
        return capsys.readouterr().err

    (project / "data").symlink_to("/usr", target_is_directory=True)
    assert "project/data is a link to a folder" in refused()
    (project / "data").unlink()
    monkeypatch.setattr(uploading, "MOST_FILES", 1)
    assert "project has 2 files with 0 MiB, and 1 with 64 MiB are the most" in refused()
    assert main(["run", "--upload", "nowhere", "train.py"]) == 2
    assert "--upload nowhere: there is no such file or folder here" in capsys.readouterr().err
    assert not [path for _, path, _ in hub.asked if path == "/api/uploads"]


def test_uploads_are_listed_with_digests_and_the_jobs_that_use_them(
    hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    item = {
        "digest": DIGEST,
        "name": "project",
        "size_bytes": 1 << 20,
        "file_count": 2,
        "uploaded_by": "anna",
    }
    item |= {
        "uploaded_by": "anna",
        "uploaded_at": "2026-01-02T03:04:05Z",
        "script": "train.py",
        "used_by": [7],
    }
    hub.answers["GET /api/uploads"] = (200, {"items": [item]})
    assert main(["uploads"]) == 0
    told = capsys.readouterr().out
    assert all(word in told for word in (DIGEST, "project", "1.00", "anna", "2026-01-02 03:04", "job 7"))
