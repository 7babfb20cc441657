"""All that the API answers about a job, as somebody who looks for something in it would ask."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import httpx

from tests.system.jobs import job


def questions(api: httpx.Client, job_id: int, env: Mapping[str, str]) -> list[str]:
    """Every address that can be asked about the job, by the description of the API.

    ``env``: what a check of nodes takes along, whose answer is among them.
    """
    paths = [
        path for path, methods in api.get("/api/openapi.json").json()["paths"].items() if "get" in methods
    ]
    commands = [command["id"] for command in api.get(f"/api/jobs/{job_id}/commands").json()["items"]]
    about_commands = [f"/api/commands/{each}" for each in commands]
    node = job(api, job_id)["members"][0]["node"]
    # What else they need to be asked at all.
    needs = {"/api/jobs/{id}/timeline/ranks": f"?node={node}"}
    found = [
        path.format(id=job_id, name=node, attempt=1, number=2, round=1) + needs.get(path, "")
        for path in paths
        # Uploads are no job's own: they hold what somebody has sent, and nothing of an environment.
        if path not in ("/api/commands/{id}", "/api/checks/{id}") and "{digest}" not in path
    ]
    spec = {"script": "/nowhere.py", "env": dict(env), "secret_env": [*env]}
    checked = api.post("/api/jobs/checks", json=spec).json()["id"]
    return [
        *found,
        *about_commands,
        f"/api/checks/{checked}",
        f"/api/jobs/{job_id}/logs?stream=stderr",
        "/api/jobs?q=count",
    ]


def text_of(answer: httpx.Response) -> str:
    """All that it says; what is packed is unpacked."""
    if answer.headers["content-type"] != "application/zip":
        return answer.text
    packed = zipfile.ZipFile(io.BytesIO(answer.content))
    assert packed.namelist()
    return "\n".join(
        [*packed.namelist(), *(packed.read(name).decode(errors="replace") for name in packed.namelist())]
    )
