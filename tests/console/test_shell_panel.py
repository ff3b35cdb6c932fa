# SPDX-License-Identifier: Apache-2.0
"""The terminal of a replica, as a panel of the job's page."""
import contextlib
import http.client
import json
import re

import pytest

from support.console import FAINT, NAMELESS, Relay, TOP, opened, pictures
from support.daemon import UNTIL_RELEASED, distributed
from support.wait import wait_until

SHOWN = "(document.querySelector('.terminal')?.innerText ?? '')"
SAID = ".shell [role=status]"
SAID_EMPTY = f"document.querySelector('{SAID}').textContent === ''"


@pytest.fixture(scope="module")
def job(yard):
    """A running job of two replicas."""
    job_id = yard.create(distributed(UNTIL_RELEASED, UNTIL_RELEASED, workers=1))
    yard.until(job_id, "RUNNING")
    yield job_id
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED")


def press(browser, replica):
    button = f"document.querySelector('button[aria-label=\"Shell in {replica}\"]')"
    browser.until(f"{button} !== null")
    browser.value(f"{button}.click()")


def shell_of(browser, yard, job, replica="worker-replica-0"):
    opened(browser, yard, f"jobs/{yard.project}/{job}")
    press(browser, replica)
    browser.until(f"{SHOWN}.includes('#')")


def processes(yard, job, words):
    listed = yard.engine.call("GET", f"/containers/{yard.container(job, 'worker-0')}/top")["Processes"]
    return [process for process in map(" ".join, listed) if words in process]


# Fails with: box() that gives the first replica; a terminal that lets its keys go on to the page; app.js that leaves a text at
# Escape.
def test_keys_are_the_programs(browser, yard, job):
    shell_of(browser, yard, job)
    browser.type("echo $((6 * 7)):; hostname; printf '\\033[31mred\\033[0m\\n'\n")
    browser.until(f"{SHOWN}.includes('\\n42:') && {SHOWN}.includes('-worker-')")
    browser.until("[...document.querySelectorAll('.terminal span')].some((each) => each.textContent === 'red' && each.style.color)")
    browser.type("cat -v\n")
    browser.press("Escape")
    browser.type("?gn/j\n")
    browser.until(f"{SHOWN}.includes('\\n^[?gn/j')")
    assert browser.value("document.querySelector('dialog')") is None and job in browser.value("location.href")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="c", code="KeyC", modifiers=2)
    browser.type("echo still: | tr s S\n")
    browser.until(f"{SHOWN}.includes('\\nStill:')")
    assert browser.value(NAMELESS) == [] and browser.value(FAINT) == []
    browser.value("document.querySelector('.shell').scrollIntoView()")
    pictures(browser, "shell")
    # Pressing again shows the same terminal. One key leaves it; ending it ends the program.
    press(browser, "worker-replica-0")
    assert browser.value("document.querySelectorAll('.terminal').length") == 1
    assert browser.value("document.activeElement.className") == "t-keyboard"
    browser.type("sleep 98765\n")
    wait_until(lambda: processes(yard, job, "sleep 98765"), 20, "the program runs")
    browser.call("Input.dispatchKeyEvent", type="keyDown", key="F6", code="F6", modifiers=2)
    assert browser.value("document.activeElement.textContent") == "Close"
    browser.type("\n")
    browser.until("document.querySelector('.terminal') === null")
    wait_until(lambda: not processes(yard, job, "sleep 98765"), 20, "the program is gone")


# Fails with: resized() that does not send it; a paste that keeps its escapes, or is not within brackets.
def test_size_and_paste(browser, yard, job):
    shell_of(browser, yard, job)
    # The second size must be applied before the program is asked for it.
    size = ("(() => { const node = document.querySelector('.terminal'), style = getComputedStyle(node), letter = document.querySelector('.t-measure').getBoundingClientRect().width / 20; "
            "return `${Math.floor((node.clientHeight - parseFloat(style.paddingTop) * 2) / (parseFloat(style.fontSize) * 1.25))} ${Math.floor((node.clientWidth - parseFloat(style.paddingLeft) * 2) / letter)}`; })()")
    first = browser.value(size)
    browser.type("stty size\n")
    browser.until(f"{SHOWN}.includes({json.dumps(first)})")
    browser.value("(() => { Object.assign(document.querySelector('.terminal').style, {height: '240px', width: '600px'}); })()")
    second = browser.value(size)
    assert second.split()[0] < first.split()[0] and int(second.split()[1]) < int(first.split()[1])
    browser.type("until [ \"$(stty size)\" = '%s' ]; do sleep 0.1; done; echo fits: | tr f F\n" % second)
    browser.until(f"{SHOWN}.includes('Fits:')")
    # The text is printed after the mode was set, so when it shows, the mode is set.
    browser.type("printf '\\033[?2004hset: '; echo | tr '\\n' S; cat -v\n")
    browser.until(f"{SHOWN}.trimEnd().endsWith('set: S')")
    browser.value("(() => { const data = new DataTransfer(); data.setData('text/plain', 'pa\\x1b[201~sted\\r\\nlast\\n'); "
                  "document.querySelector('.t-keyboard').dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true})); })()")
    browser.type("\n")
    browser.until(f"{SHOWN}.includes('^[[200~pa[201~sted') && {SHOWN}.includes('last')")


