# SPDX-License-Identifier: Apache-2.0
"""The page in the browser: how soon it is seen, and how long it keeps the browser busy at a time."""
import itertools
import json
import subprocess
import tempfile
import threading
import time

from measure import PROJECT, bench, job_body, row, serving
from support.browser import Browser
from support.daemon import ROOT

UPDATES_A_SECOND, SECONDS = 50, 20
JOBS, LINES = 10_000, 1_000_000
TOP = "/_trainyard/console/"
# Tasks of more than 50 ms are told of by the browser itself. Source: https://www.w3.org/TR/longtasks/
WATCH = "window.tasks = []; new PerformanceObserver((list) => tasks.push(...list.getEntries().map((each) => each.duration))).observe({type: 'longtask', buffered: true});"


class Updates:
    """So many changes of jobs a second: each job is created, and cancelled at the next turn."""

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


def longest_ms(browser):
    """The longest task since the last call; 0 where none had more than 50 ms."""
    return browser.value("new Promise((resolve) => setTimeout(() => { const most = Math.max(0, ...tasks); tasks.length = 0; resolve(most); }))")


def open_page(browser, daemon, path=""):
    """When it was asked for. A network that an engine makes meanwhile breaks off what a browser loads: then it is loaded again."""
    while True:
        browser.open("about:blank")
        began = time.monotonic()
        browser.open(f"http://127.0.0.1:{daemon.port}{TOP}{path}")
        browser.until("document.readyState === 'complete'")
        if browser.value("document.querySelector('main > :not(noscript)') !== null"):
            return began


@bench("console")
def bench_console(options):
    """10,000 jobs and 1,000,000 lines of one of them are stored; no engine."""
    files = [(path.name, int(subprocess.run(["sh", "-c", 'gzip -9 -n -c "$1" | wc -c', "sh", str(path)], capture_output=True, text=True, check=True).stdout))
             for path in sorted((ROOT / "api/console/page").iterdir())]
    row(f"console: its {len(files)} files in the program", sum(size for _, size in files) / 1024, "KiB", None, 600, 100)
    with tempfile.TemporaryDirectory() as state, tempfile.TemporaryDirectory() as profile:
        subprocess.run([options.build / "tests/bench/seed", state, str(JOBS), str(LINES), "1"], check=True)
        with serving(state_dir=state) as daemon, Browser(profile) as browser:
            logged = daemon.get("/_trainyard/v1/jobs", pageSize=1).json["jobs"][0]["id"]  # that of the last row
            browser.look(1280, 800)
            browser.call("Page.addScriptToEvaluateOnNewDocument", source=WATCH)
            paints = []
            for _ in range(options.rounds):
                open_page(browser, daemon)
                paints.append(browser.until("performance.getEntriesByName('first-contentful-paint')[0]?.startTime"))
            row("console: first paint", sorted(paints)[len(paints) // 2], "ms", None, 150, 100)
            began = open_page(browser, daemon)
            browser.until(f"document.querySelector('[role=status].soft')?.innerText === '{JOBS} jobs'", 60)
            row("console: 10,000 jobs in the table", (time.monotonic() - began) * 1000, "ms")
            row("console: longest task of that", longest_ms(browser), "ms", None, 50, 0)
            with Updates(daemon) as updates:
                time.sleep(SECONDS)
                row("console: updates of jobs", updates.count / SECONDS, "updates/s", None, 45, 49)
                row("console: longest task meanwhile", longest_ms(browser), "ms", None, 50, 0)
                for word in ("u", "p", "d", "Escape"):
                    browser.value("document.querySelector('input[type=search]').focus()")
                    browser.press(word) if word == "Escape" else browser.type(word)
                row("console: longest task of a search", longest_ms(browser), "ms", None, 50, 0)
                began = open_page(browser, daemon, f"jobs/{PROJECT}/{logged}/log")
                browser.until(f"document.querySelector('[role=status].soft')?.innerText === '{LINES} lines'", 300)
                row("console: 1,000,000 lines of a log are read", time.monotonic() - began, "s")
                row("console: longest task of that", longest_ms(browser), "ms", None, 50, 0)
                began = time.monotonic()
                browser.value("(() => { const search = document.querySelector('input[type=search]'); search.value = '00999999'; search.dispatchEvent(new Event('input')); })()")
                browser.until(f"document.querySelector('[role=status].soft')?.innerText === '1 of {LINES} lines'", 300)
                row("console: a word in 1,000,000 lines is found", time.monotonic() - began, "s")
                row("console: longest task of that", longest_ms(browser), "ms", None, 50, 0)
            open_page(browser, daemon)
            browser.until("document.querySelectorAll('.trow').length > 0", 60)
            browser.value("(() => { Object.defineProperty(document, 'hidden', {get: () => true}); document.dispatchEvent(new Event('visibilitychange')); })()")
            time.sleep(2)  # what was under way ends
            before = requests_of_browser(daemon)
            time.sleep(10)
            row("console: requests of a hidden tab in 10 s", requests_of_browser(daemon) - before, "requests", None, 0, 0)


def requests_of_browser(daemon):
    told = daemon.get("/_trainyard/v1/requests").data.decode().splitlines()
    return sum("Mozilla/" in json.loads(line).get("userAgent", "") for line in told)
