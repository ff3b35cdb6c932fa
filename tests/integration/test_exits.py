# SPDX-License-Identifier: Apache-2.0
"""Which exit of which replica decides how a job ends, and what the user is told."""
import uuid
from itertools import starmap

import pytest

from support.daemon import UNTIL_RELEASED, distributed, script, task_of, text_of
from support.marks import long
from support.wait import wait_until

WAIT = "while :; do sleep 0.1; done"
STUBBORN = 'trap "" TERM; echo stubborn; ' + WAIT


def test_a_failing_master_fails_the_job_and_its_last_words_are_told(yard):
    job_id = yard.create(script('echo fine; echo "Traceback: first" >&2; echo "ValueError: no data" >&2; exit 3'))
    job = yard.until(job_id, "FAILED")
    message = job["errorMessage"]
    assert message.startswith("The replica master 0 exited with a non-zero status of 3."), message
    assert "Traceback: first\nValueError: no data" in message and "fine" not in message
    assert "To find out more about why your job exited please check the logs: " in message
    told = [text for severity, text in yard.service_lines(job_id) if severity == "ERROR"]
    assert told == [message]
    assert yard.service_lines(job_id)[-1] == ("INFO", "Job failed.")


@pytest.mark.parametrize("role,replica", [("worker", "worker 0"), *starmap(long, [("parameterServer", "ps 0"), ("evaluator", "evaluator 0")])])
def test_an_ordinary_failure_of_any_replica_fails_the_job(yard, role, replica):
    counts = dict(workers=int(role == "worker"), ps_count=int(role == "parameterServer"), evaluators=int(role == "evaluator"))
    fail = "echo worse >&2; exit 1"
    job_id = yard.create(distributed(WAIT, fail, fail, fail, **counts))
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith(f"The replica {replica} exited with a non-zero status of 1."), job
    assert "worse" in job["errorMessage"]
    assert yard.containers(job_id) == []


def test_memory_running_out_is_told_as_such(yard):
    # Limits of machine types are gigabytes, so the test lowers the container's limit before the program allocates.
    limit = 32 << 20
    job_id = yard.create(script(f'until grep -qx {limit} /sys/fs/cgroup/memory/memory.limit_in_bytes '
                                '/sys/fs/cgroup/memory.max 2>/dev/null; do sleep 0.05; done; tail /dev/zero'))
    yard.engine.call("POST", f"/containers/{yard.container(job_id)}/update", {"Memory": limit, "MemorySwap": limit})
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith(
        "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL)"), job


@pytest.mark.long
def test_a_kill_from_outside_is_told_with_its_signal(yard):
    job_id = yard.create(script(WAIT))
    yard.engine.kill(yard.container(job_id))
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith("The replica master 0 exited with a non-zero status of 9(SIGKILL)"), job


# Fails with: exit_classify() that goes by the status alone: the job was lost, and run four times.
@pytest.mark.parametrize("text,status", [("exit 143", 143), *starmap(long, [("kill $$", 143), ("exit 137", 137),
    ("sh -c 'kill $$'; exit $?", 143), ("exit 255", 255), ("exit 130", 130), ("exit 129", 129)])])
def test_a_status_of_a_signal_that_was_not_sent_from_outside_is_the_programs_own(yard, text, status):
    job_id = yard.create(script("echo run; " + text))
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith(f"The replica master 0 exited with a non-zero status of {status}."), job
    assert yard.lines(job_id).count("run") == 1


def test_a_worker_that_ends_with_the_status_of_a_signal_fails_the_job(yard):
    job_id = yard.create(distributed(WAIT, "exit 143", workers=1))
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith("The replica worker 0 exited with a non-zero status of 143."), job
    assert not [text for _, text in yard.service_lines(job_id) if "was lost" in text]


