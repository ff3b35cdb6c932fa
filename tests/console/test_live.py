# SPDX-License-Identifier: Apache-2.0
"""The table of jobs follows the daemon's stream of changes, and asks nothing else."""
import json

from support.console import asked, hide, opened
from support.daemon import script
from support.verbs import verb
from support.vertex import Vertex, custom_job
from support.wait import wait_until


def state_of(name):
    """The state in the row of a job, or null."""
    return ("([...document.querySelectorAll('.trow')].find((row) => row.querySelector('a').textContent === %s)"
            "?.querySelector('.state').textContent ?? null)" % json.dumps(name))


def asked_of_jobs(browser):
    return [url for url in asked(browser)[0] if "/v1/jobs" in url]


# Broken: #take() that leaves a removed job, or those of before a restart; that keeps no position; follow() that does not look at document.hidden.
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
    assert len(asked_of_jobs(browser)) == 1  # all of it came by the one answer
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
    # After a restart all jobs are told anew, without those that are gone meanwhile.
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
