# SPDX-License-Identifier: Apache-2.0
"""The pages of the queue, of storage, of faults and the clock, and of requests."""
import json

from support.console import FAINT, HOSTILE, NAMELESS, opened, pictures
from support.daemon import UNTIL_RELEASED, one_replica, script, with_gpus
from support.registry import image_that_comes_slowly
from support.storage import Storage
from support.wait import wait_until


def test_queue_faults_and_requests(browser, narrow_yard):
    first = narrow_yard.create(script("echo up; while :; do sleep 0.1; done"))
    narrow_yard.until(first, "RUNNING")
    second = narrow_yard.create(script("exit 0"))
    opened(browser, narrow_yard, "queue")
    browser.until_says("1 job waits")
    browser.until_says(second)
    # Each gauge is as full as the API reports. Fails with: gauge() that divides the other way.
    room = narrow_yard.get("/_trainyard/v1/queue").json["room"]
    shares = [room["jobs"] / room["maxJobs"], room["containers"] / room["maxContainers"], room["vcpus"] / room.get("maxVcpus", room.get("hostVcpus")),
              int(room["memoryBytes"]) / int(room.get("maxMemoryBytes", room.get("hostMemoryBytes")))]
    drawn = browser.value("[...document.querySelectorAll('meter')].map((each) => each.value)")
    assert len(drawn) == 4 and all(abs(value - min(1, share)) < 1e-6 for value, share in zip(drawn, shares)), (drawn, shares)
    pictures(browser, "queue")
    opened(browser, narrow_yard, "faults")
    browser.until_says("No fault is ordered")
    # The form has the fields of the discovery document. Fails with: faults.create that is not published.
    browser.until("document.querySelector('form select[name=fault]') !== null")
    browser.value("(() => { const fields = document.querySelector('form select[name=fault]').form.elements; "
                  f"Object.entries({{job: {json.dumps(HOSTILE)}, role: 'worker', replica: '1'}}).forEach(([name, value]) => {{ fields[name].value = value; }}); }})()")
    # It shows those that the kind takes, and sends no other. Fails with: fit() that hides nothing, or that is not called again
    # for another kind; a submit that sends what is hidden: the rule is refused.
    shown = ("(() => [...document.querySelectorAll('form select[name=fault]')[0].form.querySelectorAll('label')].filter((each) => each.checkVisibility())"
             ".map((each) => each.querySelector('[name]').name))()")
    chosen = ("(() => {{ const kind = document.querySelector('form select[name=fault]'); kind.value = '{}'; "
              "kind.dispatchEvent(new Event('change', {{bubbles: true}})); }})()")
    browser.value(chosen.format("httpStatus"))
    assert set(browser.value(shown)) == {"fault", "project", "job", "method", "httpStatus", "count", "probability"}
    browser.value("(() => { document.querySelector('form [name=httpStatus]').value = '503'; })()")
    browser.value(chosen.format("preempt"))
    assert set(browser.value(shown)) == {"fault", "project", "job", "role", "pool", "replica", "trial", "attempt", "afterSeconds", "logPattern", "count", "probability"}
    browser.click("Add the rule", "button")
    browser.until_says("role=worker")
    assert browser.value(NAMELESS) == []
    assert browser.value("document.querySelectorAll('main img, main script').length") == 0
    [rule] = narrow_yard.get("/_trainyard/v1/faults").json["faults"]
    assert (rule["fault"], rule["job"], rule["role"], rule["replica"]) == ("preempt", HOSTILE, "worker", 1)
    pictures(browser, "faults")
    browser.click("Take back", "button")
    browser.until_says("No fault is ordered")
    assert narrow_yard.get("/v1/projects/p/jobs/nosuch").status == 404
    opened(browser, narrow_yard, "requests")
    browser.until_says("projects.jobs.get")
    browser.click("Refused only", "button")
    browser.until("[...document.querySelectorAll('.trow .state')].every((each) => each.textContent === '404')")
    pictures(browser, "requests")
    for job in (second, first):
        narrow_yard.cancel(job)
    narrow_yard.until(first, "CANCELLED")


