# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the daemon at awkward moments: nothing that was acknowledged is lost, nothing is left behind.

    pytest tests/crash/test_crash.py --cycles 10 --seed 20     # all of it ten times; what is drawn, by seeds from 21 on"""
import random
import time

import pytest

from support.daemon import UNTIL_RELEASED, distributed, script, with_gpus
from support.engine import EngineError
from support.marks import long
from support.wait import wait_until

pytestmark = pytest.mark.each_cycle
CHATTER = "i=0; until [ -e /released ]; do echo line $i; i=$((i+1)); usleep 10000; done; echo $i lines"
PART = 240 * 1024  # size of one part of a longer line
LONG = 'for i in 1 2 3; do head -c 240000 /dev/zero | tr "\\0" $i; done'
STUBBORN = 'trap "" TERM; echo stubborn; while :; do sleep 0.1; done'


# Fails with: is_reached() that takes the 100 ms after the last line of an earlier stream for known.
def test_a_running_job_is_adopted_and_each_line_is_kept_once(new_daemon):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(distributed(CHATTER, CHATTER, workers=1))
    for _ in range(3):
        daemon.wait_lines(job_id, count=len(daemon.lines(job_id)) + 40)
        daemon.kill9()
        daemon.start()
    daemon.release(job_id, "worker-0")
    wait_until(lambda: daemon.lines(job_id, "worker-replica-0")[-1].endswith(" lines"), 30, "the worker has ended")
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED")
    for task in ("master-replica-0", "worker-replica-0"):
        lines = daemon.lines(job_id, task)
        assert lines == [f"line {i}" for i in range(len(lines) - 1)] + [f"{len(lines) - 1} lines"], task
    assert daemon.containers(job_id) == []
    positions = [(e["timestamp"], e["insertId"]) for e in daemon.entries(job_id)]
    assert positions == sorted(set(positions))


# Fails with: line_offer() of a part without a position, as it was, or decide_following() that does not hand on how many were
# stored: those came again.
def test_each_part_of_a_long_line_is_kept_once(new_daemon):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(script(f"{LONG}; {UNTIL_RELEASED}; echo end"))
    for _ in range(2):
        daemon.wait_lines(job_id, count=2)
        daemon.kill9()
        daemon.start()
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED")
    parts = daemon.lines(job_id)
    assert [len(part) for part in parts] == [PART, PART, 3 * 240_000 + len("end") - 2 * PART]
    is_whole = "".join(parts) == "".join(i * 240_000 for i in "123") + "end"
    assert is_whole  # both programs would read the same pipe


# Fails with: observe_exit() that takes no exit code from the first listing.
def test_a_job_that_ends_while_the_daemon_is_dead_is_judged_at_the_next_start(new_daemon):
    daemon = new_daemon("--offline").start()
    good, bad = (daemon.create(script(f"{UNTIL_RELEASED}; {end}")) for end in ("echo good", "echo bad >&2; exit 4"))
    containers = [daemon.container(good), daemon.container(bad)]
    daemon.kill9()
    daemon.release(good)
    daemon.release(bad)
    wait_until(lambda: not any(daemon.engine.inspect(c)["State"]["Running"] for c in containers), 30)
    daemon.start()
    daemon.until(good, "SUCCEEDED")
    assert daemon.lines(good) == ["good"]
    assert "status of 4" in daemon.until(bad, "FAILED")["errorMessage"]
    assert daemon.lines(bad) == ["bad"]


# Exit codes as of sys.exit(-1), and of a program that kills itself. Fails with: kill_is_loss() that asks for no witness: they
# began again.
def test_a_program_that_ends_as_if_it_was_killed_while_the_daemon_is_dead_has_its_own_exit_code(new_daemon):
    daemon = new_daemon("--offline").start()
    jobs = {code: daemon.create(script(f"{UNTIL_RELEASED}; exit {code}")) for code in (255, 137)}
    containers = [daemon.container(job_id) for job_id in jobs.values()]
    daemon.kill9()
    for job_id in jobs.values():
        daemon.release(job_id)
    wait_until(lambda: not any(daemon.engine.inspect(c)["State"]["Running"] for c in containers), 30)
    daemon.start()
    assert "status of 255" in daemon.until(jobs[255], "FAILED")["errorMessage"]
    assert "status of 137." in daemon.until(jobs[137], "FAILED")["errorMessage"]
    assert all(daemon.containers(job_id) == [] for job_id in jobs.values())


