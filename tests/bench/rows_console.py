# SPDX-License-Identifier: Apache-2.0
"""The page in the browser: when it is first painted, and how long it keeps the browser busy at a time."""
import itertools
import json
import os
import subprocess
import tempfile
import threading
import time

from measure import PROJECT, bench, job_body, median, row, serving
from support.browser import Browser

UPDATES_A_SECOND, SECONDS = 50, 20
JOBS, LINES = 10_000, 1_000_000
TOP = "/_trainyard/console/"
MAIN = "CrRendererMain"  # the page's main thread


class Tasks:
    """The longest task of the page's main thread since the last look, in wall-clock time and in CPU time; the latter
    excludes other programs of the machine. A task of more than 50 ms delays the user. Source:
    https://www.w3.org/TR/longtasks/"""

    def __init__(self, browser):
        self.browser = browser
        self.begin()

    def begin(self):
        self.browser.events = []
        self.browser.call("Tracing.start", transferMode="ReportEvents", traceConfig={"includedCategories": ["disabled-by-default-devtools.timeline", "loading"]})

    def _end(self):
        """Returns the tasks and the time of the first paint, and starts a new recording."""
        self.browser.value("new Promise((resolve) => setTimeout(resolve))")
        self.browser.call("Tracing.end")
        while not any(event.get("method") == "Tracing.tracingComplete" for event in self.browser.events):
            self.browser.value("0")
        seen = [each for event in self.browser.events if event.get("method") == "Tracing.dataCollected" for each in event["params"]["value"]]
        main = {(each["pid"], each["tid"]) for each in seen if each["name"] == "thread_name" and each["args"]["name"] == MAIN}
        self.begin()
        return ([each for each in seen if each["name"] == "RunTask" and (each["pid"], each["tid"]) in main],
                max((each["ts"] for each in seen if each["name"] == "firstContentfulPaint"), default=0))

    def until_paint_ms(self):
        """The CPU time of the main thread until the first paint."""
        tasks, painted = self._end()
        return sum(each.get("tdur", 0) for each in tasks if each["ts"] < painted) / 1000

    def rows(self, what):
        tasks, _ = self._end()
        for by, member, limit in (("processor", "tdur", 50), ("clock", "dur", None)):
            row(f"console: longest task {what}, by the {by}", max((each.get(member, 0) for each in tasks), default=0) / 1000, "ms", None, limit, limit)


class Updates:
    """Makes this many changes of jobs per second: each job is created, and cancelled one turn later."""

    def __init__(self, daemon):
        self.daemon, self.ended, self.count = daemon, threading.Event(), 0
        self.thread = threading.Thread(target=self.run)

    def run(self):
        begun, before = time.monotonic(), None
        for number in itertools.count():
            if self.ended.wait(max(0, begun + number / UPDATES_A_SECOND - time.monotonic())):
                return
            if number % 2:
                answer = self.daemon.post(f"{self.daemon.jobs_path}/{before}:cancel")
            else:
                before = f"update_{number}"
                answer = self.daemon.post(self.daemon.jobs_path, job_body(before, "image:1", []))
            assert answer.status == 200, answer
            self.count += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def open_page(browser, daemon, path=""):
    """Opens the page; returns the start time. If a network that the engine makes interrupts the load, loads it again."""
    while True:
        browser.open("about:blank")
        began = time.monotonic()
        browser.open(f"http://127.0.0.1:{daemon.port}{TOP}{path}")
        browser.until("document.readyState === 'complete'")
        if browser.value("document.querySelector('main > :not(noscript)') !== null"):
            return began


def set_hidden(browser, hidden):
    browser.value("(() => { Object.defineProperty(document, 'hidden', {configurable: true, get: () => %s}); document.dispatchEvent(new Event('visibilitychange')); })()" % json.dumps(hidden))


def requests_of(daemon):
    """All requests that the daemon has answered, except those of this function."""
    return sum(int(line.split()[1]) for line in daemon.get("/metrics").data.decode().splitlines() if line.startswith("trainyard_http_requests_total{"))


def stripped(program, directory):
    copy = f"{directory}/{program.parent.name}-stripped"
    subprocess.run(["strip", "-o", copy, program], check=True)
    return os.path.getsize(copy)


@bench("console")
def bench_console(options):
    """With 10,000 stored jobs and 1,000,000 lines of one of them; without an engine."""
    with tempfile.TemporaryDirectory() as directory:
        if options.without_console:
            grown = stripped(options.build / "trainyard", directory) - stripped(options.without_console / "trainyard", directory)
            row("console: what the program grows by it", grown / 1024, "KiB", None, 600, 200)
    with tempfile.TemporaryDirectory() as state, tempfile.TemporaryDirectory() as profile:
        subprocess.run([options.build / "tests/bench/seed", state, str(JOBS), str(LINES), "1"], check=True)
        with serving(state_dir=state) as daemon, Browser(profile) as browser:
            logged = daemon.get("/_trainyard/v1/jobs", pageSize=1).json["jobs"][0]["id"]  # the job of the last row
            count = "document.querySelector('[role=status].soft')?.innerText"
            browser.look(1280, 800)
            tasks, paints, works = Tasks(browser), [], []
            for _ in range(options.rounds):
                open_page(browser, daemon)
                paints.append(browser.until("performance.getEntriesByName('first-contentful-paint')[0]?.startTime"))
                works.append(tasks.until_paint_ms())
            row("console: first paint, by the clock", median(paints), "ms", None, 150, 100)
            row("console: work until then, by the processor", median(works), "ms", None, 150, 100)
            began = open_page(browser, daemon)
            browser.until(f"{count} === '{JOBS} jobs'", 60)
            row("console: 10,000 jobs in the table", (time.monotonic() - began) * 1000, "ms")
            tasks.rows("of that")
            with Updates(daemon) as updates:
                time.sleep(SECONDS)
                row("console: updates of jobs", updates.count / SECONDS, "updates/s", None, 45, 49)
                tasks.rows("meanwhile")
                for word in ("u", "p", "d", "Escape"):
                    browser.value("document.querySelector('input[type=search]').focus()")
                    browser.press(word) if word == "Escape" else browser.type(word)
                tasks.rows("of a search")
                began = open_page(browser, daemon, f"jobs/{PROJECT}/{logged}/log")
                browser.until(f"{count} === '{LINES} lines'", 300)
                row("console: 1,000,000 lines of a log are read", time.monotonic() - began, "s")
                tasks.rows("of that")
                began = time.monotonic()
                browser.value("(() => { const search = document.querySelector('input[type=search]'); search.value = '00999999'; search.dispatchEvent(new Event('input')); })()")
                browser.until(f"{count} === '1 of {LINES} lines'", 300)
                row("console: a word in 1,000,000 lines is found", time.monotonic() - began, "s")
                tasks.rows("of that")
            for what, path in (("jobs", ""), ("a log", f"jobs/{PROJECT}/{logged}/log"), ("a job", f"jobs/{PROJECT}/{logged}"), ("the queue", "queue")):
                open_page(browser, daemon, path)
                browser.until("document.querySelector('.trow, .line, meter') !== null", 60)
                before = requests_of(daemon)
                time.sleep(10)
                seen = requests_of(daemon) - before - 1
                set_hidden(browser, True)
                time.sleep(2)  # waits until pending work is done
                before = requests_of(daemon)
                time.sleep(10)
                row(f"console: requests of a hidden tab with {what} in 10 s", requests_of(daemon) - before - 1, "requests", None, 0, 0)
                row("console: the same tab seen", seen, "requests")
