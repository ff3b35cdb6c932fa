# SPDX-License-Identifier: Apache-2.0
"""Job networks on another machine: the container of a tunnel forwards connections to storage and metadata."""
import pathlib
import shutil
import subprocess

import pytest
from support.daemon import UNTIL_RELEASED, distributed, one_replica, program, script
from support.engine import RUNTIME, ensure_runtime_images
from support.forms import Beside
from support.tuning import tuning_input
from support.tunnels import CALL_WORKER, METADATA, SAYS, TAKE_CALL, said_it_all, tunnel_of, tunnels
from support.wait import wait_until

pytestmark = [pytest.mark.long,
              pytest.mark.skipif(not shutil.which("openssl") or not shutil.which("ip"), reason="no openssl, or no ip, in PATH")]

REPLAY = (pathlib.Path(__file__).parent / "tensorflow_replay.py").read_text()
MEGABYTES = 24


@pytest.fixture
def daemon(far, new_daemon, monkeypatch):
    for name, value in far.variables.items():
        monkeypatch.setenv(name, value)
    return new_daemon("--offline", engine=far).start()


def test_each_replica_reaches_storage_and_metadata_as_itself(daemon):
    job = daemon.run(distributed(CALL_WORKER + SAYS, TAKE_CALL + SAYS, workers=1))
    lines = [daemon.lines(job["jobId"], task) for task in ("master-replica-0", "worker-replica-0")]
    assert lines[0].pop(0) == "called", (lines, daemon.log())
    assert all(map(said_it_all, lines)) and lines[0] != lines[1], (lines, daemon.log())
    stored = daemon.get("/storage/v1/b/far/o").json["items"]
    assert len(stored) == 2, stored


def test_storage_answers_by_its_own_names_and_with_tls(daemon, engine):
    ensure_runtime_images(engine)
    daemon.engine.call("POST", "/images/load", engine.call("GET", f"/images/{RUNTIME}/get"), "application/x-tar")
    job = daemon.run(one_replica("python3", "-c", REPLAY, "flow", image=RUNTIME))
    assert daemon.lines(job["jobId"])[:3] == ["write 200 8", "write again 200 14", "write nothing 200 0"], daemon.log()
    assert daemon.lines(job["jobId"])[-1] == "metadata 404"


def test_much_is_carried_and_by_many_connections(daemon):
    put = ("wget -q -O /dev/null --header 'Content-Type: text/plain' --post-file /tmp/much "
           "\"$STORAGE_EMULATOR_HOST/upload/storage/v1/b/far/o?uploadType=media&name=much\"")
    get = "wget -q -O - \"$STORAGE_EMULATOR_HOST/storage/v1/b/far/o/much?alt=media\" | md5sum"
    job = daemon.run(script(f"base64 /dev/urandom | head -c {MEGABYTES << 20} > /tmp/much; md5sum < /tmp/much; {put}; {get}; "
                            f"for i in $(seq 40); do {METADATA}/instance/id > /tmp/id$i & done; wait; cat /tmp/id* | wc -c; "
                            f"{METADATA}/instance/id | wc -c"))
    sent, got, all_ids, one_id = daemon.lines(job["jobId"])
    assert sent == got and int(all_ids) == 40 * int(one_id) > 0


def test_metrics_of_trials_arrive(daemon):
    job = daemon.create(tuning_input(maxTrials=1))
    done = daemon.until(job, "SUCCEEDED", "FAILED")
    assert "objectiveValue" in done["trainingOutput"]["trials"][0]["finalMetric"], done


def test_a_daemon_that_died_takes_its_jobs_over(daemon):
    job = daemon.create(script(f"{SAYS}; {UNTIL_RELEASED}; {SAYS}"))
    daemon.wait_lines(job, count=3)
    daemon.kill9()
    wait_until(lambda: tunnels(daemon, "exited"), 30, "the tunnel is closed")
    daemon.start()
    tunnel_of(daemon)
    daemon.until(job, "RUNNING")
    daemon.release(job)
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    lines = daemon.lines(job)
    assert said_it_all(lines[:3]) and said_it_all(lines[3:]), (lines, daemon.log())


