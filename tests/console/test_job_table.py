# SPDX-License-Identifier: Apache-2.0
"""The page of all jobs, and the dialog that submits one."""
import json

from support.console import FAINT, HOSTILE, NAMELESS, opened, pictures
from support.daemon import distributed, script
from support.engine import IMAGE
from support.tuning import tuning_input
from support.verbs import verb
from support.vertex import Vertex, custom_job


def test_without_jobs_it_says_how_to_begin(browser, new_daemon):
    daemon = new_daemon("--offline").start()
    opened(browser, daemon)
    browser.until_says("No jobs yet")
    # Fails with: copyButton() of another text than the one beside it.
    browser.value("(() => { window.copied = []; navigator.clipboard.writeText = async (text) => { copied.push(text); }; "
                  "document.querySelectorAll('.command button').forEach((each) => each.click()); })()")
    commands = browser.value("copied")
    assert [command.split()[:3] for command in commands] == [["trainyard", "run", "my-image:1"], ["eval", '"$(trainyard', 'env)"'], ["gcloud", "ai", "custom-jobs"]]
    assert browser.value("[...document.querySelectorAll('pre')].map((each) => each.textContent)") == commands
    pictures(browser, "empty")
    # Fails with: draw() that asks to choose one of none.
    opened(browser, daemon, "metrics")
    browser.click("How to run one", "a")
    browser.until_says("trainyard run")


def test_jobs_are_found_sorted_and_opened(browser, narrow_yard):
    vertex = Vertex(narrow_yard)
    runs = narrow_yard.create(script("echo up; while :; do sleep 0.1; done"))
    narrow_yard.until(runs, "RUNNING")
    for i in range(120):
        vertex.create({**custom_job("exit 0"), "displayName": f"waits-{i:03}"})
    opened(browser, narrow_yard)
    browser.until_says("121 jobs", "[role=status].soft")
    # Fails with: #draw() that draws all rows.
    assert browser.value("document.querySelectorAll('.trow').length") < 40
    assert browser.texts(".trow .cell:nth-child(2) a")[0] == "waits-119"
    # Fails with: #leaveOut() that leaves out nothing: the column of GPUs was empty.
    assert browser.value("[...document.querySelectorAll('.thead > div')].filter((each) => each.checkVisibility()).map((each) => each.textContent)")[-2:] == ["Replicas", ""]
    browser.click("Job", "button")
    browser.until(f"document.querySelector('.trow[aria-rowindex=\"2\"] a').textContent === {json.dumps(runs)}")
    browser.type("/")
    browser.type("waits-007")
    browser.until("document.querySelector('[role=status].soft').innerText === '1 of 121 jobs'")
    assert "?q=waits-007" in browser.value("location.href")
    pictures(browser, "jobs")
    browser.press("Escape")
    browser.type("j\n")
    browser.until("document.querySelector('h1')?.textContent === 'waits-007'")
    # A screen reader announces the page. Fails with: title() that names the tab alone.
    assert browser.value("document.activeElement.getAttribute('aria-label')") == "waits-007"
    browser.until_says("What it waits for")
    browser.until_says("before it")
    browser.click("Cancel", "button")
    browser.until("document.querySelector('.state.CANCELLED') !== null")
    browser.value("history.back()")
    browser.until("document.querySelector('input[type=search]')?.value === 'waits-007'")
    browser.until("document.querySelector('.trow .state.CANCELLED') !== null")
    browser.click("Cancelled 1", "button")
    browser.until_says("1 of 121 jobs", "[role=status].soft")
    vertex.cancel_all()
    narrow_yard.cancel(runs)
    narrow_yard.until(runs, "CANCELLED")


def test_three_questions_are_answered_from_the_first_page(browser, narrow_yard):
    """Why a distributed job failed, which trial is best, why a job waits. Fails with: reason() without its last line; a search
    without its winner."""
    failed = narrow_yard.create(distributed("while :; do sleep 0.1; done", "sleep 0.5; printf 'Traceback:\\nValueError: bad shape\\n' >&2; exit 3", workers=2))
    narrow_yard.until(failed, "FAILED")
    search = narrow_yard.new_id("search")
    narrow_yard.post(narrow_yard.jobs_path, {"jobId": search, "trainingInput": tuning_input(maxTrials=2)})
    verb(narrow_yard, "wait", search)
    runs = narrow_yard.create(script("while :; do sleep 0.1; done"))
    narrow_yard.until(runs, "RUNNING")
    waits = narrow_yard.create(script("exit 0"))

    def row(job):
        return f"[...document.querySelectorAll('.trow')].find((row) => row.querySelector('a').textContent === {json.dumps(job)})"
    opened(browser, narrow_yard)
    browser.until(f"{row(failed)}?.querySelector('.soft .under')?.textContent.includes('bad shape')")
    assert "non-zero status of 3" in browser.value(f"{row(failed)}.textContent")
    browser.until(f"{row(waits)}?.querySelector('.soft').textContent.length > 10")
    browser.value(f"{row(failed)}.querySelector('a').click()")
    browser.until_says("bad shape", ".why")
    browser.value("history.back()")
    browser.until(f"{row(search)} !== undefined")
    browser.value(f"{row(search)}.querySelector('a').click()")
    browser.until_says("Trial", ".winner")
    best = narrow_yard.get(f"/_trainyard{narrow_yard.jobs_path}/{search}/study").json["best"]
    assert browser.texts(".winner a") == [f"Trial {best['trialId']}"]
    browser.value("history.back()")
    browser.until(f"{row(waits)} !== undefined")
    browser.value(f"{row(waits)}.querySelector('a').click()")
    browser.until_says("What it waits for", ".why")
    for job in (waits, runs):
        narrow_yard.cancel(job)
        narrow_yard.until(job, "CANCELLED")