# Fails with: signal_note() that notes nothing: the job failed.
@pytest.mark.long
def test_a_stop_from_outside_is_a_loss(yard):
    job_id = yard.create(script('echo run; trap "exit 143" TERM; ' + UNTIL_RELEASED))
    yard.wait_lines(job_id)
    container = yard.container(job_id)
    yard.engine.call("POST", f"/containers/{container}/stop")
    wait_until(lambda: yard.lines(job_id) == ["run", "run"], 30, "it is tried again")
    yard.release(job_id)
    yard.until(job_id, "SUCCEEDED")


# Fails with: docker_event_read() that takes every signal for a deadly one: the job was lost, and run anew.
@pytest.mark.long
def test_a_signal_from_outside_that_ends_no_program_makes_no_loss_of_its_exit(yard):
    job_id = yard.create(script('trap "exit 143" USR1; echo run; ' + UNTIL_RELEASED))
    yard.wait_lines(job_id)
    yard.engine.kill(yard.container(job_id), "SIGUSR1")
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith("The replica master 0 exited with a non-zero status of 143."), job
    assert yard.lines(job_id) == ["run"]


@pytest.mark.parametrize("code", [134, long(139)])
def test_a_crash_that_may_pass_is_tried_again_up_to_three_times(yard, code):
    job_id = yard.create(script(f"echo attempt; exit {code}"))
    job = yard.until(job_id, "FAILED", timeout=90)
    assert yard.lines(job_id) == ["attempt"] * 4
    assert f"{code - 128}(SIG" in job["errorMessage"] or str(code) in job["errorMessage"], job
    assert yard.containers(job_id) == []


@pytest.mark.long
def test_a_crash_that_passes_leaves_no_trace_in_the_verdict(yard):
    job_id = yard.create(script('trap "exit 134" USR1; echo attempt; ' + UNTIL_RELEASED + "; echo made it"))
    yard.wait_lines(job_id)
    yard.engine.kill(yard.container(job_id), "SIGUSR1")
    yard.release(job_id, after={"master-replica-0": 2})
    job = yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["attempt", "attempt", "made it"]
    assert "errorMessage" not in job


# A worker prints its name and the files of its own file system, then continues.
WHO_AM_I = ('echo "I am $(hostname | cut -d- -f3-5) $(hostname -i) with $(ls /tmp | grep -c visited)"; '
            'touch /tmp/visited; ' + WAIT)


@pytest.mark.long
@pytest.mark.parametrize("lose", ["kill", long("remove")])
def test_a_worker_that_is_lost_is_started_anew_under_its_name(yard, lose):
    job_id = yard.create(distributed(UNTIL_RELEASED, WHO_AM_I, workers=2))
    try:
        yard.until(job_id, "RUNNING")
        first = yard.wait_lines(job_id, "worker-replica-1")
        if lose == "kill":
            yard.engine.kill(yard.container(job_id, "worker-1"), "SIGTERM")
        else:
            yard.engine.remove(yard.container(job_id, "worker-1"))
        lines = yard.wait_lines(job_id, "worker-replica-1", 2)
        assert lines == [first[0], first[0]] and first[0].endswith("with 0")
        assert len(yard.wait_lines(job_id, "worker-replica-0")) == 1
        assert ("WARNING", "The replica worker 1 was lost and is restarted (1 of 5 times).") in yard.service_lines(job_id)
        assert yard.job(job_id)["state"] == "RUNNING"
        yard.release(job_id)
        yard.until(job_id, "SUCCEEDED")
    finally:
        yard.cancel(job_id)
    assert yard.containers(job_id) == []


@pytest.mark.long
def test_a_job_may_ask_to_begin_anew_when_a_worker_is_lost(yard):
    job_id = yard.create(distributed("echo attempt; " + UNTIL_RELEASED, WAIT, workers=1,
                                     scheduling={"resilientToWorkerRestart": True}))
    try:
        yard.until(job_id, "RUNNING")
        yard.engine.remove(yard.container(job_id, "worker-0"))
        yard.release(job_id, after={"master-replica-0": 2})
        yard.until(job_id, "SUCCEEDED")
        assert yard.lines(job_id) == ["attempt"] * 2
    finally:
        yard.cancel(job_id)


