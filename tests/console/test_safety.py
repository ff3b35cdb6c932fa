# SPDX-License-Identifier: Apache-2.0
"""Texts that a job, a client or another site can put on the page, in a real browser: they remain text."""
import json
from urllib.parse import quote, urlencode

from support.console import HOSTILE, TOP, asked, hide, lines_said, opened
from support.daemon import script
from support.engine import IMAGE
from support.event_files import event, simple, version
from support.storage import Storage
from support.verbs import verb
from support.vertex import Vertex, custom_job
from support.wait import wait_until


# For names of parameters, which become flags: without spaces and "=".
WORD = "<b>bold</b><script>hit()</script>"


def is_harmless(browser, words):
    """All of `words` is readable, and none of it became an element, a title or a script."""
    browser.until(f"document.body.innerText.includes({json.dumps(words)}) || [...document.querySelectorAll('title, option')].some((each) => each.textContent.includes({json.dumps(words)}))")
    made = browser.value("[...document.querySelectorAll('main img, main b, main script, body > script, iframe, object, [onerror], [onload]')].map((each) => each.outerHTML)")
    assert made == []
    assert browser.value("document.title") != "hit"
    assert browser.value("document.documentElement.scrollWidth <= innerWidth"), f"{words} makes the page wider than the window"


# Fails with: el() that sets innerHTML, with a policy without trusted types; its children as insertAdjacentHTML().
def test_texts_of_jobs_stay_texts(browser, yard):
    body = custom_job(f"echo \"{HOSTILE}\"; printf '\\033]0;hit\\007\\033]8;;javascript:hit()\\007link\\033]8;;\\007\\n'; "
                      f"printf '%s' '{{\"severity\": \"{WORD}\", \"message\": \"{WORD}\"}}'; echo; echo \"{HOSTILE}\" >&2; exit 3")
    body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"] = [{"name": "HOSTILE", "value": HOSTILE}]
    job_id = Vertex(yard).create({**body, "displayName": HOSTILE})["name"].rpartition("/")[2]
    verb(yard, "wait", job_id, code=1)
    refused = yard.post(f"/v1/projects/{yard.project}/locations/us-central1/customJobs", {**body, "displayName": "x", "labels": {HOSTILE: HOSTILE}})
    assert refused.status == 400  # a label cannot have such a value
    for path in ("", f"jobs/{yard.project}/{job_id}", f"jobs/{yard.project}/{job_id}/log", "?q=" + HOSTILE.replace("<", "%3C").replace(">", "%3E")):
        opened(browser, yard, path)
        is_harmless(browser, HOSTILE[:20])
    opened(browser, yard, f"jobs/{yard.project}/{job_id}/log")
    browser.until_says("link", ".lines")
    assert browser.value("document.querySelectorAll('.lines a').length") == 0


def test_texts_of_a_search_stay_texts(browser, yard):
    report = ("printf '{\"global_step\": \"1\", \"timestamp\": 1, \"%s\": \"0.5\", \"trial\": \"1\"}\\n' '" + WORD + "' >> $CLOUD_ML_HP_METRIC_FILE")
    job_id = yard.new_id("hostile")
    yard.post(yard.jobs_path, {"jobId": job_id, "trainingInput": {
        "region": "us-central1", "masterConfig": {"imageUri": IMAGE}, "scaleTier": "CUSTOM", "masterType": "n1-standard-4",
        "args": ["sh", "-c", report, "trainer"], "hyperparameters": {
            "goal": "MAXIMIZE", "hyperparameterMetricTag": WORD, "maxTrials": 2, "maxParallelTrials": 2,
            "params": [{"parameterName": WORD, "type": "CATEGORICAL", "categoricalValues": [HOSTILE, WORD]},
                       {"parameterName": "x", "type": "INTEGER", "minValue": 1, "maxValue": 9}]}}})
    yard.until(job_id, "SUCCEEDED")
    opened(browser, yard, f"jobs/{yard.project}/{job_id}")
    browser.until("document.querySelectorAll('circle.dot').length > 0")
    is_harmless(browser, WORD)
    is_harmless(browser, HOSTILE[:20])


