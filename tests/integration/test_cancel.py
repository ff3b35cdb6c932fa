# SPDX-License-Identifier: Apache-2.0
"""Jobs that end because of a user or a time limit."""
import contextlib
import socket
import threading

import pytest

from support.daemon import distributed, one_replica, script
from support.wait import wait_until

WAIT = "while :; do sleep 0.1; done"


@contextlib.contextmanager
def silent_registry():
    """A registry that accepts connections and never answers, so that a pull from it does not end."""
    server = socket.create_server(("127.0.0.1", 0))
    held = []

    def accept():
        with contextlib.suppress(OSError):
            while True:
                held.append(server.accept()[0])
    threading.Thread(target=accept, daemon=True).start()
    try:
        yield server.getsockname()[1]
    finally:
        server.close()
        for connection in held:
            connection.close()


def test_a_queued_job_is_cancelled_without_ever_starting(new_daemon):
    daemon = new_daemon("--offline", "--max-active-jobs", "1", "--stop-grace", "1").start()
    first = daemon.create(script(WAIT))
    daemon.until(first, "RUNNING")
    second, third = daemon.create(script("echo never")), daemon.create(script("echo third"))
    wait_until(lambda: daemon.job(third).get("jobPosition") == "2", 10, "the third job waits in second place")
    assert daemon.job(second)["jobPosition"] == "1"
    daemon.cancel(second)
    job = daemon.until(second, "CANCELLED")
    assert "startTime" not in job and daemon.lines(second) == []
    daemon.cancel(first)
    daemon.until(first, "CANCELLED")
    assert daemon.until(third, "SUCCEEDED") and daemon.lines(third) == ["third"]


def test_a_job_that_still_pulls_is_cancelled(new_daemon):
    daemon = new_daemon().start()
    with silent_registry() as port:
        job_id = daemon.create(one_replica(image=f"127.0.0.1:{port}/never:1"))
        daemon.until(job_id, "PREPARING")
        daemon.cancel(job_id)
        job = daemon.until(job_id, "CANCELLED")
    assert job["endTime"]


def test_a_running_job_gets_sigterm_and_its_words_are_kept(yard):
    job_id = yard.create(distributed('trap "echo saved; exit 0" TERM; ' + WAIT, 'trap "echo left; exit 1" TERM; ' + WAIT, workers=1))
    yard.until(job_id, "RUNNING")
    wait_until(lambda: len(yard.containers(job_id)) == 2, 10)
    yard.cancel(job_id)
    assert yard.job(job_id)["state"] in ("CANCELLING", "CANCELLED")
    yard.cancel(job_id)
    job = yard.until(job_id, "CANCELLED")
    assert job["endTime"] and job["startTime"]
    assert yard.lines(job_id) == ["saved"] and yard.lines(job_id, "worker-replica-0") == ["left"]
    assert yard.service_lines(job_id)[-1] == ("INFO", "Job cancelled.")
    assert yard.containers(job_id) == []
    yard.cancel(job_id)
    assert yard.job(job_id) == job


def test_a_replica_that_ignores_sigterm_is_killed_after_the_grace_time(yard):
    job_id = yard.create(script('trap "echo ignored" TERM; echo ready; ' + WAIT))
    wait_until(lambda: "ready" in yard.lines(job_id), 30)
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED")
    assert yard.lines(job_id)[:2] == ["ready", "ignored"]


def test_a_job_past_its_running_time_is_cancelled(yard):
    job_id = yard.create(script(WAIT, scheduling={"maxRunningTime": "1s"}))
    job = yard.until(job_id, "CANCELLED")
    assert job.get("errorMessage"), job


@pytest.mark.parametrize("training_input,state", [(script("true"), "SUCCEEDED"), (script("exit 1"), "FAILED")])
def test_cancelling_an_ended_job_changes_nothing(yard, training_input, state):
    job_id = yard.create(training_input)
    job = yard.until(job_id, state)
    yard.cancel(job_id)
    assert yard.job(job_id) == job


def test_cancel_takes_an_empty_body(yard):
    job_id = yard.create(script(WAIT))
    answer = yard.request("POST", f"{yard.jobs_path}/{job_id}:cancel", b"", {"Content-Type": ""})
    assert (answer.status, answer.json) == (200, {})
    yard.until(job_id, "CANCELLED")
