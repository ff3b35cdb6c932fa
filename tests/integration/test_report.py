# SPDX-License-Identifier: Apache-2.0
"""What trainyard shows of a job beyond the service's own fields: its plan before it runs, its report afterwards, and its
consumption; each is compared with the engine's containers."""
import json
import os
import uuid

import pytest

from support.daemon import MACHINE, distributed, script
from support.wait import wait_until

CLUSTER = dict(distributed("sleep 60", "sleep 60", "sleep 60", "sleep 60", workers=2, ps_count=1, evaluators=1),
               workerType="n1-highmem-2", jobDir="gs://my-bucket/dir", scheduling={"maxRunningTime": "3600s"})
CLUSTER_REPLICAS = ["master-replica-0", "worker-replica-0", "worker-replica-1", "ps-replica-0",
                    "evaluator-replica-0"]

# The gateway's address is known only when the job's network exists.
GATEWAY_VARIABLES = {"STORAGE_EMULATOR_HOST", "CLOUD_STORAGE_EMULATOR_ENDPOINT", "TENSORSTORE_GCS_HTTP_URL",
                     "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE", "GCE_METADATA_HOST",
                     "GCE_METADATA_ROOT", "GCE_METADATA_IP", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS",
                     "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH", "REQUESTS_CA_BUNDLE", "HTTPLIB2_CA_CERTS"}


def beyond(yard, rest):
    return f"/_trainyard{yard.jobs_path}{rest}"


def plan_of(yard, training_input, job_id="planned"):
    answer = yard.post(beyond(yard, ":plan"), dict(jobId=job_id, trainingInput=training_input))
    assert answer.status == 200, answer
    return answer.json


def report_of(yard, job_id):
    answer = yard.get(beyond(yard, f"/{job_id}/report"))
    assert answer.status == 200, answer
    return answer.json


def label_of(replica):
    """Converts "worker-replica-0" to "worker-0", the form in containers' labels."""
    return replica["name"].replace("-replica", "")


def limits_of(inspected):
    """The limits of a container in the engine, in the form of plan and report."""
    host = inspected["HostConfig"]
    limits = {"vcpus": host["NanoCpus"] / 1e9, "memoryBytes": host["Memory"], "shmBytes": host["ShmSize"]}
    return {name: value for name, value in limits.items() if value}


def environment_of(inspected):
    return dict(word.split("=", 1) for word in inspected["Config"]["Env"])


def without_cloud(tf_config):
    config = json.loads(tf_config)
    assert config["task"].pop("cloud").endswith("-ml")
    return json.dumps(config)


@pytest.fixture
def running(yard):
    """Starts jobs and cancels them at the end."""
    started = []

    def start(training_input, job_id=None):
        started.append(yard.create(training_input, job_id=job_id))
        yard.until(started[-1], "RUNNING")
        return started[-1]
    yield start
    for job_id in started:
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED", "SUCCEEDED", "FAILED")


def test_what_was_planned_is_what_runs(yard, engine, running):
    job_id = yard.new_id()
    # At first, the daemon may not know the engine's resources yet.
    wait_until(lambda: plan_of(yard, CLUSTER)["start"] == {"now": True}, what="room")
    plan = plan_of(yard, CLUSTER, job_id)
    assert [r["name"] for r in plan["replicas"]] == CLUSTER_REPLICAS
    assert plan["startOrder"] == ["ps", "worker", "evaluator", "master"]
    assert yard.get(f"{yard.jobs_path}/{job_id}").status == 404
    running(CLUSTER, job_id)

    real_id = None
    for replica in plan["replicas"]:
        inspected = engine.inspect(yard.container(job_id, label_of(replica)))
        environment = environment_of(inspected)
        # Only the cluster's id differs, because it is drawn for each job.
        real_id = inspected["Config"]["Hostname"].split("-")[3]
        assert real_id != plan["exampleClusterId"]

        def translated(text):
            return text.replace(plan["exampleClusterId"], real_id)
        for name, value in replica["env"].items():
            if name == "TF_CONFIG":  # its "cluster" is a hash of the id
                value, environment[name] = without_cloud(value), without_cloud(environment[name])
            assert environment[name] == translated(value), name
        assert set(environment) - set(replica["env"]) - {"PATH"} == GATEWAY_VARIABLES
        assert inspected["Config"]["Hostname"].rsplit("-", 1)[0] == translated(replica["addressName"])
        assert [inspected["Path"]] + inspected["Args"] == replica["command"] + replica["args"]
        assert replica["args"][-2:] == ["--job-dir", "gs://my-bucket/dir"]
        image = engine.call("GET", f"/images/{replica['image']}/json")["Id"]
        assert inspected["Image"] == image
        assert limits_of(inspected) == replica["limits"]
        # All names must be there; their addresses depend on the network.
        names = [entry.split(":")[0] for entry in inspected["HostConfig"]["ExtraHosts"]
                 if not entry.startswith("metadata") and "googleapis.com:" not in entry]
        assert names == [translated(name) for name in plan["hosts"]]