def test_gpus_are_told_with_the_replicas_that_hold_them(browser, new_daemon, gpu_engine):
    """Fails with: link() that takes the project for the job."""
    daemon = new_daemon("--offline", "--gpus", "3", "--accelerators", "wait", "--stop-grace", "1", engine=gpu_engine).start()
    wait_until(lambda: daemon.get("/healthz").json["engine"]["reachable"], 30)
    holds = daemon.create(with_gpus(script(UNTIL_RELEASED), 2))
    daemon.until(holds, "RUNNING")
    waits = daemon.create(with_gpus(script("exit 0"), 2))
    opened(browser, daemon, "queue")
    rows = "[...document.querySelectorAll('.card:has(h2)')].find((each) => each.querySelector('h2').textContent === 'GPUs')"
    browser.until(f"{rows}?.querySelectorAll('tr').length === 4")
    told = browser.value(f"[...{rows}.querySelectorAll('tr')].slice(1).map((row) => [...row.cells].map((cell) => cell.textContent.trim()))")
    gpus = daemon.get("/_trainyard/v1/gpus").json["gpus"]
    assert told == [[gpu["id"], f"{holds} master-replica-0" if gpu.get("holders") else "free"] for gpu in gpus]
    assert [holder for _, holder in told].count("free") == 1
    browser.until_says(waits)
    browser.until_says("GPU", ".trow .cell.soft")
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    pictures(browser, "gpus")
    opened(browser, daemon)
    browser.until("document.querySelectorAll('.trow').length === 2")
    assert browser.value("[...document.querySelectorAll('.trow')].map((row) => row.cells?.length ?? [...row.children].at(-2).textContent)") == ["2", "2"]
    for job in (waits, holds):
        daemon.cancel(job)
        daemon.until(job, "CANCELLED")


def test_what_storage_refuses_is_told(browser, yard):
    """Fails with: act() without its catch; upload() that goes on after an error as if it had worked."""
    def chosen(*names):
        browser.value("(() => { const data = new DataTransfer(); %s.forEach((name) => data.items.add(new File(['up'], name))); const file = document.querySelector('input[type=file]'); "
                      "file.files = data.files; file.dispatchEvent(new Event('change')); })()" % json.dumps(names))

    yard.until(yard.create(script("exit 0")), "SUCCEEDED")
    assert yard.request("POST", "/upload/storage/v1/b/refused-bucket/o", b"text", {"Content-Type": "text/plain"}, uploadType="media", name="here.txt").status == 200
    opened(browser, yard, "storage?bucket=refused-bucket&prefix=into%2F")
    browser.until_says("There is nothing here", ".empty")
    chosen("one.txt", "two.txt")
    browser.until("document.querySelectorAll('.trow').length === 2")
    for name in ("one", "two"):
        assert yard.get(f"/storage/v1/b/refused-bucket/o/into%2F{name}.txt", alt="media").data == b"up"
    chosen("x" * 1100)  # names have at most 1024 bytes
    browser.until("document.querySelector('.note.bad') !== null")
    assert browser.texts(".note.bad")[0] and "Uploaded" not in browser.texts(".note.bad")[0]
    # The object does not exist any more.
    opened(browser, yard, "storage?bucket=refused-bucket&prefix=&object=here.txt")
    browser.until_says("text", "pre")
    assert yard.request("DELETE", "/storage/v1/b/refused-bucket/o/here.txt").status == 204
    browser.click("Download", "button")
    browser.until_says("here.txt", ".note.bad")
    browser.click("Delete", "main button")
    browser.click("Delete", "dialog button")
    browser.until("document.querySelectorAll('.note.bad').length === 2")


def searched(browser, text):
    """Types into the search that "/" leads to, in place of what is there."""
    browser.press("Escape")
    browser.type("/")
    browser.value("document.activeElement.select()")
    browser.type(text)


def names(browser):
    return browser.texts(".trow .cell a")


