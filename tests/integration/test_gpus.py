# SPDX-License-Identifier: Apache-2.0
"""Each GPU is used by one replica at a time, and is free again afterwards. The tests' engine accepts requests for any GPU. A
hook that it runs before such a container, and the container's environment, show which ones were requested."""
import itertools
import random

import pytest

from support.daemon import distributed, script, with_gpus
from support.forms import ContainedThere
from support.gpus import SAY, Watch, gpu_job, race
from support.marks import long
from support.wait import wait_until

GPUS = [str(i) for i in range(8)]
REST = SAY + '; trap "exit 0" TERM; sleep 600 & wait'
A100 = "NVIDIA_TESLA_A100"


@pytest.fixture
def start(new_daemon, gpu_engine):
    """Starts daemons that have the host's GPUs as options."""
    def make(*options):
        daemon = new_daemon("--offline", "--stop-grace", "1", *options, engine=gpu_engine).start()
        wait_until(lambda: daemon.get("/healthz").json["engine"]["reachable"], 30)
        return daemon
    return make


def devices(daemon, job_id, task="master-replica-0"):
    """Waits for a replica that runs SAY, and returns its devices."""
    def said():
        for line in daemon.lines(job_id, task):
            if line and line.startswith("devices"):
                return line.split(" ", 1)[1:]
        return None
    seen = wait_until(said, 60, f"{task} of {job_id} says its devices")[0]
    return seen if seen == "void" else seen.split(",")


def notices(daemon, job_id):
    return [text for severity, text in daemon.service_lines(job_id) if severity == "NOTICE"]


# ---- how many ----

LEGACY = {"standard_gpu": 1, "complex_model_m_gpu": 4, "complex_model_l_gpu": 8, "standard_p100": 1,
          "complex_model_m_p100": 4, "standard_v100": 1, "large_model_v100": 1, "complex_model_m_v100": 4,
          "complex_model_l_v100": 8}


@pytest.mark.long
def test_each_shape_gets_its_number_of_gpus(start):
    daemon = start("--gpus", "8", "--accelerators", "require")
    shapes = [("BASIC_GPU", 1, script(SAY, scaleTier="BASIC_GPU"))]
    shapes += [(machine, count, script(SAY, scaleTier="CUSTOM", masterType=machine))
               for machine, count in LEGACY.items()]
    shapes += [(machine, count, with_gpus(script(SAY), count, accelerator=A100, machine=machine))
               for count in (1, 2, 4, 8) for machine in [f"a2-highgpu-{count}g"]]
    jobs = [(daemon.create(training_input), name, count) for name, count, training_input in shapes]
    for job_id, name, count in jobs:
        daemon.until(job_id, "SUCCEEDED", timeout=120)
        seen = devices(daemon, job_id)
        assert len(seen) == len(set(seen)) == count and set(seen) <= set(GPUS), (name, seen)


def test_replicas_without_gpus_see_none(start):
    daemon = start("--gpus", "8", "--accelerators", "require")
    alone = daemon.create(script(SAY))
    mixed = daemon.create(with_gpus(distributed(REST, REST, REST, workers=2, ps_count=1), 2, "worker"))
    assert devices(daemon, alone) == "void"
    assert devices(daemon, mixed) == devices(daemon, mixed, "ps-replica-0") == "void"
    workers = [devices(daemon, mixed, f"worker-replica-{i}") for i in range(2)]
    assert sorted(sum(workers, [])) == sorted(set(sum(workers, []))) and [len(w) for w in workers] == [2, 2], workers
    daemon.cancel(mixed)
    daemon.until(mixed, "CANCELLED")


def test_gpus_go_by_the_ids_that_are_given(start):
    ids = ["GPU-8a56a4bc-4184-4f2f-9f45-0a6a1dd8b0a3", "7"]
    daemon = start("--gpus", ",".join(ids), "--accelerators", "require")
    job_id = daemon.create(gpu_job(2))
    daemon.until(job_id, "SUCCEEDED")
    assert sorted(devices(daemon, job_id)) == sorted(ids)


# ---- when there are too few ----

def sixteen(text=REST):
    """A job of 16 GPUs on two replicas."""
    return with_gpus(with_gpus(distributed(text, text, workers=1), 8, "worker"), 8)


@pytest.mark.long
def test_more_than_there_are_is_refused_where_they_are_required(start):
    daemon = start("--gpus", "8", "--accelerators", "require")
    answer = daemon.post(daemon.jobs_path, dict(jobId=daemon.new_id(), trainingInput=sixteen()))
    assert answer.status == 429 and answer.error["status"] == "RESOURCE_EXHAUSTED", answer
    assert answer.error["message"].startswith(
        f"Quota failure for project {daemon.project}. The request for 16 K80 accelerators exceeds the allowed "
        "maximum of 8 A100, 8 K80, "), answer
    # Jobs that need as many GPUs as there are wait only for their turn.
    first, second = daemon.create(gpu_job(8, REST)), daemon.create(gpu_job(8))
    daemon.until(first, "RUNNING")
    assert daemon.job(second)["state"] == "QUEUED"
    daemon.cancel(first)
    daemon.until(second, "SUCCEEDED")
    daemon.until(first, "CANCELLED")