@pytest.mark.long
def test_the_masters_end_stops_replicas_that_ignore_sigterm(yard):
    job_id = yard.create(distributed(UNTIL_RELEASED + "; echo done", STUBBORN, STUBBORN, workers=1, ps_count=1))
    yard.release(job_id, after={"worker-replica-0": 1, "ps-replica-0": 1})
    job = yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["done"]
    assert yard.lines(job_id, "ps-replica-0") == ["stubborn"]
    assert "errorMessage" not in job
    assert yard.containers(job_id) == []


def test_a_worker_that_ends_well_ends_nothing(yard):
    job_id = yard.create(distributed(UNTIL_RELEASED + "; echo master done", "echo worker done", workers=1))
    worker = yard.container(job_id, "worker-0", "running", "exited")
    wait_until(lambda: not yard.engine.inspect(worker)["State"]["Running"], 30, "the worker has ended")
    assert yard.job(job_id)["state"] in ("PREPARING", "RUNNING")
    yard.release(job_id)
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id) == ["master done"]
    assert yard.lines(job_id, "worker-replica-0") == ["worker done"]


def test_a_command_that_does_not_exist_fails_the_job(yard):
    job = yard.run(dict(region="us-central1", masterConfig={"imageUri": "trainyard-test:1", "containerCommand": ["/no/such"]}),
                   expect="FAILED")
    assert "master 0" in job["errorMessage"] and "/no/such" in job["errorMessage"], job


@pytest.mark.long
def test_nothing_is_left_of_an_ended_job(yard):
    stubborn = {"worker-replica-0": 1, "worker-replica-1": 1}
    for job_input, others, state in ((script("true"), None, "SUCCEEDED"), (script("exit 1"), None, "FAILED"),
                                     (distributed(UNTIL_RELEASED, STUBBORN, workers=2), stubborn, "SUCCEEDED")):
        job_id = yard.create(job_input)
        if others:
            yard.release(job_id, after=others)
        yard.until(job_id, state)
        assert yard.containers(job_id) == []
    yard.engine.check_nothing_left(yard.read_instance())


def test_lines_after_the_masters_end_still_belong_to_the_job(yard):
    job_id = yard.create(distributed(UNTIL_RELEASED, 'trap "echo bye; exit 0" TERM; echo hi; ' + WAIT, workers=1))
    yard.release(job_id, after={"worker-replica-0": 1})
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id, "worker-replica-0") == ["hi", "bye"]
    entries = yard.entries(job_id)
    assert text_of(entries[-1]) == "Job completed successfully." and task_of(entries[-1]) == "service"


# Fails with: refusal_status() that takes each 500 for the engine's own fault: tried four times, in half a minute.
@pytest.mark.parametrize("change,words", [("USER nosuch", "unable to find user nosuch"),
                                          long("USER 99999999999", "uids and gids must be in range"),
                                          long("VOLUME /dev/null", "error reopening /dev/null"),
                                          long("VOLUME /bin/busybox", "cannot mount volume over existing file"),
                                          ("WORKDIR /etc/passwd", "/etc/passwd is not a directory")])
def test_what_the_engine_refuses_for_good_is_asked_for_once(yard, change, words):
    name = f"trainyard-refused:{uuid.uuid4().hex[:12]}"
    yard.engine.import_image(name, {}, [change])
    try:
        job_id = yard.create(script("echo never", image=name))
        message = yard.until(job_id, "FAILED")["errorMessage"]
        assert message.startswith("The replica master 0 could not be started: ") and words in message, message
        assert not [text for _, text in yard.service_lines(job_id) if "tried again" in text]
    finally:
        yard.engine.remove_image(name)