def test_a_report_tells_what_the_engine_has(yard, engine, running):
    job_id = running(CLUSTER)
    containers = {r: engine.inspect(yard.container(job_id, r.replace("-replica", ""))) for r in CLUSTER_REPLICAS}
    report = report_of(yard, job_id)
    assert report["name"] == f"projects/{yard.project}/jobs/{job_id}"
    # Fails with: head_make() that leaves the project out.
    assert report["console"] == f"{yard.base}/_trainyard/console/jobs/{yard.project}/{job_id}"
    assert (report["state"], report["attempt"]) == ("RUNNING", 1)
    assert [r["name"] for r in report["replicas"]] == CLUSTER_REPLICAS
    for replica in report["replicas"]:
        assert replica["limits"] == limits_of(containers[replica["name"]]), replica["name"]
        assert "devices" not in replica and "cloudImage" not in replica
        assert containers[replica["name"]]["Config"]["Hostname"] == replica["hostName"]
        assert replica["hostName"].startswith(replica["addressName"])
    # Fails with: pool_add() that tells the variables of the last pool for all.
    for pool, values in report["environments"].items():
        inside = dict(each.split("=", 1) for each in containers[f"{pool}-replica-0"]["Config"]["Env"])
        assert values.items() - inside.items() == set() and "CLUSTER_SPEC" in values
    types = {r["name"]: r["machineType"] for r in report["replicas"]}
    assert types["master-replica-0"] == MACHINE and types["worker-replica-1"] == "n1-highmem-2"


def test_a_report_stays_when_the_job_has_ended(yard):
    job_id = yard.create(script("true"))
    yard.until(job_id, "SUCCEEDED")
    report = report_of(yard, job_id)
    assert report["state"] == "SUCCEEDED"
    assert report["replicas"][0]["limits"]["memoryBytes"] > 0
    planned = plan_of(yard, script("true"))
    assert report["differences"] == planned["differences"]
    drawn = {"hostName", "addressName"}  # drawn for each job
    assert [{k: v for k, v in r.items() if k not in drawn} for r in report["replicas"]] == [
        {k: r[k] for k in report["replicas"][0] if k not in drawn} for r in planned["replicas"]]


def test_differences_name_the_fields_that_they_are_about(yard, engine):
    cpus = engine.call("GET", "/info")["NCPU"]
    if cpus >= 96:
        pytest.skip("this machine is as large as the largest machine type")
    custom = dict(script("true"), scaleTier="CUSTOM", masterType="n1-standard-96")
    job_id = yard.create(custom)
    yard.until(job_id, "SUCCEEDED")
    fitted = [d for d in report_of(yard, job_id)["differences"] if d["code"] == "machine-fitted"]
    assert [d["field"] for d in fitted] == ["trainingInput.masterType"]
    assert fitted[0]["kind"] == "DONE_OTHERWISE" and "n1-standard-96" in fitted[0]["text"]


def test_what_is_not_there_has_no_report(yard):
    answer = yard.get(beyond(yard, "/nobody/report"))
    expected = yard.get(f"{yard.jobs_path}/nobody")
    assert answer.status == expected.status == 404
    assert answer.error["message"] == expected.error["message"]


def test_what_create_refuses_is_not_planned(yard):
    body = dict(jobId="1st", trainingInput=dict(script("true"), region="nowhere"))
    planned = yard.post(beyond(yard, ":plan"), body)
    created = yard.post(yard.jobs_path, body)
    assert planned.status == created.status == 400
    assert planned.json == created.json


@pytest.mark.long
def test_a_plan_tells_what_keeps_the_job_waiting(new_daemon):
    yard = new_daemon("--offline", "--max-active-jobs", "1").start()
    first = yard.create(script("sleep 60"))
    yard.until(first, "RUNNING")
    alone = plan_of(yard, script("true"))
    assert (alone["start"]["now"], alone["start"]["shortage"]) == (False, "ROOM")
    assert "behind" not in alone["start"]
    second = yard.create(script("sleep 60"))
    assert plan_of(yard, script("true"))["start"]["behind"] == f"projects/{yard.project}/jobs/{second}"
    important = dict(script("true"), scheduling={"priority": 1})
    assert "behind" not in plan_of(yard, important)["start"]
    # Neither call has added a job to the queue.
    assert yard.job(second)["jobPosition"] == "1"
    for job_id in (second, first):
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED")
    wait_until(lambda: plan_of(yard, script("true"))["start"] == {"now": True}, what="room again")


