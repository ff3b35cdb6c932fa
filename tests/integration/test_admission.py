# SPDX-License-Identifier: Apache-2.0
"""Which jobs are admitted, in which order, and within which limits."""
import pytest

from support.daemon import UNTIL_RELEASED, distributed, one_replica, script
from support.marks import long
from support.wait import wait_until

GIB = 1 << 30
IMAGE = "trainyard-test:1"
REST = 'trap "exit 0" TERM; sleep 600 & wait'
SMALL, SMALL_CPUS, SMALL_BYTES = "e2-highcpu-2", 2, 2 * GIB
HUGE = "n1-standard-96"
OOM = "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL)"


@pytest.fixture(scope="module")
def host(engine):
    """CPUs and bytes of memory of the machine that runs the containers."""
    info = engine.call("GET", "/info")
    return info["NCPU"], info["MemTotal"]


def on_machine(text, machine):
    return script(text, scaleTier="CUSTOM", masterType=machine)


def limits(daemon, machine):
    """The limits with which a job's container was created, and the deviations in its log."""
    job_id = daemon.create(on_machine(REST, machine))
    config = daemon.engine.inspect(daemon.container(job_id))["HostConfig"]
    notices = [text for severity, text in daemon.service_lines(job_id) if severity == "NOTICE"]
    daemon.cancel(job_id)
    daemon.until(job_id, "CANCELLED")
    return tuple(config[name] for name in ("NanoCpus", "Memory", "MemorySwap", "ShmSize")), notices


def start(new_daemon, *options):
    """A daemon that has the host's limits as options."""
    daemon = new_daemon("--offline", "--stop-grace", "2", *options).start()
    wait_until(lambda: daemon.get("/healthz").json["engine"]["reachable"], 30)
    return daemon


def refusal(daemon, training_input):
    """The message with which the job is refused: in the answer, or in the job's error once it would be admitted."""
    answer = daemon.post(daemon.jobs_path, dict(jobId=daemon.new_id(), trainingInput=training_input))
    if answer.status != 200:
        return answer.error["message"]
    job = daemon.until(answer.json["jobId"], "FAILED")
    assert daemon.containers(job["jobId"]) == []
    return job["errorMessage"]