# Fails with: jobs_load() that leaves out jobs that are PREPARING.
@pytest.mark.parametrize("pause_ms", [long(0), long(30), 80, long(150), 250, long(400)])
def test_a_kill_while_replicas_are_started_loses_no_job(new_daemon, pause_ms):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(distributed(f"{UNTIL_RELEASED}; echo done", "echo here", "echo here", workers=2, ps_count=1))
    moment = wait_until(lambda: daemon.job(job_id)["state"] != "QUEUED" or pause_ms == 0, 20)
    assert moment
    # The test varies the time since the daemon's start, so here it does wait for a time.
    wait_for_ms(pause_ms)
    daemon.kill9()
    daemon.start()
    daemon.until(job_id, "RUNNING")
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED")
    assert daemon.lines(job_id) == ["done"]
    assert daemon.containers(job_id) == []


# Fails with: fold_listed() that takes the removal of all in the first listing for asked, and remove_orphans() that removes none.
@pytest.mark.parametrize("pause_ms", [long(0), long(40), 120, long(250)])
def test_a_kill_while_a_job_is_torn_down_leaves_nothing(new_daemon, pause_ms):
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    job_id = daemon.create(distributed(f"{UNTIL_RELEASED}; echo done", STUBBORN, workers=3))
    master = daemon.container(job_id)
    daemon.release(job_id, after={f"worker-replica-{i}": 1 for i in range(3)})
    wait_until(lambda: not running(daemon, master), 30)
    wait_for_ms(pause_ms)
    daemon.kill9()
    daemon.start()
    daemon.until(job_id, "SUCCEEDED")
    assert daemon.lines(job_id) == ["done"]
    daemon.engine.check_nothing_left(daemon.read_instance())


