# SPDX-License-Identifier: Apache-2.0
"""Faults that users inject (/_trainyard/v1/faults) while other things fail, too: each is applied once, as it was ordered.

pytest tests/fault/test_orders.py --cycles 3"""
import errno

import pytest

from support import shim
from support.daemon import program
from support.engine_proxy import EngineProxy, Fault
from support.marks import long
from support.wait import wait_until

pytestmark = pytest.mark.each_cycle
FAULTS = "/_trainyard/v1/faults"
OPTIONS = ("--offline", "--machine-fit", "none")


@pytest.fixture
def proxy(simulated):
    proxy = EngineProxy(simulated)
    yield proxy
    proxy.close()


def order(daemon, **rule):
    answer = daemon.post(FAULTS, rule)
    assert answer.status == 200, answer
    return answer.json["id"]


def hits(daemon, number):
    return int(daemon.get(f"{FAULTS}/{number}").json["hits"])


def is_tried_again(daemon, job):
    return daemon.query_state(f"SELECT 1 FROM job WHERE job_id = '{job}' AND attempt > 1")


# Fails with: observe_exit() that takes the engine's exit code again (as it was): "status of 15(SIGTERM)" three times.
@pytest.mark.parametrize("rule, state, words", [
    ({"fault": "exit", "exitCode": 42}, "FAILED", "status of 42."), ({"fault": "exit", "exitCode": 0}, "SUCCEEDED", ""),
    long({"fault": "oom"}, "FAILED", "ran out-of-memory"), ({"fault": "crash", "attempt": 1}, "CANCELLED", "")],
    ids=["42", "0", "oom", "crash"])
def test_an_end_is_as_ordered_however_often_it_is_looked_at(faulty, proxy, simulated, rule, state, words):
    """The end cannot be stored because the disk is full, while the connections to the engine break and everything is listed
    again."""
    daemon = faulty(*OPTIONS, engine=proxy, binary=program()).start()
    job = daemon.create({"region": "us-central1", "masterConfig": {"imageUri": "image:1"}, "args": ["said", "1"]})
    daemon.wait_lines(job, count=1)
    daemon.until(job, "RUNNING")
    proxy.watch(Fault("delay", "POST", "/(stop|kill)", nth=0, seconds=2))
    number = order(daemon, job=job, **rule)
    wait_until(lambda: hits(daemon, number) == 1, 20, "the order has come")
    daemon.shim.order(shim.FULL, 1, shim.FOREVER, errno.ENOSPC)
    wait_until(lambda: simulated.standing()["running"] == 0, 40, "the container has ended")

    def failures():
        return daemon.log().count(" error ")
    before = failures()
    wait_until(lambda: failures() > before, 40, "its end cannot be stored")
    assert "endTime" not in daemon.job(job)
    proxy.watch()
    proxy.cut()
    wait_until(lambda: any(call.code == 200 for call in proxy.seen("GET", "^/containers/[^/]+/json")), 40, "it is looked at")
    before = failures()
    wait_until(lambda: failures() > before + 1, 40, "its end still cannot be stored")
    daemon.shim.lift()
    if state == "CANCELLED":
        wait_until(lambda: is_tried_again(daemon, job), 40, "it is tried again")
        daemon.cancel(job)
    assert words in daemon.until(job, state).get("errorMessage", "")


# Fails with: mark_store() that stores nothing (as it was): no hit after a restart.
@pytest.mark.parametrize("way", [long("stop"), "kill9"])
def test_a_line_that_was_waited_for_is_not_forgotten(faulty, proxy, way):
    """The line was printed before the job was RUNNING: one of its workers has not started when the daemon ends."""
    daemon = faulty(*OPTIONS, engine=proxy, binary=program()).start()
    number = order(daemon, fault="exit", exitCode=7, role="worker", replica=0, logPattern="^line 0$")
    proxy.watch(Fault("delay", "POST", "-worker-1-.*/start", nth=0, seconds=60))
    image = {"imageUri": "image:1"}
    job = daemon.create({"region": "us-central1", "scaleTier": "CUSTOM", "masterType": "n1-standard-4", "workerType":
                         "n1-standard-4", "workerCount": "2", "masterConfig": image, "workerConfig": image, "args": ["said", "1"]})
    daemon.wait_lines(job, "worker-replica-0", 1)
    assert daemon.job(job)["state"] == "PREPARING" and hits(daemon, number) == 0
    getattr(daemon, way)()
    proxy.watch()
    daemon.start()
    assert "The replica worker 0 exited with a non-zero status of 7." in daemon.until(job, "FAILED")["errorMessage"]
    assert hits(daemon, number) == 1 and daemon.lines(job, "worker-replica-0") == ["line 0"]