# Fails with: a page whose keys lack those of its search; matcher() that takes one word of several; keepInAddress() that forgets the
# rest of the address.
def test_each_list_is_searched_from_the_keyboard(browser, narrow_yard):
    first = narrow_yard.create(script(UNTIL_RELEASED))
    narrow_yard.until(first, "RUNNING")
    waits = [narrow_yard.create(script("exit 0"), job_id=narrow_yard.new_id(name)) for name in ("red_early", "red_late", "blue_late")]
    for name in ("a/red.txt", "a/blue.txt", "a/red-blue.txt"):
        assert Storage(narrow_yard, "searched-bucket").put(name, b"text").status == 200
    opened(browser, narrow_yard, "queue")
    browser.until("document.querySelectorAll('.trow').length === 3")
    assert browser.texts("h2")[2] == "3 jobs wait" and names(browser) == waits
    searched(browser, "LATE red")
    browser.until("document.querySelectorAll('.trow').length === 1")
    assert names(browser) == [waits[1]] and browser.value("new URLSearchParams(location.search).get('q')") == "LATE red"
    # What is in the address is searched for again, and the keys lead on from there.
    opened(browser, narrow_yard, "queue?q=blue")
    browser.until("document.querySelectorAll('.trow').length === 1")
    browser.type("j\n")
    browser.until(f"document.querySelector('h1')?.textContent === {json.dumps(waits[2])}")
    opened(browser, narrow_yard, "storage?bucket=searched-bucket&prefix=a%2F")
    browser.until("document.querySelectorAll('.trow').length === 3")
    searched(browser, "red")
    browser.until("document.querySelector('[role=status].soft').innerText === '2 of 3 names'")
    assert sorted(names(browser)) == ["red-blue.txt", "red.txt"]
    assert browser.value("location.search") == "?bucket=searched-bucket&prefix=a%2F&q=red"
    for fault in ({"fault": "preempt", "job": "one"}, {"fault": "stockout", "job": "two"}):
        assert narrow_yard.post("/_trainyard/v1/faults", fault).status == 200
    opened(browser, narrow_yard, "faults")
    rules = "[...document.querySelectorAll('td.words')].map((each) => each.innerText)"
    browser.until(f"{rules}.length === 2")
    searched(browser, "stock")
    browser.until(f"{rules}.length === 1 && {rules}[0].includes('job=two')")
    for rule in narrow_yard.get("/_trainyard/v1/faults").json["faults"]:
        assert narrow_yard.request("DELETE", f"/_trainyard/v1/faults/{rule['id']}").status == 200
    assert narrow_yard.get("/v1/projects/p/jobs/searched").status == 404
    opened(browser, narrow_yard, "requests")
    browser.until("document.querySelectorAll('.trow').length > 1")
    searched(browser, "404 jobs/searched")
    browser.until("document.querySelectorAll('.trow').length === 1")
    # All of one is shown: its reason may be longer than its row.
    browser.press("Escape")
    browser.type("j\n")
    browser.until_says("Field: name Error: The job projects/p/jobs/searched could not be found.", ".card dl")
    for job in (*waits, first):
        narrow_yard.cancel(job)
    narrow_yard.until(first, "CANCELLED")


# Fails with: pullBar() of other numbers, or that tells no end and no beginning; a page that asks for jobs that wait only.
def test_an_image_that_is_pulled_is_told(browser, new_daemon, engine):
    daemon = new_daemon().start()
    with image_that_comes_slowly(engine) as (image, let_go):
        job_id = daemon.create(one_replica("true", image=image))
        bar = "document.querySelector('progress')"
        for path in ("", f"jobs/{daemon.project}/{job_id}", "queue"):
            opened(browser, daemon, path)
            browser.until(f"0 < {bar}?.value && {bar}.value < {bar}.max")
            done, most, words = browser.value(f"[{bar}.value, {bar}.max, {bar}.parentNode.textContent]")
            told = daemon.get(f"/_trainyard/v1/jobs/{job_id}").json["progress"]["imagePull"]
            assert most == int(told["bytesTotal"]) and done <= int(told["bytesDone"])
            assert words == f" {int(100 * done / most)} % of {most / (1 << 20):.0f} MiB"
            browser.until(f"{bar}.value >= {told['bytesDone']}")
            assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
        # To the byte: of MiB, a total that is wrong by little looks the same.
        assert browser.value("import('/_trainyard/console/dom.js').then(({pullBar}) => [{}, {bytesDone: '511', bytesTotal: '1023'}, {bytesDone: '1023', bytesTotal: '1023'}].map((each) => pullBar(each))"
                             ".map((each) => [each.textContent, each.firstChild.max, each.firstChild.value]))") == [[" begins", 1, 0], [" 49 % of 1023 B", 1023, 511], [" 1023 B, being unpacked", 1023, 1023]]
        browser.until_says(f"Pulling {image}")
        assert browser.texts("h2")[2] == "1 job is prepared" and browser.texts(".trow .state") == ["Preparing"]
        pictures(browser, "pulled")
        for path in ("", "queue"):  # a narrow screen has the bar as well
            browser.look(360, 740)
            opened(browser, daemon, path)
            browser.until("[...document.querySelectorAll('progress')].filter((each) => each.checkVisibility()).length === 1")
        browser.look(1280, 800)
        let_go()
        daemon.until(job_id, "SUCCEEDED")
        browser.until("![...document.querySelectorAll('h2')].some((each) => each.checkVisibility() && each.textContent.includes('prepared'))")


