# SPDX-License-Identifier: Apache-2.0
"""A user changes trainyard's containers with docker: each job ends in the right state, and its log says what happened.

pytest tests/fault/test_behind_our_back.py --cycles 10 # all of it ten times"""
import pytest

from support.daemon import UNTIL_RELEASED, distributed, script
from support.engine import IMAGE, query
from support.engine_proxy import EngineProxy, Fault
from support.marks import long
from support.wait import wait_until

pytestmark = pytest.mark.each_cycle
SAY = "i=0; until [ -e /released ]; do echo line $i; i=$((i+1)); sleep 0.05; done; echo $i lines"
LONG = "echo up; while :; do sleep 0.1; done"


def post(engine, container, action):
    engine.call("POST", f"/containers/{container}/{action}")


def says(yard, job_id, words):
    wait_until(lambda: any(words in text for _, text in yard.service_lines(job_id)), 60, f"the log says {words!r}")


def check_counted(lines):
    assert lines == [f"line {i}" for i in range(len(lines) - 1)] + [f"{len(lines) - 1} lines"]


# Fails with: observe_pause() that does nothing.
def test_a_paused_replica_is_told_and_goes_on(yard):
    job_id = yard.create(script(SAY))
    container = yard.container(job_id)
    yard.wait_lines(job_id, count=3)
    yard.engine.pause(container)
    says(yard, job_id, "The container of the replica master 0 was paused from outside")
    assert yard.job(job_id)["state"] == "RUNNING"
    post(yard.engine, container, "unpause")
    says(yard, job_id, "The container of the replica master 0 goes on.")
    yard.release(job_id)
    yard.until(job_id, "SUCCEEDED")
    check_counted(yard.lines(job_id))
    assert [severity for severity, text in yard.service_lines(job_id) if "paused" in text] == ["WARNING"]


