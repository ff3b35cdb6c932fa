# SPDX-License-Identifier: Apache-2.0
"""The table of jobs follows the daemon's stream of changes and makes no other requests."""
import json

from support.console import HOSTILE, asked, hide, opened
from support.daemon import UNTIL_RELEASED, script
from support.verbs import verb
from support.vertex import Vertex, custom_job
from support.wait import wait_until


def state_of(name):
    """The state in the row of a job, or null."""
    return ("([...document.querySelectorAll('.trow')].find((row) => row.querySelector('a').textContent === %s)"
            "?.querySelector('.state').textContent ?? null)" % json.dumps(name))


def asked_of_jobs(browser):
    return [url for url in asked(browser)[0] if "/v1/jobs" in url]


# Fails with: #take() that leaves a removed job, or those of before a restart; that keeps no position; follow() that does not look
# at document.hidden.
def test_the_table_follows_the_stream_of_changes(browser, new_daemon):
    daemon = new_daemon().start()
    vertex = Vertex(daemon)
    stays = daemon.create(script("until [ -e /released ]; do sleep 0.05; done"))
    opened(browser, daemon)
    browser.until(state_of(stays) + " === 'Running'")
    assert len(asked_of_jobs(browser)) == 1 and "jobs:watch" in asked_of_jobs(browser)[0]
    goes = vertex.create({**custom_job("exit 0"), "displayName": "goes"})["name"]
    browser.until(state_of("goes") + " === 'Succeeded'")
    assert daemon.request("DELETE", f"/v1/{goes}").status == 200
    browser.until(state_of("goes") + " === null")
    assert len(asked_of_jobs(browser)) == 1  # one request brought all changes
    hide(browser, True)
    wait_until(lambda: any("jobs:watch" in url for url in asked(browser)[1]), 20, "the request for the changes ends")
    before = len(asked(browser)[0])
    daemon.release(stays)
    daemon.until(stays, "SUCCEEDED")
    comes = daemon.create(script("exit 3"))
    daemon.until(comes, "FAILED")
    assert len(asked(browser)[0]) == before and browser.value(state_of(stays)) == "Running"
    hide(browser, False)
    browser.until(state_of(stays) + " === 'Succeeded'")
    browser.until(state_of(comes) + " === 'Failed'")
    assert len(asked_of_jobs(browser)) == 2 and "position=&" not in asked_of_jobs(browser)[1] + "&"
    # After a restart, the stream sends all jobs again, without those that were deleted meanwhile.
    lost = vertex.create({**custom_job("exit 0"), "displayName": "lost"})["name"]
    browser.until(state_of("lost") + " === 'Succeeded'")
    hide(browser, True)
    daemon.listen = f"127.0.0.1:{daemon.port}"
    daemon.stop()
    daemon.start()
    assert daemon.request("DELETE", f"/v1/{lost}").status == 200
    verb(daemon, "wait", vertex.create({**custom_job("exit 0"), "displayName": "anew"})["name"].rpartition("/")[2])
    hide(browser, False)
    browser.until(state_of("anew") + " === 'Succeeded'")
    browser.until(state_of("lost") + " === null")
    browser.until_says("3 jobs", "[role=status].soft")


# Fails with: lines() that decodes each part on its own; that leaves out what follows the last end of a line.
def test_an_answer_of_lines_is_whole_however_it_comes(browser, yard):
    texts = ["é" * length for length in (0, 1, 32_767, 32_768, 65_537, 100_000)]  # whose bytes lie across the parts that are taken apart
    opened(browser, yard)
    read = browser.value("(async () => { const texts = %s; window.fetch = async () => new Response(texts.map((text) => JSON.stringify({text})).join('\\n')); const found = []; "
                         "for await (const batch of (await import('/_trainyard/console/stream.js')).lines('/texts')) found.push(...batch); return found.map(({text}) => text); })()" % json.dumps(texts))
    assert read == texts


# Fails with: #take() that leaves progress; reason() without its last line; a row that is drawn only when its job changes.
def test_the_last_line_of_a_running_job_is_in_its_row(browser, yard):
    job = yard.create(script("echo one; until [ -e /two ]; do sleep 0.05; done; printf '\\033[32m%s\\033[0m\\r\\n' '" + HOSTILE.replace("'", "\"") + "'; " + UNTIL_RELEASED))
    row = "[...document.querySelectorAll('.trow')].find((row) => row.querySelector('a').textContent === %s)" % json.dumps(job)
    opened(browser, yard)
    browser.until(f"{row}?.querySelector('.cell.soft').textContent === 'one'")
    before = len(asked_of_jobs(browser))
    yard.engine.put_file(yard.container(job, "master-0"), "/two")
    browser.until(f"{row}.querySelector('.cell.soft').textContent === {json.dumps(HOSTILE.replace(chr(39), chr(34)))}")
    assert browser.value("document.querySelectorAll('main img, main script').length") == 0 and len(asked_of_jobs(browser)) == before == 1
    # On a narrow screen, the column is shown below the name.
    browser.look(360, 740)
    browser.until(f"{row}.querySelector('.narrow').checkVisibility() && {row}.querySelector('.narrow').innerText.startsWith('<img')")
    assert not browser.value(f"{row}.querySelector('.cell.soft').checkVisibility()")
    browser.look(1280, 800)
    yard.release(job)
    yard.until(job, "SUCCEEDED")
    browser.until(f"{row}.querySelector('.cell.soft').textContent === ''")