def test_objects_are_looked_at_and_deleted(browser, yard):
    def store(name, data, kind):
        assert yard.request("POST", "/upload/storage/v1/b/console-bucket/o", data, {"Content-Type": kind}, uploadType="media", name=name).status == 200

    yard.until(yard.create(script("exit 0")), "SUCCEEDED")  # a project is known once it has a job
    store("runs/1/metrics.json", b'{"loss": 0.5}', "application/json")
    store("runs/1/page.html", HOSTILE.encode(), "text/html")
    store("runs/1/table.csv", f'step,"said, ""so"""\r\n1,{HOSTILE}\r\n\r\n2,"two\nlines"\r\n3'.encode(), "text/csv")
    hostile_name = HOSTILE.partition("<script>")[0] + ".txt"
    store(hostile_name, b"text", "text/plain")
    opened(browser, yard, "storage")
    browser.click("console-bucket", "a")
    browser.until_says("runs/", ".tbody")
    browser.click("runs/", "a")
    browser.until("document.querySelector('[role=status].soft').innerText === '1 name'")
    browser.click("1/", "a")
    browser.click("metrics.json", ".cell")
    browser.until("document.querySelector('pre')?.textContent === '{\\n  \"loss\": 0.5\\n}'")
    browser.click("table.csv", ".cell")
    browser.until("document.querySelector('table.look') !== null")
    assert browser.value(NAMELESS) == []
    assert browser.value("[...document.querySelectorAll('table.look tr')].map((row) => [...row.cells].map((cell) => cell.textContent))") == [
        ["step", 'said, "so"'], ["1", HOSTILE], ["2", "two\nlines"], ["3"]]
    browser.click("page.html", ".cell")
    browser.until_says(HOSTILE, "pre")
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    pictures(browser, "storage")
    browser.click("Delete", "main button")
    browser.click("Delete", "dialog button")
    browser.until("document.querySelectorAll('.trow').length === 2")
    assert yard.get("/storage/v1/b/console-bucket/o/runs%2F1%2Fpage.html").status == 404
    # Each object has an address, also for "back". Fails with: open() that is called for every list.
    browser.value("history.back()")
    browser.until_says("There is no object runs/1/page.html", ".notes")
    browser.value("history.go(-2)")
    browser.until("document.querySelector('pre')?.textContent === '{\\n  \"loss\": 0.5\\n}'")
    browser.click("console-bucket", "a")
    browser.until_says(hostile_name, ".tbody")
    assert browser.value("document.querySelectorAll('main img, main script').length") == 0


def test_the_clock_is_put_forward(browser, new_daemon):
    daemon = new_daemon("--offline", "--clock", "steppable").start()
    opened(browser, daemon, "faults")
    browser.until("document.querySelector('form .row:not([hidden]) input') !== null")
    browser.value("document.querySelector('input[aria-label^=\"By how much\"]').value = '2h'")
    browser.click("Put forward", "button")
    browser.until_says("7200s ahead")
    assert daemon.get("/_trainyard/v1/clock").json["offset"] == "7200s"