def test_another_daemon_of_the_instance_waits_for_the_end_of_the_first(daemon, tmp_path):
    """The other daemon has a copy of the state and is in another network namespace, as if on another machine. Fails with:
    elsewhere_look() that looks at nothing; docker_sweep() without elsewhere_check()."""
    job = daemon.create(script(f"echo begun; {UNTIL_RELEASED}; {SAYS}"))
    daemon.wait_lines(job)
    before = tunnel_of(daemon)["Id"]
    other = Beside(tmp_path / "other", daemon.engine, "--offline", project=daemon.project)
    shutil.copytree(daemon.state_dir, other.state_dir, ignore=shutil.ignore_patterns("address", "*.socket"))
    cleaned = subprocess.run([*other.prefix, program(), "clean", "--instance", daemon.read_instance(), "--state-dir",
                              tmp_path / "none", "--engine", daemon.engine.host], capture_output=True, text=True, timeout=60)
    assert cleaned.returncode == 1 and "another daemon of instance" in cleaned.stderr, cleaned
    with other:
        wait_until(lambda: "another daemon of instance" in other.log(), 30, other.log)
        assert daemon.job(job)["state"] == "RUNNING" and tunnel_of(daemon)["Id"] == before
        daemon.stop()
        other.until(job, "RUNNING")
        wait_until(lambda: "engine-up" in other.log(), 30, other.log)
        wait_until(lambda: tunnel_of(other)["Id"] != before, 30, "a tunnel of its own")
        other.release(job)
        assert other.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", other.log()
        assert said_it_all(other.lines(job)), (other.lines(job), other.log())


def test_a_tunnel_that_is_killed_is_made_anew(daemon):
    job = daemon.create(script(f"echo begun; {UNTIL_RELEASED}; {SAYS}"))
    daemon.wait_lines(job)
    before = tunnel_of(daemon)["Id"]
    daemon.engine.kill(before)
    wait_until(lambda: [one for one in tunnels(daemon, "running") if one["Id"] != before], 30, "another tunnel")
    daemon.release(job)
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED"
    assert said_it_all(daemon.lines(job)), daemon.log()


def test_a_job_cannot_speak_for_the_tunnel(daemon):
    """Whatever bytes a job sends, they are data for storage; no other port is open."""
    frames = r"\001\000\000\010\000\000\000\000tymux\000\000\001\007\000\000\000\000\000\000\001"
    host = "$(echo $STORAGE_EMULATOR_HOST | sed 's,.*//,,; s,:.*,,')"
    job = daemon.run(script(f"for port in 80 443; do printf '{frames}' | timeout 10 nc {host} $port > /dev/null; done; "
                            f"for port in 22 81 2375; do nc -w 5 {host} $port < /dev/null 2> /dev/null && echo open $port; done; {SAYS}"))
    lines = daemon.lines(job["jobId"])
    assert said_it_all(lines) and len(lines) == 3, (lines, daemon.log())
    assert "tunnel-broken" not in daemon.log()


def test_nothing_is_left(daemon, far):
    instance = daemon.read_instance()
    job = daemon.create(script(f"echo begun; {UNTIL_RELEASED}"))
    daemon.wait_lines(job)
    daemon.kill9()
    assert far.has_image(f"trainyard-tunnel:{instance}") and len(far.leftovers(instance)) == 3
    subprocess.run([program(), "clean", "--instance", instance], check=True, capture_output=True, timeout=120)
    assert far.leftovers(instance) == [] and not far.has_image(f"trainyard-tunnel:{instance}")
    daemon.start()
    daemon.until(job, "FAILED", "SUCCEEDED", "RUNNING")
    daemon.cancel(job)
    daemon.until(job, "CANCELLED", "FAILED")
    far.check_nothing_left(instance)
