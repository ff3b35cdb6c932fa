# SPDX-License-Identifier: Apache-2.0
"""The page of one job."""
import base64
import json
import re
import subprocess

from support.console import FAINT, HOSTILE, NAMELESS, PICTURES, opened, pictures
from support.daemon import UNTIL_RELEASED, distributed, script
from support.verbs import verb
from support.vertex import Vertex, custom_job


def assert_times_are_told(browser, lasted_ms, state_count):
    """Each time above the bars, told from the beginning, is where the job's own bars say."""
    bars = browser.value("[...document.querySelectorAll('rect.span')].slice(0, %d).map((each) => [each.x.baseVal.value, each.width.baseVal.value])" % state_count)
    left, right = bars[0][0], sum(bars[-1])
    times = browser.value("[...document.querySelectorAll('.plot.zooms text[text-anchor=middle]')].map((each) => [each.textContent, each.x.baseVal[0].value])")
    seconds = [(sum(float(part[:-1]) * {"s": 1, "m": 60}[part[-1]] for part in word[1:].split()), x) for word, x in times]
    assert seconds and all(abs(x - (left + 1000 * each / lasted_ms * (right - left))) <= 1.5 for each, x in seconds), (times, lasted_ms, bars)


def test_a_job_that_is_deleted_is_not_shown_as_if_it_were_there(browser, yard):
    """Fails with: a page that ignores the 404: it showed the job for ever."""
    vertex = Vertex(yard)
    name = vertex.create(custom_job("exit 0"))["name"]
    vertex.until(name, "JOB_STATE_SUCCEEDED")
    opened(browser, yard, f"jobs/{yard.project}/{name.split('/')[-1]}")
    browser.until("document.querySelector('.state.SUCCEEDED') !== null")
    assert "was deleted" not in browser.texts("main")[0]
    assert yard.request("DELETE", "/v1/" + name).status == 200
    browser.until_says("This job was deleted.", "[role=alert]")