def test_keys_are_told_and_lead_where_they_say(browser, yard):
    """Fails with: keys that are taken while something is typed."""
    yard.until(yard.create(script("exit 0")), "SUCCEEDED")
    opened(browser, yard, "queue")
    browser.until_says("This machine")
    browser.type("?")
    browser.until_says("submit a job", "dialog")
    assert browser.value(NAMELESS) == []
    browser.value("document.querySelector('dialog').click()")
    browser.until("document.querySelector('dialog') === null")
    browser.type("g")
    browser.until("document.querySelectorAll('.trow').length > 0")
    browser.type("jjk")
    assert browser.value("document.querySelector('.trow.at').getAttribute('aria-rowindex')") == "2"
    browser.type("/")
    browser.type("gn?")
    assert browser.value("document.activeElement.value") == "gn?" and browser.value("document.querySelector('dialog')") is None


def test_a_job_is_planned_submitted_and_run_again_with_changes(browser, yard):
    """Fails with: sentBody() that gives the whole job: what the service added came back as the client's."""
    def write(text):
        browser.value("(() => { const source = document.querySelector('dialog textarea'); source.value = %s; source.dispatchEvent(new Event('input')); })()" % json.dumps(text))

    def name(text):
        browser.value("(() => { const input = document.querySelector('dialog input[aria-label=Name]'); input.value = %s; input.dispatchEvent(new Event('input')); })()" % json.dumps(text))

    yard.until(yard.create(script("exit 0")), "SUCCEEDED")  # the dialog suggests the project of this job
    opened(browser, yard)
    browser.until("document.querySelector('.trow') !== null")
    browser.type("n")
    browser.until_says("Here you will see", ".told")
    write("a: 1\n b: 2")
    browser.until_says("The text: line 2: ", ".told .bad")
    assert browser.value("document.querySelector('dialog button.main').disabled")
    write("workerPoolSpecs:\n- machineSpec: {machineType: n1-standard-4}\n  replicaCount: 1\n  containerSpec:\n    imageUri: " + IMAGE +
          "\n    command: [sh, -c, 'echo from the page; exit 3']\n")
    browser.until_says(IMAGE, ".told table")
    browser.until_says("n1-standard-4 has 4", ".told ul")
    assert browser.value("document.querySelector('dialog input[aria-label=Project]').value") == yard.project
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    name(HOSTILE)
    browser.until("!document.querySelector('dialog button.main').disabled")
    pictures(browser, "submit")
    browser.click("Run", "button")
    browser.until_says("exited with a non-zero status of 3", ".why")
    assert browser.texts("h1") == [HOSTILE] and browser.value("document.querySelectorAll('main img, main script').length") == 0
    assert browser.value("document.querySelector('dialog')") is None
    # What was submitted is shown as text, without members that the service added.
    browser.click("Change and run", "button")
    browser.until("document.querySelector('dialog textarea') !== null")
    sent = json.loads(browser.value("document.querySelector('dialog textarea').value"))
    assert set(sent) == {"displayName", "jobSpec"} and sent["displayName"].startswith(HOSTILE[:20])
    sent["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["command"][-1] = "echo changed; while :; do sleep 0.1; done"
    write(json.dumps(sent))
    name("changed")
    browser.until_says("echo changed", ".told")
    browser.click("Run", "button")
    browser.until_says("changed", "h1")
    browser.until("document.querySelector('.state.RUNNING') !== null")
    opened(browser, yard)
    browser.until("document.querySelector('button[aria-label=\"Cancel changed\"]') !== null")
    browser.value("document.querySelector('button[aria-label=\"Cancel changed\"]').click()")
    browser.click("Cancel the job", "dialog button")
    browser.until("[...document.querySelectorAll('.trow')].find((row) => row.textContent.includes('changed')).querySelector('.state.CANCELLED') !== null")
