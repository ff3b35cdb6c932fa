# SPDX-License-Identifier: Apache-2.0
"""When a network is made or removed, the browser aborts the requests of the page."""
import contextlib
import json

import pytest

from support.console import Relay, TOP, daemon_with_token, lines_said, networks_that_come_and_go, opened
from support.daemon import script
from support.marks import long
from support.verbs import verb
from support.vertex import Vertex, custom_job


@pytest.fixture
def breaking(browser):
    yield browser
    browser.mend()


# Fails with: a page without its first script; repeated() that asks once; create() that does not look for the job.
@pytest.mark.parametrize("lost,times", [("app.js", 4), long("plots.js", 1), long("style.css", 3), long("jobs.js", 1)])
def test_a_page_that_lost_a_file_is_loaded_again(breaking, yard, lost, times):
    breaking.break_off(lost, times)
    breaking.open(yard.base + TOP + "queue")
    breaking.until_says("This machine")
    breaking.until("document.querySelector('header.bar') !== null && getComputedStyle(document.querySelector('header.bar')).display === 'flex'")
    assert breaking.breaks[lost] == 0


def test_what_changes_nothing_is_asked_again(breaking, yard, new_daemon, tmp_path):
    opened(breaking, yard, "queue")
    breaking.until_says("This machine")
    breaking.break_off("GET " + yard.base + "/_trainyard/v1/", times=3)
    opened(breaking, yard, "faults")
    breaking.until_says("No fault is ordered")
    breaking.mend()
    daemon = daemon_with_token(new_daemon, tmp_path)
    breaking.break_off("POST ", times=2)
    breaking.open(f"{daemon.base}{TOP}#token={daemon.token}")
    breaking.until_says("No jobs yet")
    # Fails with: a ticket without its attempt.
    breaking.click("Sign out", "button")
    breaking.until_says("This daemon asks for a token")
    ticket = daemon.post("/_trainyard/console/ticket").json["ticket"]
    breaking.open("about:blank")
    breaking.break_off("POST ", stage="Response")
    breaking.open(f"{daemon.base}{TOP}queue#ticket={ticket}")
    breaking.until_says("No job waits")
    assert breaking.breaks == {"POST ": 0}


@pytest.mark.parametrize("stage", [long("Request"), "Response"])
def test_a_job_whose_answer_was_lost_is_made_once(breaking, yard, stage):
    job_id = yard.create(script("exit 0"))
    yard.until(job_id, "SUCCEEDED")
    opened(breaking, yard, f"jobs/{yard.project}/{job_id}")
    breaking.until("[...document.querySelectorAll('button')].some((each) => each.textContent === 'Run again')")
    before = {job["jobId"] for job in yard.get(f"/v1/projects/{yard.project}/jobs").json["jobs"]}
    breaking.break_off(f"POST {yard.base}/v1/projects/{yard.project}/jobs", stage=stage)
    breaking.click("Run again", "button")
    breaking.until(f"!location.href.endsWith({json.dumps(job_id)})")
    after = {job["jobId"] for job in yard.get(f"/v1/projects/{yard.project}/jobs").json["jobs"]}
    assert len(after - before) == 1 and list(breaking.breaks.values()) == [0]


# Fails with: a 404 after a lost answer that counts as a failure; a DELETE that is asked once.
@pytest.mark.parametrize("stage", [long("Request"), "Response"])
def test_a_job_whose_answer_was_lost_is_deleted(breaking, yard, stage):
    vertex = Vertex(yard)
    job_id = vertex.create({**custom_job("exit 0"), "displayName": "goes"})["name"].rpartition("/")[2]
    verb(yard, "wait", job_id)
    opened(breaking, yard, f"jobs/{yard.project}/{job_id}")
    breaking.click("Delete", "main button")
    breaking.break_off("DELETE ", stage=stage)
    breaking.click("Delete", "dialog button")
    breaking.until(f"location.pathname === {json.dumps(TOP)}")  # the page that follows after the job was deleted
    assert breaking.breaks == {"DELETE ": 0}
    assert yard.get(f"/_trainyard/v1/jobs/{job_id}", project=yard.project).status == 404


def test_pages_stand_networks_that_come_and_go(browser, yard, engine):
    job_id = yard.create(script("i=0; until [ -e /released ]; do echo line $i; i=$((i+1)); sleep 0.05; done; echo last"))
    with networks_that_come_and_go(engine):
        for path, words in (("", job_id), ("queue", "This machine"), ("faults", "No fault is ordered"), (f"jobs/{yard.project}/{job_id}", "Replicas")):
            opened(browser, yard, path)
            browser.until_says(words)
        opened(browser, yard, f"jobs/{yard.project}/{job_id}/log")
        browser.until_says("line 20", ".lines")
        yard.release(job_id)
        browser.until_says("last", ".lines")
        yard.until(job_id, "SUCCEEDED")
    said = lines_said(browser)
    assert said == [f"line {i}" for i in range(len(said))] and len(said) > 20


# Fails with: follow() that does not look again; a log that is asked for again without its cursor.
def test_a_log_that_broke_off_goes_on_where_it_was(browser, yard):
    job_id = yard.create(script("i=0; until [ -e /released ]; do echo line $i; i=$((i+1)); sleep 0.05; done; echo last"))
    with contextlib.closing(Relay(int(yard.base.rpartition(":")[2]))) as relay:
        browser.open(f"http://127.0.0.1:{relay.port}{TOP}jobs/{yard.project}/{job_id}/log")
        for line in (5, 25, 45):
            browser.until_says(f"line {line}", ".lines")
            relay.break_off()
        yard.release(job_id)
        browser.until_says("last", ".lines")
        said = lines_said(browser)
        browser.open("about:blank")
        browser.events = []  # the aborted requests are among the events
    assert said == [f"line {i}" for i in range(len(said))] and len(said) > 45
    assert yard.until(job_id, "SUCCEEDED")