def test_without_any_gpu_each_job_that_requires_one_is_refused(start):
    for policy in ("require", "share"):
        daemon = start("--gpus", "none", "--accelerators", policy)
        answer = daemon.post(daemon.jobs_path, dict(jobId=daemon.new_id(), trainingInput=gpu_job(1)))
        assert answer.status == 429, answer
        daemon.run(script("true"))


def test_a_job_that_waits_for_more_gpus_holds_up_nobody(start):
    daemon = start("--gpus", "8", "--accelerators", "wait")
    waiting = daemon.create(sixteen())
    other, cpu = daemon.create(gpu_job(8)), daemon.create(script(SAY))
    daemon.until(other, "SUCCEEDED")
    daemon.until(cpu, "SUCCEEDED")
    assert daemon.job(waiting)["state"] == "QUEUED"
    daemon.stop()
    daemon.options = (*daemon.options, "--gpus", "16")
    daemon.start()
    daemon.until(waiting, "RUNNING")
    daemon.cancel(waiting)
    daemon.until(waiting, "CANCELLED")


def test_shared_gpus_serve_several_replicas(start):
    daemon = start("--gpus", "2", "--accelerators", "share")
    jobs = [daemon.create(with_gpus(with_gpus(distributed(REST, REST, workers=2), 1, "worker"), 1)) for _ in range(2)]
    seen = [devices(daemon, job_id, task) for job_id in jobs
            for task in ("master-replica-0", "worker-replica-0", "worker-replica-1")]
    for job_id in jobs:
        daemon.until(job_id, "RUNNING")
    assert sorted(sum(seen, [])) == ["0"] * 3 + ["1"] * 3, seen
    for job_id in jobs:
        assert any(notice.startswith("Unlike in the cloud: ") for notice in notices(daemon, job_id))
        daemon.cancel(job_id)
    for job_id in jobs:
        daemon.until(job_id, "CANCELLED")


@pytest.mark.parametrize("gpus", [long("none"), "auto", long("8")])
def test_gpus_that_are_pretended_are_none_and_that_is_said(start, gpus):
    daemon = start("--gpus", gpus, "--accelerators", "pretend")
    job_id = daemon.create(sixteen())
    assert devices(daemon, job_id) == devices(daemon, job_id, "worker-replica-0") == "void"
    assert any(notice.startswith("Unlike in the cloud: ") and "GPU" in notice for notice in notices(daemon, job_id))
    daemon.cancel(job_id)
    daemon.until(job_id, "CANCELLED")


# ---- nobody gets what another has ----

def meetings(engine, watch):
    """Pairs of containers that ran at the same time with a common device: (container, container, common devices)."""
    ran = [(began, watch.ended[container][0], container, set(given))
           for container, (began, given) in engine.given().items() if container in watch.ended]
    return [(a[2], b[2], a[3] & b[3]) for a, b in itertools.combinations(sorted(ran), 2) if b[0] < a[1]]


def churn_job(rng):
    """A job of 1 to 4 GPUs, on one replica or on two, that runs for a short time."""
    count, text = rng.randint(1, 4), f"{SAY}; sleep {rng.uniform(0.1, 1.5):.2f}"
    if count == 3:
        return 3, with_gpus(with_gpus(distributed(text, text, workers=1), 2, "worker"), 1)
    return count, gpu_job(count, text)


@pytest.mark.long
def test_no_gpu_is_given_twice_under_churn_and_a_crash(start, gpu_engine):
    rng = random.Random(8)
    daemon = start("--gpus", "8", "--accelerators", "require", "--max-active-jobs", "100")
    with Watch(gpu_engine, daemon.project) as watch:
        jobs = {}
        for i in range(28):
            count, training_input = churn_job(rng)
            jobs[daemon.create(training_input)] = count
            if i == 15:  # while other jobs run and more wait
                wait_until(lambda: len(watch.ended) >= 3 and len(daemon.containers()) >= 2, 60, "jobs come and go")
                daemon.kill9()
                daemon.start()
        cancelled = set(rng.sample(sorted(jobs), 5))
        for job_id in cancelled:
            if daemon.job(job_id)["state"] != "SUCCEEDED":
                daemon.post(f"{daemon.jobs_path}/{job_id}:cancel", {})
        for job_id in jobs:
            daemon.until(job_id, *(("SUCCEEDED", "CANCELLED") if job_id in cancelled else ("SUCCEEDED",)), timeout=240)
        last = daemon.create(gpu_job(8))  # all GPUs are free again
        daemon.until(last, "SUCCEEDED")
        wait_until(lambda: daemon.containers() == [], 30)
        given = gpu_engine.given()
        mine = {container: job_id for container, (_, job_id) in watch.ended.items()}
        met = meetings(gpu_engine, watch)
        assert len(met) >= len(jobs) / 2, "jobs ran one after another"
        assert [pair for pair in met if pair[2]] == []
        assert {job_id for job_id in jobs if job_id not in cancelled} <= set(mine.values())
        for container, job_id in mine.items():
            assert set(given[container][1]) <= set(GPUS), given[container]
        for job_id, count in jobs.items():
            if job_id not in cancelled:
                tasks = ["master-replica-0"] + ["worker-replica-0"] * (count == 3)
                seen = sum((devices(daemon, job_id, task) for task in tasks), [])
                assert len(set(seen)) == count, (job_id, seen)
        assert sorted(devices(daemon, last)) == GPUS