def test_names_of_objects_and_clients_stay_texts(browser, yard):
    yard.until(yard.create(script("exit 0")), "SUCCEEDED")
    for name in (f"{HOSTILE}/{HOSTILE}.svg", "a.svg", "javascript:hit().html"):
        answer = yard.request("POST", "/upload/storage/v1/b/hostile-names/o", f"<svg xmlns='http://www.w3.org/2000/svg' onload='hit()'>{HOSTILE}</svg>".encode(),
                              {"Content-Type": "image/svg+xml"}, uploadType="media", name=name)
        assert answer.status == 200, answer
    opened(browser, yard, "storage?bucket=hostile-names")
    is_harmless(browser, HOSTILE[:20])
    browser.click("a.svg", ".cell")
    browser.until_says("<svg", "pre")  # shown as text: as an image it would be safe, but its links could not be seen
    is_harmless(browser, HOSTILE[:20])
    assert yard.request("GET", f"/v1/projects/{yard.project}/jobs/nosuch", headers={"User-Agent": HOSTILE, "X-Goog-Api-Client": HOSTILE}).status == 404
    assert yard.request("GET", "/v1/" + HOSTILE.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20")).status == 404
    browser.look(2560, 1300)
    opened(browser, yard, "requests")
    browser.until(f"[...document.querySelectorAll('.cell')].some((each) => each.textContent === {json.dumps(HOSTILE)})")
    is_harmless(browser, HOSTILE[:20])
    browser.look(1280, 800)


# Fails with: any text of the pages that becomes markup; an option, a chip or a tab that is not one text.
def test_a_hostile_name_is_text_on_every_page(browser, narrow_yard):
    vertex = Vertex(narrow_yard)
    body = custom_job(f"echo '{WORD}'; until [ -e /released ]; do sleep 0.05; done", name=HOSTILE)
    body["jobSpec"]["baseOutputDirectory"] = {"outputUriPrefix": "gs://hostile-metrics/out"}
    runs = vertex.create(body)["name"]
    vertex.until(runs, "JOB_STATE_RUNNING")
    vertex.create({**custom_job("exit 0"), "displayName": HOSTILE})
    written = version(1_700_000_000.0) + b"".join(event(1_700_000_000.0 + i, i, simple(HOSTILE, float(i))) for i in range(3))
    assert Storage(narrow_yard, "hostile-metrics").put(f"out/logs/{WORD}/events.out.tfevents.1", written).status == 200
    assert narrow_yard.post("/_trainyard/v1/faults", {"fault": "exit", "job": HOSTILE, "exitCode": 3, "count": 1, "role": "evaluator"}).status == 200
    key = f"{narrow_yard.project}/{runs.rpartition('/')[2]}"
    for path, words in (("", HOSTILE), (f"jobs/{key}", HOSTILE), (f"jobs/{key}/log", WORD), (f"metrics?jobs={key}", WORD), ("metrics", HOSTILE), ("queue", HOSTILE),
                        ("storage?bucket=hostile-metrics&prefix=" + quote("out/logs/"), WORD.partition("/")[0]), ("storage?bucket=hostile-metrics&prefix=" + quote(f"out/logs/{WORD}/"), "events.out"),
                        ("faults", HOSTILE), (quote(HOSTILE), "no such page"), ("jobs/p/" + quote(HOSTILE, safe=""), "onerror"), ("storage?" + urlencode({"bucket": "b", "prefix": HOSTILE}), HOSTILE[:20])):
        opened(browser, narrow_yard, path)
        is_harmless(browser, words[:20])
    # In the job's terminal, and in the dialog that changes it.
    opened(browser, narrow_yard, f"jobs/{key}")
    browser.until("document.querySelector('button[aria-label^=Shell]') !== null")
    browser.value("document.querySelector('button[aria-label^=Shell]').click()")
    browser.until("document.querySelector('.terminal').innerText.includes('#')")
    browser.type(f"printf '\\033]0;hit\\007'; echo '{WORD}' | tr b b\n")
    browser.until(f"document.querySelector('.terminal').innerText.split({json.dumps(WORD)}).length === 3")
    is_harmless(browser, WORD)
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="F6", code="F6", modifiers=2)
    browser.click("Change and run", "button")
    browser.until("document.querySelector('dialog textarea')?.value.includes('onerror')")
    is_harmless(browser, HOSTILE[:20])
    assert [rule["id"] for rule in narrow_yard.get("/_trainyard/v1/faults").json["faults"] if narrow_yard.request("DELETE", f"/_trainyard/v1/faults/{rule['id']}").status == 200]
    vertex.cancel_all()
    vertex.until(runs, "JOB_STATE_CANCELLED")