# Fails with: jobs_load() that leaves out jobs that are CANCELLING.
def test_a_cancel_that_was_acknowledged_is_carried_out_after_a_kill(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    job_id = daemon.create(script(STUBBORN))
    daemon.until(job_id, "RUNNING")
    daemon.cancel(job_id)
    daemon.kill9()
    daemon.start()
    daemon.until(job_id, "CANCELLED")
    daemon.engine.check_nothing_left(daemon.read_instance())


# Fails with: changes_commit() that answers before it commits.
def test_every_acknowledged_job_survives_any_kill(new_daemon, seed):
    """Jobs are created as fast as the daemon answers, with kills in between; each job ends, and none is missing."""
    daemon = new_daemon("--offline", "--max-active-jobs", "4").start()
    dice, created = random.Random(seed), []
    for _ in range(4):
        for _ in range(dice.randint(1, 4)):
            created.append(daemon.create(script("echo once")))
        daemon.kill9()
        daemon.start()
    for job_id in created:
        daemon.until(job_id, "SUCCEEDED", timeout=120)
        assert daemon.lines(job_id) == ["once"]
    assert sorted(j["jobId"] for j in daemon.get(daemon.jobs_path, pageSize=100).json["jobs"]) == sorted(created)
    daemon.engine.check_nothing_left(daemon.read_instance())


# ---- GPUs, and replicas that somebody removes ----

ALL_GPUS = 4
ROLES = ("master", "worker", "ps", "evaluator")
# What the master does when it is released, and the job's final state. Each replica has one GPU, except in the last kind.
ENDS = {"good": ("echo good", "SUCCEEDED"), "pair": ("echo good", "SUCCEEDED"), "bad": ("exit 4", "FAILED"),
        "later": ("echo good", "SUCCEEDED"), "cpu": ("echo good", "SUCCEEDED")}


def gpu_job(kind):
    end = f"echo attempt; {UNTIL_RELEASED}; {ENDS[kind][0]}"
    if kind in ("pair", "cpu"):
        training_input = distributed(end, "while :; do sleep 0.1; done", workers=1)
        return training_input if kind == "cpu" else with_gpus(with_gpus(training_input, 1, "worker"), 1)
    return with_gpus(script(end), 1)


def replica_of(container):
    labels = container["Labels"]
    return labels["trainyard.job_id"], labels["trainyard.replica"]


def devices_of(daemon, container):
    requests = daemon.engine.inspect(container["Id"])["HostConfig"]["DeviceRequests"] or []
    return sorted(device for request in requests for device in request["DeviceIDs"])


def held(daemon):
    """The replicas of the daemon's containers in the engine, in any state, with their devices. Fails if two have the same
    device."""
    found = {}
    for container in daemon.containers():
        try:
            found[replica_of(container)] = devices_of(daemon, container)
        except EngineError as error:
            assert error.status == 404, error  # removed meanwhile by a running daemon
    devices = sum(found.values(), [])
    assert len(devices) == len(set(devices)), found
    return found


def leased(daemon):
    """The replicas that have devices according to the daemon's database."""
    found = {}
    for job_id, role, replica, device in daemon.query_state(
            "SELECT job_id, role, replica, device FROM lease JOIN job ON job.id = lease.job ORDER BY device"):
        found.setdefault((job_id, f"{ROLES[role]}-{replica}"), []).append(device)
    return found


def holders(daemon):
    """The replicas of held() that have devices."""
    return {replica: devices for replica, devices in held(daemon).items() if devices}


def remove_one(daemon, job_id, replica):
    """Removes the container; returns whether there was one."""
    for container in daemon.containers(job_id):
        if replica_of(container) == (job_id, replica):
            try:
                daemon.engine.remove(container["Id"])
                return True
            except EngineError as error:
                assert error.status in (404, 409), error  # the killed daemon had already asked the engine to remove it
    return False


# Fails with: a scheduler that begins without room_leases_load().
@pytest.mark.each_cycle(2)
def test_no_gpu_is_held_twice_or_kept_by_nobody_whatever_is_killed_and_removed(new_daemon, gpu_engine, seed):
    dice = random.Random(seed)
    daemon = new_daemon("--offline", "--stop-grace", "1", "--gpus", str(ALL_GPUS), "--accelerators", "require",
                        engine=gpu_engine).start()
    wait_until(lambda: daemon.get("/healthz").json["engine"]["reachable"], 30)
    cancelled = daemon.create(gpu_job("good"))
    jobs = {kind: daemon.create(gpu_job(kind)) for kind in ENDS}  # the jobs want six GPUs, so two jobs wait
    removed = 0
    for victims in ((("pair", "worker-0"),), (("good", "master-0"), ("cpu", "worker-0")), (("pair", "master-0"),)):
        wait_for_ms(dice.randint(0, 600))
        daemon.kill9()
        before = holders(daemon)
        assert before.items() <= leased(daemon).items(), "a container has a device that nobody wrote down"
        removed += sum(remove_one(daemon, jobs[kind], replica) for kind, replica in victims)
        daemon.start()
        wait_for_ms(dice.randint(0, 300))
        daemon.kill9()  # the kill comes while it replaces the removed containers
        assert holders(daemon).items() <= leased(daemon).items()
        daemon.start()
        wait_until(lambda: holders(daemon) == leased(daemon), 60, "what is written down is what is there")
        assert before.items() <= holders(daemon).items(), "a replica that was there lost its devices"
    assert removed >= 2, "nothing was there to be removed"
    daemon.cancel(cancelled)
    daemon.kill9()
    daemon.start()
    daemon.until(cancelled, "CANCELLED")  # its GPU is then given to a waiting job
    for kind in ("bad", "pair", "good", "cpu", "later"):
        daemon.release(jobs[kind])
        job = daemon.until(jobs[kind], ENDS[kind][1], timeout=120)
        assert ("status of 4" in job.get("errorMessage", "")) == (kind == "bad"), job
    assert daemon.query_state("SELECT * FROM lease") == []
    daemon.engine.check_nothing_left(daemon.read_instance())
    daemon.run(with_gpus(script("true"), ALL_GPUS))


def running(daemon, container):
    try:
        return daemon.engine.inspect(container)["State"]["Running"]
    except EngineError:  # it was removed already
        return False


def wait_for_ms(pause_ms):
    time.sleep(pause_ms / 1000)
