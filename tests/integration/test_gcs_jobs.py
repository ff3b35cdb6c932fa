# SPDX-License-Identifier: Apache-2.0
"""Jobs for which Cloud Storage is mounted as files at /gcs."""
import shutil

import pytest

from support.daemon import distributed, script
from support.gcs import Bucket, mounts_below, needs_fuse, processes_of, submit_with_gcs, wait_all_gone
from support.wait import wait_until

COUNT = ("mkdir /gcs/jobs/count; i=0; until [ -e /gcs/jobs/stop ];"
         "do echo $i >/gcs/jobs/count/$i; i=$((i+1)); sleep 0.1; done; echo done $i")


def report(daemon, job):
    answer = daemon.get(f"/_trainyard/v1/projects/{daemon.project}/jobs/{job}/report")
    assert answer.status == 200, answer
    return answer.json


@needs_fuse
def test_replicas_share_files_and_objects(new_daemon):
    """The master reads uploaded objects and files that the worker has closed; the worker reads files that the master
    closes."""
    daemon = new_daemon("--offline", "--stop-grace", "2")
    daemon.start()
    bucket = Bucket(daemon, "jobs")
    bucket.put("in/data.txt", b"from outside")
    daemon.stop()
    job, other_user = submit_with_gcs(daemon, distributed(
        master='cat /gcs/jobs/in/data.txt; echo;'
               'until [ "$(cat /gcs/jobs/out/worker 2>/dev/null)" = "from worker" ]; do sleep 0.05; done;'
               'cat /gcs/jobs/out/worker; echo from master >/gcs/jobs/out/master; '
               'ls /gcs/jobs/out',
        worker='mkdir -p /gcs/jobs/out; echo from worker >/gcs/jobs/out/worker;'
               'until [ "$(cat /gcs/jobs/out/master 2>/dev/null)" = "from master" ]; do sleep 0.05; done',
        workers=1), script("su nobody -c 'id -u; echo x >/gcs/jobs/nobody'"))
    daemon.until(job, "SUCCEEDED")
    assert daemon.lines(job)[:2] == ["from outside", "from worker"]
    daemon.until(other_user, "SUCCEEDED")
    assert daemon.lines(other_user) == ["65534"]
    assert bucket.get("out/worker") == b"from worker\n" and bucket.get("out/master") == b"from master\n"
    assert bucket.get("nobody") == b"x\n"
    assert not [d for d in report(daemon, job)["differences"] if d["code"] == "gcs-missing"]
    other = daemon.create(script("ls -d /gcs || echo none"))  # its plan does not ask for /gcs
    daemon.until(other, "SUCCEEDED")
    assert "none" in daemon.lines(other)
    assert len(processes_of(daemon.state_dir)) == 1
    daemon.stop()
    # Fails with: is_noise() without "Setting TCP_" and "Failed to push"
    assert "http-complaint" not in daemon.log()
    wait_all_gone(daemon)


@pytest.mark.long
@needs_fuse
def test_files_outlive_the_daemon(new_daemon):
    """A container writes on while the daemon is killed and restarted. No write is lost, and afterwards no mount or process
    is left."""
    daemon = new_daemon("--offline", "--stop-grace", "2")
    job, = submit_with_gcs(daemon, script(COUNT))
    bucket = Bucket(daemon, "jobs")
    wait_until(lambda: len(bucket.names("count/")) > 3, 30, "it writes")
    first, = processes_of(daemon.state_dir)
    daemon.kill9()
    wait_until(lambda: not mounts_below(daemon.state_dir), 10, "only the container has it")
    assert processes_of(daemon.state_dir) == [first]
    daemon.start()
    count = len(bucket.names("count/"))
    wait_until(lambda: len(bucket.names("count/")) > count + 3, 30, "it goes on")
    daemon.restart()  # the mount stays, too, when the daemon is stopped regularly
    assert processes_of(daemon.state_dir) == [first]
    count = len(bucket.names("count/"))
    wait_until(lambda: len(bucket.names("count/")) > count + 3, 30, "it goes on")
    bucket.put("stop")
    daemon.until(job, "SUCCEEDED")
    last = daemon.lines(job)[-1]
    assert last == f"done {len(bucket.names('count/')) - 1}"  # one of the objects is the directory's own
    wait_all_gone(daemon)  # the mount ends together with its container if the daemon runs
    daemon.stop()


