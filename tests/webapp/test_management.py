"""The commands for people at a terminal."""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tests.webapp.api_client import Api
from webapp.accounts.models import Account


def output_of(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_make_token_prints_a_working_token_and_nothing_else(db: None) -> None:
    token = output_of("make_token", "robot", "--role", "operator")
    assert re.fullmatch(r"rg_[\w-]{43}\n", token)
    assert Api(token.strip()).get("/api/session").body == {"name": "robot", "role": "operator"}
    assert not Account.objects.get(username="robot").has_usable_password()


def test_make_token_changes_no_role_by_the_way(vera: Account) -> None:
    with pytest.raises(CommandError, match="vera is a viewer already"):
        output_of("make_token", "vera", "--role", "operator")
    assert output_of("make_token", "vera").startswith("rg_")


def test_make_user_prints_the_password_it_made_up(db: None) -> None:
    password = output_of("make_user", "otto", "--role", "operator").strip()
    answer = Api().post("/api/session", {"username": "otto", "password": password})
    assert (answer.status, answer.body["role"]) == (200, "operator")


def failed(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        output_of(*arguments)
    return str(refused.value)


def test_make_user_says_beside_the_password_what_was_made(db: None) -> None:
    said = StringIO()
    call_command("make_user", "vic", stdout=StringIO(), stderr=said)
    assert said.getvalue() == "The account vic is made. It is a viewer: it may look.\n"


def test_make_user_again_makes_a_new_password_ends_sessions_and_keeps_the_role(anna: Account) -> None:
    browser = Client()
    browser.force_login(anna)
    password = output_of("make_user", "anna").strip()
    assert browser.get("/api/session").status_code == 401
    answer = Api().post("/api/session", {"username": "anna", "password": password})
    assert (answer.status, answer.body["role"]) == (200, "operator")


@pytest.mark.parametrize("role", ["viewer", "operator"])
def test_make_user_changes_the_role_when_one_is_given(anna: Account, role: str) -> None:
    output_of("make_user", "anna", "--role", role)
    anna.refresh_from_db()
    assert anna.role == role


def test_make_user_opens_a_closed_account_again(vera: Account) -> None:
    Account.objects.filter(pk=vera.pk).update(is_active=False)
    password = output_of("make_user", "vera").strip()
    assert Client().login(username="vera", password=password)


def test_make_user_lets_one_in_who_had_guessed_too_often(vera: Account) -> None:
    for _ in range(5):
        Api().post("/api/session", {"username": "vera", "password": "wrong"})
    password = output_of("make_user", "vera").strip()
    assert Api().post("/api/session", {"username": "vera", "password": password}).status == 200


def test_make_user_refuses_nonsense_in_one_sentence_and_makes_nothing(db: None) -> None:
    assert "A name is needed" in failed("make_user", " ")
    assert "There is no role 'admin'. Write viewer" in failed("make_user", "otto", "--role", "admin")
    assert "'ot to' cannot be a name" in failed("make_user", "ot to")
    assert "at most 150" in failed("make_user", "o" * 151)
    assert not Account.objects.exists()


def test_make_user_takes_a_password_from_a_file_and_keeps_the_role(anna: Account, tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from a file\n")
    assert output_of("make_user", "anna", "--password-file", str(file)) == ""
    assert Client().login(username="anna", password="from a file")
    anna.refresh_from_db()
    assert anna.role == "operator"


def test_an_empty_name_and_an_unreadable_file_get_one_sentence(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="A name is needed"):
        output_of("make_token", " ")
    with pytest.raises(CommandError, match="cannot be read"):
        output_of("make_user", "otto", "--password-file", str(tmp_path / "none"))


def test_the_committed_description_of_the_api_is_fresh(tmp_path: Path) -> None:
    fresh = tmp_path / "openapi.json"
    call_command("export_openapi", "--output", str(fresh))
    committed = Path(__file__).resolve().parents[2] / "webapp" / "openapi.json"
    assert fresh.read_text() == committed.read_text(), "write it anew: make api"