# Fails with: fold_listed() without observe_pause().
@pytest.mark.long
def test_a_pause_while_the_daemon_was_away_is_told_by_the_next_one(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    job_id = daemon.create(script(SAY))
    container = daemon.container(job_id)
    daemon.wait_lines(job_id, count=3)
    daemon.kill9()
    daemon.engine.pause(container)
    daemon.start()
    says(daemon, job_id, "was paused from outside")
    daemon.cancel(job_id)  # the engine resumes the container in order to stop it
    daemon.until(job_id, "CANCELLED")
    daemon.engine.check_nothing_left(daemon.read_instance())


# Fails with: has_its_name() that returns true.
@pytest.mark.long
def test_a_renamed_container_is_found_again_and_removed(yard):
    cancelled, good = yard.create(script(LONG)), yard.create(script(SAY))
    containers = [yard.container(job_id) for job_id in (cancelled, good)]
    for job_id in (cancelled, good):
        yard.wait_lines(job_id)
    names = [yard.engine.inspect(c)["Name"] for c in containers]
    for index, container in enumerate(containers):
        post(yard.engine, container, f"rename?name=mine-{cancelled}-{index}")
    wait_until(lambda: [yard.engine.inspect(c)["Name"] for c in containers] == names, 30, "they have their names again")
    yard.cancel(cancelled)
    yard.until(cancelled, "CANCELLED")
    yard.release(good)
    yard.until(good, "SUCCEEDED")
    check_counted(yard.lines(good))
    assert yard.containers(cancelled) == yard.containers(good) == []


# Fails with: observe_exit() that takes every exit which the daemon did not order for a loss.
@pytest.mark.parametrize("signal, status", [("SIGKILL", "9(SIGKILL)"), long("SIGUSR1", "10(SIGUSR1)")])
def test_a_master_that_is_killed_from_outside_fails_the_job_with_its_signal(yard, signal, status):
    job_id = yard.create(script(LONG))
    container = yard.container(job_id)
    yard.wait_lines(job_id)
    yard.engine.kill(container, signal)
    job = yard.until(job_id, "FAILED")
    assert f"The replica master 0 exited with a non-zero status of {status}. " in job["errorMessage"], job
    assert yard.lines(job_id) == ["up"] and yard.containers(job_id) == []


# Fails with: observe_exit() that takes SIGTERM's status for an exit like any other.
@pytest.mark.long
def test_a_replica_that_is_stopped_from_outside_was_lost_and_begins_again(yard):
    """An engine does this to its containers before it stops itself."""
    job_id = yard.create(script(LONG))
    container = yard.container(job_id)
    yard.wait_lines(job_id)
    post(yard.engine, container, "stop?t=5")
    says(yard, job_id, "The replica master 0 was lost: its container was stopped or removed from outside. "
                       "The job is tried again (attempt 2).")
    wait_until(lambda: yard.lines(job_id) == ["up", "up"], 60, "it runs again")
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED")
    assert yard.containers(job_id) == []


# Fails with: observe_removal() that takes no replica for lost.
def test_a_removed_worker_comes_back_alone_and_a_removed_master_as_well(yard):
    job_id = yard.create(distributed(f"echo up; {UNTIL_RELEASED}; echo done", LONG, workers=1))
    yard.until(job_id, "RUNNING")  # a loss before RUNNING would end the whole attempt
    for replica, task in (("worker-0", "worker-replica-0"), ("master-0", "master-replica-0")):
        container = yard.container(job_id, replica)
        yard.wait_lines(job_id, task)
        yard.engine.remove(container)
        wait_until(lambda: yard.lines(job_id, task).count("up") == 2, 60, f"{replica} is there again")
    says(yard, job_id, "The replica worker 0 was lost and is restarted (1 of 5 times).")
    says(yard, job_id, "The replica master 0 was lost and is restarted (1 of 5 times).")
    yard.release(job_id)
    yard.until(job_id, "SUCCEEDED")
    assert yard.lines(job_id)[-1] == "done" and yard.containers(job_id) == []


# Fails with: pooled_network_remove() that asks for no removal.
def test_a_replica_without_its_network_runs_on_and_its_network_goes_with_the_job(yard):
    job_id = yard.create(script(SAY))
    container = yard.container(job_id)
    yard.wait_lines(job_id)
    network = next(iter(yard.engine.inspect(container)["NetworkSettings"]["Networks"].values()))["NetworkID"]
    yard.engine.call("POST", f"/networks/{network}/disconnect", {"Container": container, "Force": True})
    yard.release(job_id, after={"master-replica-0": len(yard.lines(job_id)) + 5})
    yard.until(job_id, "SUCCEEDED")
    check_counted(yard.lines(job_id))
    assert yard.containers(job_id) == []
    label = f"trainyard.instance={yard.read_instance()}"
    wait_until(lambda: network not in [each["Id"] for each in yard.engine.networks(label)], 20, "its network goes")


# Fails with: replica_refuse() that forgets the text.
def test_an_image_that_goes_between_its_look_and_the_container_is_named(engine, make_daemon):
    """The engine refuses the create; the user is told the image's name and the reason."""
    copy = f"{IMAGE.split(':')[0]}:goes"
    proxy = EngineProxy(engine)
    daemon = make_daemon("--offline", "--stop-grace", 1)
    daemon.engine = proxy
    with daemon:
        engine.call("POST", f"/images/{IMAGE}/tag?" + query(repo=copy.split(":")[0], tag="goes"))
        # A create without a name only checks whether the engine has the daemon's files.
        creates = "/containers/create.*name="
        proxy.watch(Fault("refuse", "POST", creates, code=404, message=f"No such image: {copy}"))
        job = daemon.run(script("echo never", image=copy), "FAILED")
        assert f"No such image: {copy}" in job["errorMessage"] and len(proxy.seen("POST", creates)) == 1
        engine.remove_image(copy)
        assert copy in daemon.run(script("echo never", image=copy), "FAILED")["errorMessage"]
        engine.check_nothing_left(daemon.read_instance())
    daemon.engine = engine
    proxy.close()