# Fails with: visit() without wait_report(): no line. report_make() without start_add(): no "start".
@pytest.mark.long
def test_a_queued_job_says_what_it_waits_for(new_daemon):
    yard = new_daemon("--offline", "--max-containers", "1").start()
    first, second, third = (yard.create(script("sleep 60")) for _ in range(3))
    yard.until(first, "RUNNING")
    room = "The job has 1 replicas; 1 of 1 containers run now."
    wait_until(lambda: ("INFO", f"The job is queued: it waits for room on this machine. {room}") in yard.service_lines(second),
               what="the second says what it waits for")
    # The line may be written before the first job is admitted.
    turns = {("INFO", f"The job is queued: it waits for its turn. {jobs} before it.") for jobs in ("1 job is", "2 jobs are")}
    wait_until(lambda: turns & set(yard.service_lines(third)), what="the third says what it waits for")
    start = {"now": False, "shortage": "ROOM", "text": room}
    assert report_of(yard, second)["start"] == start
    assert report_of(yard, third)["start"] == dict(start, behind=f"projects/{yard.project}/jobs/{second}")
    assert [yard.job(job_id).get("jobPosition") for job_id in (first, second, third)] == [None, "1", "2"]
    assert "start" not in report_of(yard, first)
    for job_id in (third, second, first):
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED")
    assert "start" not in report_of(yard, second)


@pytest.mark.long
def test_a_job_queued_for_a_network_says_so(new_daemon, engine):
    block = f"10.{os.getpid() % 40 + 140}.7.0/24"
    held = engine.call("POST", "/networks/create",
                       {"Name": f"held-{uuid.uuid4().hex}", "IPAM": {"Config": [{"Subnet": block}]}})["Id"]
    try:
        yard = new_daemon("--offline", "--networks", block).start()
        first, second = yard.create(script("true")), yard.create(script("true"))
        wait_until(lambda: any("it waits for a network. No network can be made now: no free block" in text for _, text in yard.service_lines(first)),
                   what="the first waits for a network")
        for place, job_id in enumerate((first, second), 1):
            job = yard.job(job_id)
            assert (job["state"], job["jobPosition"]) == ("QUEUED", str(place)) and "startTime" not in job
        assert report_of(yard, first)["start"]["shortage"] == "NETWORK"
        # Fails with: look_lacks() without its log line; that logs at each try.
        assert yard.log().count("networks-short") == 1, yard.log()
        assert plan_of(yard, script("true"))["start"]["behind"].endswith(first)
    finally:
        engine.call("DELETE", f"/networks/{held}")
    for job_id in first, second:
        yard.until(job_id, "SUCCEEDED")


# Each job consumes 43.6 units an hour: two of them consume a hundredth in less than half a second.
EXPENSIVE = dict(distributed("sleep 60", "sleep 60", workers=1), masterType="complex_model_l_v100",
                 workerType="complex_model_l_v100")


def test_what_a_job_consumed_is_told_while_it_runs_and_stays(yard, running):
    job_id = running(EXPENSIVE)

    def consumed():
        return yard.job(job_id)["trainingOutput"].get("consumedMLUnits", 0)
    first = wait_until(consumed, 30, "something is consumed")
    more = wait_until(lambda: consumed() > first and consumed(), 30, "more is consumed")
    assert first < more and round(more, 2) == more
    listed = yard.get(yard.jobs_path, filter=f"jobId:{job_id}").json["jobs"][0]
    assert listed["trainingOutput"]["consumedMLUnits"] >= more
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED")
    at_end = consumed()
    assert at_end >= more
    assert report_of(yard, job_id)["consumedMLUnits"] == at_end == consumed()


def test_units_are_foretold_for_the_longest_time(yard):
    plan = plan_of(yard, CLUSTER)
    # The master, ps and evaluator cost 0.19 dollars each, two workers 0.1184 each; a unit costs 0.49.
    assert plan["mlUnitsPerHour"] == pytest.approx((3 * 0.19 + 2 * 0.1184) / 0.49)
    assert plan["maxRunningTime"] == "3600s"
    assert plan["mlUnitsInMaxRunningTime"] == round(plan["mlUnitsPerHour"], 2)
