# SPDX-License-Identifier: Apache-2.0
"""Jobs of both families on one real engine at the same time: each is told, prints and keeps what is its own.

    pytest tests/fault/test_side_by_side.py --cycles 4     # 32 jobs of two replicas and two searches; a quarter of it in CI"""
import concurrent.futures
import contextlib
import threading

import pytest

from support.custom_jobs import CustomJobs, pool, variables
from support.daemon import PRINT_ENVIRONMENT, UNTIL_RELEASED, distributed, script, task_of, text_of
from support.engine_proxy import EngineProxy, Fault
from support.tuning import tuning_input
from support.vertex import Vertex, tuning_job

PAIRS = 4  # in a cycle
AT_ONCE = 10
LINES = 50
ML_TASKS, CUSTOM_TASKS = ("master-replica-0", "worker-replica-0"), ("workerpool0-0", "workerpool1-0")


def says(tag, task):
    """Prints the environment, and lines that only this replica of this job prints."""
    return f"{PRINT_ENVIRONMENT}; i=0; while [ $i -lt {LINES} ]; do echo {tag} {task} $i; i=$((i+1)); done"


def said(tag, task):
    return [f"{tag} {task} {i}" for i in range(LINES)]


def ml_run(yard, tag):
    first, second = (says(tag, task) for task in ML_TASKS)
    job_id = yard.create(distributed(f"{first}; {UNTIL_RELEASED}", f"{second}; sleep 600", workers=1), labels={"tag": tag})
    for task in ML_TASKS:
        yard.wait_lines(job_id, task, LINES + 1, timeout=300)
    yard.release(job_id)
    assert yard.until(job_id, "SUCCEEDED", timeout=300)["labels"] == {"tag": tag}
    return job_id


def custom_run(yard, tag):
    custom, (first, second) = CustomJobs(yard), (says(tag, task) for task in CUSTOM_TASKS)
    answer = yard.post(custom.path, {"displayName": tag, "labels": {"tag": tag}, "jobSpec": {
        "baseOutputDirectory": {"outputUriPrefix": f"gs://{tag}/out"}, "workerPoolSpecs": [
            pool(text, env=variables(TAG=tag)) for text in (f"{first}; {UNTIL_RELEASED}", f"{second}; sleep 600")]}})
    assert answer.status == 200, answer
    job_id = answer.json["name"].rsplit("/", 1)[1]
    for task in CUSTOM_TASKS:
        custom.wait_lines(job_id, task, LINES + 1, timeout=300)
    yard.release(job_id)
    assert custom.until(job_id, "JOB_STATE_SUCCEEDED", timeout=300)["labels"] == {"tag": tag}
    return job_id


def ml_search(yard, tag):
    job_id = yard.create(tuning_input(maxTrials=2), labels={"tag": tag})
    assert len(yard.until(job_id, "SUCCEEDED", timeout=300)["trainingOutput"]["trials"]) == 2
    return job_id


def custom_search(yard, tag):
    x = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}
    tuning = Vertex(yard, collection="hyperparameterTuningJobs")
    job = tuning.create(tuning_job(f"echo {tag}; exit 0", x, labels={"tag": tag}))
    job = tuning.until(job["name"], "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", timeout=300)
    assert all(trial["state"] == "INFEASIBLE" for trial in job["trials"]), job  # the trials report no metric
    return job["name"].rsplit("/", 1)[1]


def check_ml(yard, job_id, tag):
    for task in ML_TASKS:
        assert yard.lines(job_id, task)[1:] == said(tag, task)
        environment = yard.environment(job_id, task)
        assert f'"job_name": "{job_id}"' in environment["CLOUD_ML_JOB"] or job_id in environment["CLOUD_ML_JOB_ID"], environment
        assert not [name for name in environment if name.startswith("AIP_")] and "TAG" not in environment
        assert "master" in environment["CLUSTER_SPEC"] and "workerpool" not in environment["CLUSTER_SPEC"]
    assert [job["jobId"] for job in yard.get(yard.jobs_path, filter=f"labels.tag={tag}").json["jobs"]] == [job_id]