# Fails with: decodeURI() before decodeURIComponent().
def test_an_address_is_decoded_once(browser, yard):
    opened(browser, yard, "jobs/some-project/a%252Fb%2541")
    browser.until_says('"a%2Fb%41"')
    browser.value("(() => { history.pushState(null, '', '%sjobs/p/%%zz'); dispatchEvent(new PopStateEvent('popstate')); })()" % TOP)
    browser.until_says("There is no such page")
    browser.value("history.back()")
    browser.until_says('"a%2Fb%41"')


# Fails with: a policy with 'unsafe-inline', with 'unsafe-eval', without frame-ancestors, without trusted types.
def test_the_policy_holds(browser, yard):
    opened(browser, yard, "queue")
    tried = browser.value("""(async () => {
        const inline = document.createElement("script"), refused = (what) => { try { what(); return false; } catch (problem) { return problem.name; } };
        inline.append("document.title = 'hit'");
        const appended = refused(() => document.body.append(inline));
        const image = new Image();
        const loaded = await new Promise((resolve) => { image.onload = () => resolve(true); image.onerror = () => resolve(false); image.src = "http://127.0.0.2:1/x.png"; });
        return {eval: refused(() => eval("1")), markup: refused(() => { document.body.innerHTML = "<p>"; }), appended, title: document.title, loaded,
            fetched: await fetch("http://127.0.0.2:1/").then(() => true, () => false)};
    })()""")
    assert tried == {"eval": "EvalError", "markup": "TypeError", "appended": tried["appended"], "title": "Queue · trainyard", "loaded": False, "fetched": False}
    # A page of the same origin without a policy of its own.
    browser.open(yard.base + "/discovery/v1/apis")
    browser.until("document.readyState === 'complete'")
    framed = browser.value("""new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = () => { try { resolve(frame.contentDocument.title); } catch (problem) { resolve(problem.name); } };
        frame.src = "%s";
        document.body.append(frame);
    })""" % TOP)
    assert framed in (None, "TypeError", "SecurityError", ""), framed
    browser.open("about:blank")
    browser.events = []  # all of these were to be refused


# Fails with: follow() that does not end the reading; every() that does not look at document.hidden; a log that is asked for without
# skip, or without cursor.
def test_a_tab_in_the_background_asks_nothing_and_misses_nothing(browser, new_daemon):
    daemon = new_daemon().start()
    job = daemon.create(script("i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done; until [ -e /released ]; do sleep 0.05; done; "
                               "while [ $i -lt 340 ]; do echo line $i; i=$((i+1)); sleep 0.1; done"))
    opened(browser, daemon, f"jobs/{daemon.project}/{job}/log")
    browser.until_says("line 299", ".lines")
    hide(browser, True)
    wait_until(lambda: any(":log" in url for url in asked(browser)[1]), 20, "the request for the log ends")
    browser.value("new Promise((resolve) => setTimeout(resolve))")
    before = len(asked(browser)[0])
    daemon.release(job)
    daemon.until(job, "SUCCEEDED")
    assert len(asked(browser)[0]) == before, asked(browser)[0][before:]
    assert "line 300" not in browser.value("document.querySelector('.lines').innerText")
    hide(browser, False)
    browser.until_says("line 339", ".lines")
    assert lines_said(browser) == [f"line {i}" for i in range(340)]
