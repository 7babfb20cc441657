"""Logging in, staying logged in, and what tokens are good for."""

from __future__ import annotations

from django.test import Client

from tests.webapp.api_client import Api
from webapp.accounts.models import Account, ApiToken
from webapp.accounts.tokens import make_token

PASSWORD = "correct horse battery"


def page() -> Api:
    """A browser: keeps cookies, and CSRF counts."""
    return Api(client=Client(enforce_csrf_checks=True, raise_request_exception=False))


def csrf(browser: Api) -> dict[str, str]:
    return {"X-CSRFToken": browser.client.cookies["regroup_csrf"].value}


def logged_in(name: str = "anna") -> Api:
    browser = page()
    browser.get("/api/session")
    answer = browser.ask("POST", "/api/session", {"username": name, "password": PASSWORD}, **csrf(browser))
    assert answer.status == 200
    return browser


def test_nobody_is_told_to_log_in_and_gets_the_csrf_cookie(db: None) -> None:
    browser = page()
    answer = browser.get("/api/session")
    assert (answer.status, answer.body["reason"]) == (401, "not_authenticated")
    assert browser.client.cookies["regroup_csrf"].value


def test_a_log_in_lasts_until_the_log_out(anna: Account) -> None:
    browser = logged_in()
    assert browser.get("/api/session").body == {"name": "anna", "role": "operator"}
    cookie = browser.client.cookies["regroup_session"]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert browser.ask("DELETE", "/api/session", **csrf(browser)).status == 204
    assert browser.get("/api/jobs").status == 401


def test_a_change_without_the_csrf_token_is_refused(anna: Account) -> None:
    browser = logged_in()
    answer = browser.post("/api/jobs", {"script": "/data/train.py"})
    assert (answer.status, answer.body["reason"]) == (403, "csrf_failed")
    assert browser.ask("POST", "/api/jobs", {"script": "/data/train.py"}, **csrf(browser)).status == 201


def test_another_sites_log_in_is_refused(anna: Account) -> None:
    answer = page().ask(
        "POST", "/api/session", {"username": "anna", "password": PASSWORD}, Origin="https://elsewhere.example"
    )
    assert (answer.status, answer.body["reason"]) == (403, "other_origin")


def test_a_wrong_password_says_so_and_five_of_them_make_one_wait(anna: Account) -> None:
    browser = page()
    wrong = {"username": "anna", "password": "wrong"}
    answers = [browser.post("/api/session", wrong) for _ in range(5)]
    assert {answer.body["reason"] for answer in answers} == {"wrong_password"}
    right = browser.post("/api/session", {"username": "anna", "password": PASSWORD})
    assert (right.status, right.body["reason"]) == (429, "too_many_failures")
    assert "within a minute" in right.body["what"]


def test_failures_of_one_account_do_not_lock_another(anna: Account, vera: Account) -> None:
    browser = page()
    for _ in range(5):
        browser.post("/api/session", {"username": "vera", "password": "wrong"})
    assert browser.post("/api/session", {"username": "anna", "password": PASSWORD}).status == 200


def test_a_new_password_ends_the_other_sessions(anna: Account) -> None:
    here, elsewhere = logged_in(), logged_in()
    change = {"current": PASSWORD, "new": "another long password"}
    assert here.ask("POST", "/api/session/password", change, **csrf(here)).status == 204
    assert here.get("/api/session").status == 200
    assert elsewhere.get("/api/session").status == 401


def test_a_weak_or_unconfirmed_password_is_refused_at_its_field(anna: Account) -> None:
    browser = logged_in()
    weak = browser.ask("POST", "/api/session/password", {"current": PASSWORD, "new": "1234"}, **csrf(browser))
    assert weak.status == 422
    assert {fault["where"] for fault in weak.body["faults"]} == {"new"}
    wrong = browser.ask(
        "POST", "/api/session/password", {"current": "x", "new": "long enough 99"}, **csrf(browser)
    )
    assert (wrong.status, wrong.body["where"]) == (422, "current")


def test_a_token_speaks_for_its_account_and_only_its_digest_is_kept(vera: Account) -> None:
    token = make_token(vera)
    assert Api(token).get("/api/session").body == {"name": "vera", "role": "viewer"}
    kept = ApiToken.objects.get(account=vera)
    assert token not in kept.digest
    assert kept.last_used_at is not None


def test_a_closed_account_and_a_made_up_token_are_nobody(vera: Account) -> None:
    token = make_token(vera)
    Account.objects.filter(pk=vera.pk).update(is_active=False)
    assert Api(token).get("/api/jobs").status == 401
    assert Api("rg_made_up").get("/api/jobs").status == 401