def test_a_failed_job_is_understood(browser, yard):
    """The page names the replica that failed, why, and the line in its log."""
    cluster = distributed("echo master; while :; do sleep 0.1; done", "echo one; sleep 0.5; echo 'ValueError: bad shape' >&2; exit 3", workers=2)
    failed = yard.create(cluster)
    yard.until(failed, "FAILED")
    opened(browser, yard, f"jobs/{yard.project}/{failed}")
    browser.until_says("exited with a non-zero status of 3", ".why")
    browser.until_says("(to blame)")
    # Fails with: wasStopped() that says no: the master, which waited, looked as if it had failed.
    browser.until_says("stopped with the job", ".replica[data-replica=master-replica-0]")
    assert browser.value("document.querySelectorAll('rect.span.CANCELLED').length") >= 1 and "FAILED" in browser.value("[...document.querySelectorAll('circle.mark')].map((each) => each.classList[1])")
    browser.until_says("docker run")
    # Each bar agrees with the timeline of the API, to the pixel.
    told = yard.get(f"/_trainyard/v1/jobs/{failed}:timeline", project=yard.project).json
    job = yard.get(f"/_trainyard/v1/jobs/{failed}", project=yard.project).json
    bars = browser.value("[...document.querySelectorAll('rect.span')].map((each) => [each.classList[1], each.x.baseVal.value, each.width.baseVal.value])")
    states = [event for event in told["events"] if event["kind"] == "STATE"]
    assert [what for what, _, _ in bars[:len(states) - 1]] == [event["state"] for event in states[:-1]]
    begun, ended = (browser.value(f"Date.parse({json.dumps(job[name])})") for name in ("createTime", "endTime"))
    left, right = bars[0][1], bars[len(states) - 2][1] + bars[len(states) - 2][2]
    for (_, at, width), event, following in zip(bars, states, states[1:]):
        begins, ends = (browser.value(f"Date.parse({json.dumps(each['time'])})") for each in (event, following))
        scale = (right - left) / (ended - begun)
        ends = min(ends, ended)
        assert abs(at - (left + (begins - begun) * scale)) <= 1.5 and abs(width - max(2, (ends - begins) * scale)) <= 2.5
    # So are those of the replicas, the marks where they ended, and the times above.
    def at(event):
        return left + (browser.value(f"Date.parse({json.dumps(event['time'])})") - begun) * scale
    running = next(event for event in states if event["state"] == "RUNNING")
    for i, replica in enumerate(told["replicas"], 1):
        end = next(event for event in told["events"] if event["kind"] == "REPLICA_ENDED" and event["replica"] == replica["replica"])
        [[x, width]] = browser.value("[...document.querySelectorAll('rect.span')].filter((each) => each.y.baseVal.value === %d).map((each) => [each.x.baseVal.value, each.width.baseVal.value])" % (24 + i * 24 + 2))
        [mark] = browser.value("[...document.querySelectorAll('circle.mark')].filter((each) => each.cy.baseVal.value === %d).map((each) => each.cx.baseVal.value)" % (24 + i * 24 + 8))
        assert abs(mark - min(at(end), right)) <= 1.5 and (width == 2 or abs(x + width - mark) <= 1.5), (replica, x, width, mark)
        assert at(end) < at(running) or abs(x - at(running)) <= 1.5, (replica, x, at(running))
    assert_times_are_told(browser, ended - begun, len(states) - 1)
    browser.look(360, 740)  # which has room for whole seconds only
    browser.until("document.querySelector('.plot.zooms').viewBox.baseVal.width < 360")
    assert_times_are_told(browser, ended - begun, len(states) - 1)
    browser.look(1280, 800)
    browser.until("document.querySelector('.plot.zooms').viewBox.baseVal.width > 1000")
    # Dragging along the time axis zooms in: the middle half becomes twice as wide.
    middle, quarter = (left + right) / 2, (right - left) / 4
    drag = ("(() => { const plot = document.querySelector('.zooms'), at = plot.getBoundingClientRect().left; "
            "plot.dispatchEvent(new PointerEvent('pointerdown', {clientX: at + %f, cancelable: true})); dispatchEvent(new PointerEvent('pointerup', {clientX: at + %f})); })()")
    browser.value(drag % (middle + quarter, middle - quarter))
    near = browser.value("[...document.querySelectorAll('rect.span')].map((each) => [each.x.baseVal.value, each.width.baseVal.value]).slice(0, %d)" % (len(states) - 1))
    seen = [(max(x, middle - quarter), min(x + width, middle + quarter)) for _, x, width in bars[:len(states) - 1] if x <= middle + quarter and x + width >= middle - quarter]
    for (x, width), (begins, ends) in zip(near, seen):
        assert abs(x - (left + (begins - middle + quarter) * 2)) <= 3 and abs(width - max(2, (ends - begins) * 2)) <= 5
    browser.value("document.querySelector('.zooms').dispatchEvent(new MouseEvent('dblclick'))")
    assert browser.value("[...document.querySelectorAll('rect.span')].map((each) => [each.classList[1], each.x.baseVal.value, each.width.baseVal.value])") == bars
    # The service's line about the failure may be stored before the replica's last lines.
    entries = [json.loads(line) for line in yard.get(f"/_trainyard/v1/jobs/{failed}:log", project=yard.project).data.splitlines()]
    assert any("ValueError: bad shape" in entry.get("message", "") and entry["severity"] == "ERROR" for entry in entries)
    browser.type("e")
    browser.until_says(next(entry["message"] for entry in entries if entry.get("severity") == "ERROR").splitlines()[0], ".line.at")
    pictures(browser, "failed")
    browser.click("Run again", "button")
    browser.until(f"document.querySelector('h1')?.textContent.startsWith({json.dumps(failed + '_')})")
    verb(yard, "wait", "@last", code=1)


def test_a_picture_shows_whose_network_is_cut(browser, yard):
    """Fails with: linksOf() that takes faults that do not last: the rule was taken back, and the network stayed cut in the
    picture."""
    job_id = yard.new_id("cut")
    rule = yard.post("/_trainyard/v1/faults", {"fault": "cutNetwork", "job": job_id, "role": "worker", "replica": 1, "afterSeconds": 0}).json["id"]
    slow = yard.post("/_trainyard/v1/faults", {"fault": "slowNetwork", "job": job_id, "role": "worker", "replica": 0, "afterSeconds": 0, "bytesPerSecond": 4096, "seconds": 3600})
    yard.create(distributed(UNTIL_RELEASED, UNTIL_RELEASED, workers=3), job_id=job_id)
    opened(browser, yard, f"jobs/{yard.project}/{job_id}")
    browser.until("document.querySelector('.replica.cut[data-replica=\"worker-replica-1\"]') !== null")
    browser.until_says("cut off from its network", ".replica.cut")
    if slow.status == 200:
        browser.until_says("slowed to 4.0 KiB a second until", ".replica.slowed[data-replica=\"worker-replica-0\"]")
    assert browser.texts(".replica strong.mono") == ["master-replica-0", "worker-replica-0", "worker-replica-1", "worker-replica-2"]
    report = yard.get(f"/_trainyard{yard.jobs_path}/{job_id}/report").json
    browser.until_says(report["replicas"][1]["addressName"], ".replica[data-replica=\"worker-replica-0\"]")
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    pictures(browser, "cluster")
    # Once the rule is deleted, it has no effect.
    yard.request("DELETE", f"/_trainyard/v1/faults/{rule}")
    browser.until("document.querySelector('.replica.cut') === null")
    if slow.status == 200:
        yard.request("DELETE", f"/_trainyard/v1/faults/{slow.json['id']}")
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED")
    browser.until("[...document.querySelectorAll('.replica .state')].every((each) => each.textContent.startsWith('stopped with the job'))")