def check_custom(yard, job_id, tag):
    for task in CUSTOM_TASKS:
        assert yard.lines(job_id, task)[1:] == said(tag, task)
        environment = yard.environment(job_id, task)
        assert (environment["CLOUD_ML_JOB_ID"], environment["TAG"]) == (job_id, tag)
        assert environment["AIP_MODEL_DIR"] == f"gs://{tag}/out/model/" and "CLOUD_ML_JOB" not in environment
        assert "workerpool0" in environment["CLUSTER_SPEC"] and "master" not in environment["CLUSTER_SPEC"]
    listed = yard.get(CustomJobs(yard).path, filter=f'labels.tag="{tag}"').json["customJobs"]
    assert [(job["displayName"], job["name"].rsplit("/", 1)[1]) for job in listed] == [(tag, job_id)]


KINDS = {"ml": (ml_run, check_ml), "custom": (custom_run, check_custom)}


@pytest.fixture(scope="module")
def crowded(make_daemon):
    with make_daemon("--offline", "--stop-grace", "1", "--machine-fit", "none", "--stop-jobs") as daemon:
        yield daemon


# Fails with: an environment of custom jobs that tells all of them the first one's CLOUD_ML_JOB_ID.
def test_jobs_of_both_families_run_beside_each_other_and_mix_nothing_up(crowded, request):
    pairs = PAIRS * request.config.getoption("--cycles")
    work = [(kind, f"{kind}-{number}") for number in range(pairs) for kind in KINDS]
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as threads:
        searches = [threads.submit(search, crowded, "search") for search in (ml_search, custom_search)]
        runs = [threads.submit(KINDS[kind][0], crowded, tag) for kind, tag in work]
        job_ids = [run.result() for run in runs]
        searched = [search.result() for search in searches]
    for (kind, tag), job_id in zip(work, job_ids):
        KINDS[kind][1](crowded, job_id, tag)
    printed = [(task_of(entry), text_of(entry)) for entry in crowded.entries(extra="NOT logName:service")]
    lines = [line for line in printed if line[0] in ML_TASKS + CUSTOM_TASKS and " " in line[1] and line[1][0] in "mc"]
    own = [(task, line) for kind, tag in work for task in (ML_TASKS if kind == "ml" else CUSTOM_TASKS) for line in said(tag, task)]
    assert sorted(lines) == sorted(own)
    assert len({*job_ids, *searched}) == len(work) + 2
    crowded.engine.check_nothing_left(crowded.read_instance())


def test_networks_that_two_daemons_make_at_once_are_apart(new_daemon, engine):
    """Both have seen the same networks of the engine, and chosen the same block of --networks, before either has made one.
    Fails with: block_is_taken() that is false: the job of the daemon that came second failed."""
    met = threading.Barrier(2)
    with contextlib.ExitStack() as stack:
        proxies = [stack.enter_context(contextlib.closing(EngineProxy(engine))) for _ in range(2)]
        daemons = [new_daemon("--offline", "--networks", "10.86.0.0/24", engine=proxy) for proxy in proxies]
        for daemon, proxy in zip(daemons, proxies, strict=True):
            proxy.add(Fault("meet", "POST", "/networks/create", barrier=met))
            stack.callback(daemon.start().stop)
        jobs = [daemon.create(script(f"echo begun; {UNTIL_RELEASED}")) for daemon in daemons]
        for daemon, job_id in zip(daemons, jobs, strict=True):
            daemon.until(job_id, "RUNNING")
        codes = [call.code for proxy in proxies for call in proxy.seen("POST", "/networks/create")]
        assert sorted(codes) == [201, 201, 403], codes
        for daemon, job_id in zip(daemons, jobs, strict=True):
            daemon.release(job_id)
            assert daemon.until(job_id, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