@pytest.mark.long
def test_a_restart_finds_the_gpus_of_running_jobs_taken(start):
    daemon = start("--gpus", "8", "--accelerators", "require")
    holders = [daemon.create(gpu_job(4, REST)), daemon.create(gpu_job(2, REST))]
    held = sum((devices(daemon, job_id) for job_id in holders), [])
    daemon.kill9()
    daemon.start()
    fits, waits = daemon.create(gpu_job(2, REST)), daemon.create(gpu_job(1))
    assert sorted(held + devices(daemon, fits)) == GPUS
    assert daemon.job(waits)["state"] == "QUEUED"
    for job_id in holders:
        assert daemon.job(job_id)["state"] == "RUNNING"
        daemon.cancel(job_id)
    daemon.until(waits, "SUCCEEDED")
    daemon.cancel(fits)
    for job_id in (fits, *holders):
        daemon.until(job_id, "CANCELLED")


# ---- two daemons of one engine ----

HELD = "GPUs are held by another trainyard on this engine."


def waits_for_another(daemon, job_id):
    wait_until(lambda: any(HELD in text for _, text in daemon.service_lines(job_id)), 30, "why it waits")
    assert daemon.job(job_id)["state"] == "QUEUED"


def test_two_daemons_never_have_the_same_gpu(start):
    """Fails with: place() that takes an assignment without devices_claim(); room_return() without room_claims_keep();
    on_up() without device_claims_forget()."""
    one, other = (start("--gpus", "2", "--accelerators", "require") for _ in range(2))
    first, second = one.create(gpu_job(1, REST)), other.create(gpu_job(1, REST))
    held = devices(one, first)
    assert sorted(held + devices(other, second)) == GPUS[:2]
    one.kill9()
    one.start()
    wait_until(lambda: one.get("/healthz").json["engine"]["reachable"], 30)
    waiting = other.create(gpu_job(1))
    waits_for_another(other, waiting)
    one.cancel(first)
    other.until(waiting, "SUCCEEDED")
    assert devices(other, waiting) == held
    other.cancel(second)


@pytest.mark.parametrize("rounds", [3, long(8)])
def test_daemons_that_race_for_a_gpu_take_turns(start, gpu_engine, rounds):
    """Fails with: contest_of() that finds no contest: they ran at the same time."""
    race([start("--gpus", "1", "--accelerators", "require") for _ in range(3)], gpu_engine, rounds)


@pytest.fixture
def apart(gpu_engine, tmp_path):
    """Daemons in containers of their own; the engine has one GPU."""
    made = []
    try:
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            made.append(ContainedThere(tmp_path / name, gpu_engine, "--offline", "--gpus", "1", "--accelerators", "require"))
            made[-1].project += name
            made[-1].start()
        yield made
    finally:
        for daemon in made:
            for container in daemon.containers() if daemon.id else ():
                gpu_engine.remove(container["Id"])
            daemon.delete()


def test_daemons_in_containers_never_have_the_same_gpu(apart, gpu_engine):
    """The same holds while the daemon whose job has the GPU is down. Fails with: contest_of() without the claims, or without the
    containers, of others; peers_wait() that counts a marker as one of a live daemon although no daemon makes it again: the
    claim stayed for good."""
    race(apart, gpu_engine, 3)
    first, second = apart
    held = first.create(gpu_job(1, REST))
    assert devices(first, held) == ["0"]
    waiting = second.create(gpu_job(1))
    waits_for_another(second, waiting)
    containers = first.containers()
    first.kill9()
    later = second.create(gpu_job(1))
    assert second.job(waiting)["state"] == "QUEUED"
    gpu_engine.kill(containers[0]["Id"])
    for job_id in (waiting, later):
        assert second.until(job_id, "SUCCEEDED", "FAILED", timeout=120)["state"] == "SUCCEEDED", second.log()
