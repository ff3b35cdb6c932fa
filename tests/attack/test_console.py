# SPDX-License-Identifier: Apache-2.0
"""The console's session, which a browser uses in place of the token. Fails with: session_fits() that returns true."""
import re

import pytest

from support.attack import EVIL, job_body, untouched

from .conftest import TOKEN
from .test_token import ask

CONSOLE = "/_trainyard/console/"
SESSION, API = CONSOLE + "session", CONSOLE + "api"


def session(locked):
    """The headers of a page with a session."""
    answer = locked.post(SESSION)
    assert answer.status == 200, answer
    return {"Cookie": answer.headers["Set-Cookie"].partition(";")[0], "X-Trainyard-Session": answer.json["proof"]}


def test_a_session_is_for_the_console_alone(locked):
    headers = session(locked)
    path = f"{API}{locked.jobs_path}"
    assert ask(locked, "GET", path, headers=headers).status == 200
    assert "engine" in ask(locked, "GET", f"{API}/healthz", headers=headers).json
    for name in headers:
        assert ask(locked, "GET", path, headers={name: headers[name]}).status == 401
    # A cookie is sent to all ports of a host, but only to paths below its own.
    for outside in (locked.jobs_path, f"{CONSOLE}../..{locked.jobs_path}", f"/_trainyard/console/%61pi{locked.jobs_path}"):
        answer = ask(locked, "GET", outside, headers=headers)
        assert answer.status in (400, 401) or b"<!doctype html>" in answer.data, (outside, answer)


@pytest.mark.parametrize("site", [{"Origin": EVIL}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                                  {"Origin": "http://localhost:3000"}], ids=str)
def test_a_session_is_of_no_use_to_another_site(locked, site):
    headers = {**session(locked), **site, "Content-Type": "application/json"}
    with untouched(locked):
        for method, path in (("POST", API + locked.jobs_path), ("POST", SESSION), ("DELETE", SESSION), ("POST", CONSOLE + "ticket")):
            assert ask(locked, method, path, job_body("csrf") if "jobs" in path else None, headers).status == 403, path
    assert ask(locked, "GET", API + locked.jobs_path, headers=session(locked)).status == 200


def test_a_session_ends(locked):
    headers = session(locked)
    assert ask(locked, "DELETE", SESSION, headers=headers).headers["Set-Cookie"].startswith(headers["Cookie"].partition("=")[0] + "=; ")
    assert ask(locked, "GET", API + locked.jobs_path, headers=headers).status == 401
    assert ask(locked, "DELETE", SESSION).status == 200


def test_tickets_and_tokens_that_are_none_begin_no_session(locked):
    ticket = {"X-Trainyard-Ticket": locked.post(CONSOLE + "ticket").json["ticket"]}
    assert ask(locked, "POST", SESSION, headers=ticket).status == 200
    for headers in ({}, ticket, {"X-Trainyard-Ticket": TOKEN}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Bearer {ticket['X-Trainyard-Ticket']}"}):
        assert ask(locked, "POST", SESSION, headers=headers).status == 401, headers
    assert ask(locked, "POST", CONSOLE + "ticket", headers=session(locked)).status == 401


# Answers are recorded for `requests` and the log, but without the secrets.
def test_secrets_of_a_session_are_not_written_down(locked):
    headers = session(locked)
    ticket = locked.post(CONSOLE + "ticket").json["ticket"]
    ask(locked, "POST", SESSION, headers={"X-Trainyard-Ticket": ticket})
    ask(locked, "GET", API + locked.jobs_path, headers=headers)
    told = locked.get("/_trainyard/v1/requests").data.decode()
    assert SESSION in told
    for secret in (headers["Cookie"].partition("=")[2], headers["X-Trainyard-Session"], ticket):
        assert re.fullmatch("[0-9a-f]{64}", secret) and secret not in told + locked.log()