@pytest.mark.long
@needs_fuse
def test_a_new_job_after_a_restart_has_a_file_system_of_its_own(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "2")
    job, = submit_with_gcs(daemon, script(COUNT))
    bucket = Bucket(daemon, "jobs")
    wait_until(lambda: bucket.names("count/"), 30, "it writes")
    daemon.stop()
    second, = submit_with_gcs(daemon, script("echo x >/gcs/jobs/stop; test -e /gcs/jobs/count/0"))
    daemon.until(second, "SUCCEEDED")
    daemon.until(job, "SUCCEEDED")
    daemon.stop()
    wait_all_gone(daemon)


# Fails with: progress_look() that asks only while nothing moves (as it was): CANCELLING until all is stored, over a minute.
@needs_fuse
def test_a_job_that_stores_a_lot_is_cancelled_at_once(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "2")
    job, = submit_with_gcs(daemon, script("truncate -s 8G /gcs/jobs/big; sleep 600"))
    wait_until(lambda: [path for path in (daemon.state_dir / "uploads").glob("*") if path.stat().st_size > 1 << 20], 30,
               "it is being stored")
    daemon.cancel(job)
    daemon.until(job, "CANCELLED", timeout=10)
    wait_until(lambda: not list((daemon.state_dir / "uploads").iterdir()), 8, "nothing is stored any more")
    assert Bucket(daemon, "jobs").get("big") is None
    daemon.stop()


EMPTY = " /gcs is empty and read-only: a program that writes there fails."


# Fails with: replica_create() without .empty (as it was): the outputs are on the container's own disk, and the job SUCCEEDED.
def test_where_it_cannot_be_had_programs_that_write_fail_and_the_job_is_told(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "2", "--storage-endpoint", "http://127.0.0.1:9")
    job, root, other = submit_with_gcs(daemon, script("ls -A /gcs; mkdir -p /gcs/b && echo x >/gcs/b/model"),
                                       script("echo x >/gcs/model"), script("id -u; su nobody -c 'mkdir -p /gcs/b'"))
    for each in (job, root, other):
        daemon.until(each, "FAILED")
    assert daemon.lines(job) == ["mkdir: can't create directory '/gcs/b': Read-only file system"]
    assert daemon.lines(root)[-1].endswith("can't create /gcs/model: Read-only file system")
    text = ("Cloud Storage is not there as files at /gcs: with --storage-endpoint, objects are in another emulator." + EMPTY)
    assert ("WARNING", text) in daemon.service_lines(job)
    assert [d for d in report(daemon, job)["differences"] if d["code"] == "gcs-missing"] == [
        {"kind": "DONE_OTHERWISE", "code": "gcs-missing", "text": text}]
    assert processes_of(daemon.state_dir) == []


@needs_fuse
@pytest.mark.skipif(not shutil.which("unshare"), reason="there is no unshare")
def test_an_engine_that_does_not_see_the_daemons_mounts_is_noticed(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "2")
    command = daemon.command
    daemon.command = lambda: ["unshare", "--mount", "--propagation", "private", *command()]
    job, = submit_with_gcs(daemon, script("mkdir /gcs/b || echo none"))
    daemon.until(job, "SUCCEEDED")
    assert "none" in daemon.lines(job)
    assert [text for severity, text in daemon.service_lines(job) if severity == "WARNING"][-1] == (
        "Cloud Storage is not there as files at /gcs: "
        f"the engine does not see the mount at {daemon.state_dir}/mount/gcs." + EMPTY)
    daemon.stop()
    wait_all_gone(daemon)


@needs_fuse
def test_custom_jobs_have_it(yard):
    """CustomJobs of Vertex AI always ask for /gcs."""
    path = f"/v1/projects/{yard.project}/locations/us-central1/customJobs"
    command = ["sh", "-c", "test \"$(cat /gcs/custom/in)\" = x && echo y >/gcs/custom/out"]
    bucket = Bucket(yard, "custom")
    bucket.put("in", b"x")
    answer = yard.post(path, {"displayName": "x", "jobSpec": {"workerPoolSpecs": [
        {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1",
         "containerSpec": {"imageUri": "trainyard-test:1", "command": command}}]}})
    assert answer.status == 200, answer
    name = answer.json["name"]
    wait_until(lambda: yard.get("/v1/" + name).json["state"] in ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED"), 60)
    assert yard.get("/v1/" + name).json["state"] == "JOB_STATE_SUCCEEDED"
    assert bucket.get("out") == b"y\n"
