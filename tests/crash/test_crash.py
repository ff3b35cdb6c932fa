# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the daemon at awkward moments: nothing that was acknowledged is lost, nothing is left behind."""
import random

import pytest

from support.daemon import distributed, script
from support.wait import wait_until

COUNT = 400
CHATTER = f"i=0; while [ $i -lt {COUNT} ]; do echo line $i; i=$((i+1)); usleep 10000; done"


def test_a_running_job_is_adopted_and_each_line_is_kept_once(new_daemon):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(distributed(CHATTER, CHATTER, workers=1))
    for reached in (20, 120, 240):
        wait_until(lambda: f"line {reached}" in daemon.lines(job_id), 60, f"line {reached}")
        daemon.kill9()
        daemon.start()
    daemon.until(job_id, "SUCCEEDED")
    for task in ("master-replica-0", "worker-replica-0"):
        assert daemon.lines(job_id, task) == [f"line {i}" for i in range(COUNT)], task
    assert daemon.containers(job_id) == []
    positions = [(e["timestamp"], e["insertId"]) for e in daemon.entries(job_id)]
    assert positions == sorted(set(positions))


def test_a_job_that_ends_while_the_daemon_is_dead_is_judged_at_the_next_start(new_daemon):
    daemon = new_daemon("--offline").start()
    good, bad = daemon.create(script("sleep 1; echo good")), daemon.create(script("sleep 1; echo bad >&2; exit 4"))
    containers = [daemon.container(good), daemon.container(bad)]
    daemon.kill9()
    wait_until(lambda: not any(daemon.engine.inspect(c)["State"]["Running"] for c in containers), 30)
    daemon.start()
    daemon.until(good, "SUCCEEDED")
    assert daemon.lines(good) == ["good"]
    assert "status of 4" in daemon.until(bad, "FAILED")["errorMessage"]
    assert daemon.lines(bad) == ["bad"]


@pytest.mark.parametrize("pause_ms", [0, 30, 80, 150, 250, 400])
def test_a_kill_while_replicas_are_started_loses_no_job(new_daemon, pause_ms):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(distributed("sleep 0.5; echo done", "echo here", "echo here", workers=2, ps_count=1))
    moment = wait_until(lambda: daemon.job(job_id)["state"] != "QUEUED" or pause_ms == 0, 20)
    assert moment
    # The moment within the start is what this test varies: a wait on the clock is what it means.
    wait_for_ms(pause_ms)
    daemon.kill9()
    daemon.start()
    daemon.until(job_id, "SUCCEEDED")
    assert daemon.lines(job_id) == ["done"]
    assert daemon.containers(job_id) == []


@pytest.mark.parametrize("pause_ms", [0, 40, 120, 250])
def test_a_kill_while_a_job_is_torn_down_leaves_nothing(new_daemon, pause_ms):
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    job_id = daemon.create(distributed("sleep 0.5; echo done", 'trap "" TERM; while :; do sleep 0.1; done', workers=3))
    master = daemon.container(job_id)
    wait_until(lambda: not running(daemon, master), 30)
    wait_for_ms(pause_ms)
    daemon.kill9()
    daemon.start()
    daemon.until(job_id, "SUCCEEDED")
    assert daemon.lines(job_id) == ["done"]
    assert daemon.engine.leftovers(daemon.read_instance()) == []


def test_a_cancel_that_was_acknowledged_is_carried_out_after_a_kill(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    job_id = daemon.create(script('trap "" TERM; while :; do sleep 0.1; done'))
    daemon.until(job_id, "RUNNING")
    daemon.cancel(job_id)
    daemon.kill9()
    daemon.start()
    daemon.until(job_id, "CANCELLED")
    assert daemon.engine.leftovers(daemon.read_instance()) == []


def test_every_acknowledged_job_survives_any_kill(new_daemon):
    """Jobs are created as fast as they are answered, with kills between; each ends, none is missing."""
    daemon = new_daemon("--offline", "--max-active-jobs", "4").start()
    dice, created = random.Random(7), []
    for _ in range(4):
        for _ in range(dice.randint(1, 4)):
            created.append(daemon.create(script("echo once")))
        daemon.kill9()
        daemon.start()
    for job_id in created:
        daemon.until(job_id, "SUCCEEDED", timeout=120)
        assert daemon.lines(job_id) == ["once"]
    assert sorted(j["jobId"] for j in daemon.get(daemon.jobs_path, pageSize=100).json["jobs"]) == sorted(created)
    assert daemon.engine.leftovers(daemon.read_instance()) == []


def running(daemon, container):
    try:
        return daemon.engine.inspect(container)["State"]["Running"]
    except Exception:  # gone already
        return False


def wait_for_ms(pause_ms):
    import time
    time.sleep(pause_ms / 1000)