# Fails with: frames() that loses the last one; open() that leaves an earlier session's marks.
def test_the_end_is_told_and_another_one_opens(browser, yard, job):
    shell_of(browser, yard, job, "master-replica-0")
    browser.type("echo before: | tr b B; exit 3\n")
    browser.until_says("The shell has ended with exit code 3.", SAID)
    browser.until(f"{SHOWN}.includes('Before:')")
    browser.click("Open another one", "button")
    browser.until(f"{SAID_EMPTY} && {SHOWN}.trimEnd().endsWith('#')")
    browser.type("echo after: | tr a A\n")
    browser.until(f"{SHOWN}.includes('After:') && {SHOWN}.includes('Before:')")


# Fails with: open() that shows nothing of a problem; a shell that goes on in a page that was left, as the browser keeps it for
# "back": pages of earlier tests had all four.
def test_a_refusal_is_told(browser, yard, job):
    with contextlib.ExitStack() as stack:
        def taken():
            """Sessions of earlier tests end only when the daemon notices that their readers are gone."""
            connection = stack.enter_context(contextlib.closing(http.client.HTTPConnection("127.0.0.1", yard.port, timeout=30)))
            connection.request("POST", f"/_trainyard/v1/jobs/{job}:shell", json.dumps({"session": f"taken-{i}", "replica": "worker-0", "terminal": True}), {"Content-Type": "application/json"})
            return connection.getresponse().status == 200
        for i in range(4):
            wait_until(taken, 30)
        opened(browser, yard, f"jobs/{yard.project}/{job}")
        press(browser, "worker-replica-0")
        browser.until_says("This replica has 4 terminal sessions already", SAID)
    # The sessions end soon after their readers.
    browser.until("(() => { document.querySelector('.shell button[data-key=again]:not([hidden])')?.click(); return %s.includes('#'); })()" % SHOWN)
    browser.open("about:blank")
    browser.events = []  # the refusals are among the events


# Fails with: shell_reader_leave() that ends each session; shell_output() that begins with the first byte kept; run() that begins
# anew; #type() that does not repeat; shell_session_type() that types all of a piece again.
def test_a_shell_outlasts_its_connection(browser, yard, job):
    with contextlib.closing(Relay(int(yard.base.rpartition(":")[2]))) as relay:
        browser.open(f"http://127.0.0.1:{relay.port}{TOP}jobs/{yard.project}/{job}")
        press(browser, "worker-replica-0")
        browser.until(f"{SHOWN}.includes('#')")
        browser.type("i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo line $i; sleep 0.01; done; echo x=$x: | tr x X\n")
        for seen in (50, 150, 250):
            browser.until(f"{SHOWN}.includes('\\nline {seen}\\n')")
            relay.break_off()
            browser.type("x")
        browser.until(f"{SHOWN}.includes('\\nX=:')")
        browser.type("\n")
        browser.until(f"{SHOWN}.includes('xxx: not found')")
        numbers = [int(number) for number in re.findall(r"line (\d+)\n", browser.value(SHOWN))]
        assert numbers == list(range(1, 401)) and browser.value(SAID_EMPTY)
        browser.type("exit 7\n")
        browser.until_says("The shell has ended with exit code 7.", SAID)
        browser.open("about:blank")
        browser.events = []  # the aborted requests are among the events


# Fails with: #type() that sends a piece once: what was typed in an outage of some seconds was lost.
def test_what_is_typed_outlasts_an_outage(browser, yard, job):
    shell_of(browser, yard, job)
    browser.break_off(":input", 6)  # as often as the page repeats one request
    browser.type("echo typed: | tr t T\n")
    browser.until(f"{SHOWN}.includes('\\nTyped:')")
    assert browser.breaks == {":input": 0}
    browser.mend()
    browser.open("about:blank")
    browser.events = []  # the aborted requests are among the events


# Fails with: box() that offers one for every replica.
def test_it_ends_with_the_job(browser, yard):
    job_id = yard.create(distributed(UNTIL_RELEASED, UNTIL_RELEASED, workers=1))
    yard.until(job_id, "RUNNING")
    shell_of(browser, yard, job_id, "master-replica-0")
    yard.cancel(job_id)
    browser.until_says("The shell has ended", SAID)
    yard.until(job_id, "CANCELLED")
    browser.until("document.querySelector('button[aria-label^=\"Shell in\"]') === null")
    browser.click("Open another one", "button")
    browser.until_says("a shell can be opened only while the job is RUNNING", SAID)