def test_environment_places_and_what_was_sent(browser, yard):
    body = custom_job("exit 0", name="it's told", labels={"team": "red"})
    body["jobSpec"]["baseOutputDirectory"] = {"outputUriPrefix": "gs://told-bucket/out"}
    body["jobSpec"]["workerPoolSpecs"][0]["containerSpec"]["env"] = [{"name": "API_TOKEN", "value": "s3cret"}, {"name": "MODE", "value": HOSTILE}]
    job = Vertex(yard).create(body)["name"].rpartition("/")[2]
    opened(browser, yard, f"jobs/{yard.project}/{job}")
    browser.until("[...document.querySelectorAll('a')].some((each) => each.textContent === 'gs://told-bucket/out/')")
    assert "bucket=told-bucket&prefix=out%2F" in browser.value("[...document.querySelectorAll('a')].find((each) => each.textContent === 'gs://told-bucket/out/').href")
    browser.value("[...document.querySelectorAll('summary')].find((each) => each.textContent === 'Environment').click()")
    browser.until_says("API_TOKEN")
    assert HOSTILE in browser.value("document.querySelector('main').innerText") and browser.value("document.querySelectorAll('main img, main script').length") == 0
    # Fails with: SECRET that fits nothing.
    assert "s3cret" not in browser.value("[...document.querySelectorAll('details')].find((each) => each.open).innerText")
    browser.value("document.querySelector('button[aria-label=\"Show API_TOKEN\"]').click()")
    assert "s3cret" in browser.value("[...document.querySelectorAll('details')].find((each) => each.open).innerText")
    assert "CLUSTER_SPEC" in browser.value("document.querySelector('main').innerText")
    browser.value("document.querySelector('details[open]').scrollIntoView()")
    pictures(browser, "environment")
    browser.value("document.querySelector('details[open] summary').click()")
    browser.value("[...document.querySelectorAll('summary')].at(-1).click()")
    texts = {}
    for client in ("JSON", "gcloud", "curl", "Python"):
        browser.click(client, "button")
        texts[client] = browser.value("document.querySelector('details[open] pre').textContent")
    browser.value("document.querySelector('details[open]').scrollIntoView()")
    pictures(browser, "sent")
    sent = json.loads(texts["JSON"])
    assert sent["labels"] == {"team": "red"} and set(sent) == {"displayName", "jobSpec", "labels"}
    assert "gcloud ai custom-jobs create" in texts["gcloud"] and "--labels=team=red" in texts["gcloud"]
    assert "create_custom_job" in texts["Python"]
    compile(texts["Python"], "sent", "exec")
    assert json.loads(re.search("r\'\'\'(.*)\'\'\'", texts["Python"], re.S).group(1)) == sent
    # The command that the page shows for curl works.
    done = subprocess.run(["sh", "-c", texts["curl"]], capture_output=True, text=True, timeout=60)
    assert json.loads(done.stdout)["displayName"] == "it's told", done


def test_a_job_is_printed_on_white_without_what_only_a_screen_uses(browser, yard):
    """Fails with: colours of a dark screen that hold on paper."""
    job_id = yard.create(script("echo printed; echo " + "word " * 100 + "; exit 3"))
    yard.until(job_id, "FAILED")
    browser.look(1280, 800, dark=True)
    opened(browser, yard, f"jobs/{yard.project}/{job_id}")
    browser.until_says("non-zero status of 3", ".why")
    browser.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    seen = "[...document.querySelectorAll('%s')].filter((each) => each.checkVisibility()).length"
    assert browser.value(seen % "header, button, .notes") == 0 and browser.value(seen % "h1, .why, svg, .replica") >= 4
    assert browser.value(FAINT) == [] and browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    browser.picture(PICTURES / "print-1280.png")
    # Fails with: lines that are cut at the edge of the sheet; a plot that is scaled down with its words.
    browser.until_says("word word", ".lines")
    assert browser.value("[...document.querySelectorAll('.lines, .lines *, .card')].every((each) => each.scrollWidth <= each.clientWidth || getComputedStyle(each).display === 'inline')")
    for event, narrow in (("beforeprint", True), ("afterprint", False)):
        browser.value(f"dispatchEvent(new Event('{event}'))")
        assert (browser.value("document.querySelector('.plot.zooms').viewBox.baseVal.width") == 640) == narrow
    # Fails with: a page of which only the first screen is printed.
    told = browser.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)
    paper = base64.b64decode(told["data"])
    (PICTURES / "print.pdf").write_bytes(paper)
    assert paper.startswith(b"%PDF-") and 2 <= len(re.findall(rb"/Type\s*/Page\b", paper)) <= 4
    browser.call("Emulation.setEmulatedMedia", media="", features=[])
    browser.look(1280, 800)