def test_a_machine_type_is_no_larger_than_the_host(new_daemon, host):
    daemon = start(new_daemon)
    cpus, memory = host
    bytes_most = memory // 10 * 9
    small, notices = limits(daemon, SMALL)
    small_bytes = min(SMALL_BYTES, bytes_most)
    assert small == (min(SMALL_CPUS, cpus) * 10**9, small_bytes, small_bytes, small_bytes // 2)
    if cpus >= SMALL_CPUS and bytes_most >= SMALL_BYTES:
        assert not any(SMALL in notice for notice in notices), notices
    if cpus >= 96 or bytes_most >= 360 * GIB:
        pytest.skip("a host as large as the largest machine type")
    huge, notices = limits(daemon, HUGE)
    assert huge == (cpus * 10**9, bytes_most, bytes_most, bytes_most // 2)
    assert len(notices) == 1 and notices[0].startswith("Unlike in the cloud: ") and HUGE in notices[0], notices


def test_the_clouds_sizes_are_kept_or_refused(new_daemon, host):
    cpus, memory = host
    if cpus < SMALL_CPUS or memory < SMALL_BYTES or cpus >= 96:
        pytest.skip("the host holds no machine type, or each")
    daemon = start(new_daemon, "--machine-fit", "cloud")
    small, notices = limits(daemon, SMALL)
    assert small == (SMALL_CPUS * 10**9, SMALL_BYTES, SMALL_BYTES, SMALL_BYTES // 2)
    assert not any(SMALL in notice for notice in notices), notices
    words = refusal(daemon, on_machine(REST, HUGE))
    assert "96 vCPUs" in words and str(cpus) in words, words


@pytest.mark.long
def test_no_limits_are_set_when_none_are_wanted(new_daemon):
    daemon = start(new_daemon, "--machine-fit", "none")
    (nano_cpus, memory, swap, _), notices = limits(daemon, HUGE)
    assert (nano_cpus, memory, swap) == (0, 0, 0)
    assert len(notices) == 1 and notices[0].startswith("Unlike in the cloud: "), notices


def test_a_job_of_more_containers_than_may_run_is_refused(new_daemon):
    daemon = start(new_daemon, "--max-containers", "3")
    words = refusal(daemon, distributed(REST, REST, workers=3))
    assert "4 replicas" in words and "at most 3" in words, words
    daemon.run(distributed("true", REST, workers=2))


@pytest.mark.long
def test_memory_running_out_is_told_as_such(new_daemon, host):
    with open("/proc/meminfo") as lines:
        available = {line.split(":")[0]: int(line.split()[1]) << 10 for line in lines}["MemAvailable"]
    if min(available, host[1]) < 2 * SMALL_BYTES:
        pytest.skip("too little memory for a machine that uses up its own")
    daemon = start(new_daemon)
    job = daemon.run(on_machine("tail /dev/zero", SMALL), expect="FAILED", timeout=180)
    assert job["errorMessage"].startswith(OOM), job


@pytest.mark.long
@pytest.mark.parametrize("tier,count", [("STANDARD_1", 8), long("PREMIUM_1", 31)])
def test_a_whole_tier_runs_on_a_small_machine(new_daemon, tier, count):
    daemon = start(new_daemon)
    # The master ends when the test releases it. By then the test has seen all other replicas running.
    text = f"case $(hostname) in *master*) {UNTIL_RELEASED};; *) {REST};; esac"
    job_id = daemon.create(one_replica("sh", "-c", text, image=IMAGE, scaleTier=tier))
    daemon.until(job_id, "RUNNING", timeout=120)
    found = daemon.containers(job_id)
    assert [c["State"] for c in found] == ["running"] * count, found
    daemon.release(job_id)
    daemon.until(job_id, "SUCCEEDED", timeout=120)
    assert daemon.containers(job_id) == []


@pytest.mark.long
def test_jobs_that_wait_go_by_priority(new_daemon):
    daemon = start(new_daemon, "--max-active-jobs", "1")
    first = daemon.create(script(REST))
    daemon.until(first, "RUNNING")
    low, high = (daemon.create(script("true", scheduling={"priority": priority})) for priority in (1, 5))
    assert daemon.job(low)["state"] == daemon.job(high)["state"] == "QUEUED"
    daemon.cancel(first)
    ended, later, last = (daemon.until(job_id, "SUCCEEDED", "CANCELLED") for job_id in (first, high, low))
    assert ended["endTime"] <= later["startTime"] <= later["endTime"] <= last["startTime"]


@pytest.mark.long
def test_an_assignment_outlives_the_daemon(new_daemon, host):
    """An admitted job keeps its limits in a later attempt, even if the next daemon has other options."""
    daemon = start(new_daemon)
    job_id = daemon.create(distributed('trap "exit 134" USR1; echo up; sleep 600 & wait'))
    daemon.wait_lines(job_id)
    before = daemon.engine.inspect(daemon.container(job_id))
    daemon.stop()
    daemon.options = (*daemon.options, "--machine-fit", "none")
    daemon.start()
    daemon.until(job_id, "RUNNING")
    daemon.engine.kill(before["Id"], "SIGUSR1")

    def again():
        found = daemon.container(job_id)
        return found if found != before["Id"] else None
    after = daemon.engine.inspect(wait_until(again, 30))
    for name in ("NanoCpus", "Memory", "ShmSize"):
        assert after["HostConfig"][name] == before["HostConfig"][name] != 0, name
    daemon.cancel(job_id)
    daemon.until(job_id, "CANCELLED")
