# SPDX-License-Identifier: Apache-2.0
"""Plans and reports of Vertex AI's jobs, compared with the engine's containers."""
import pytest

from support.vertex import RUNS_ON, Vertex, custom_job, pool, tuning_job
from support.wait import wait_until

from test_report import GATEWAY_VARIABLES, environment_of, limits_of, without_cloud

LEARNING_RATE = {"parameterId": "lr", "doubleValueSpec": {"minValue": 0.1, "maxValue": 0.9}}


@pytest.fixture(scope="module", params=["customJobs", "hyperparameterTuningJobs"])
def each(request, yard):
    found = Vertex(yard, collection=request.param)
    yield found
    found.cancel_all()


@pytest.fixture(scope="module")
def vertex(yard):
    found = Vertex(yard)
    yield found
    found.cancel_all()


@pytest.fixture(scope="module")
def tuning(yard):
    found = Vertex(yard, collection="hyperparameterTuningJobs")
    yield found
    found.cancel_all()


def beyond(vertex, rest):
    return f"/_trainyard{vertex.parent}/{vertex.collection}{rest}"


def plan_of(vertex, job):
    answer = vertex.yard.post(beyond(vertex, ":plan"), job)
    assert answer.status == 200, answer
    return answer.json


def report_of(vertex, name):
    answer = vertex.yard.get("/_trainyard/v1/" + name + "/report")
    assert answer.status == 200, answer
    return answer.json


def cluster():
    second = pool(RUNS_ON, count=2)
    second["containerSpec"]["env"] = [{"name": "DIRECTORY", "value": "in $(AIP_MODEL_DIR)"}]
    second["containerSpec"]["args"].append("$(DIRECTORY)")
    return {"displayName": "planned", "jobSpec": {
        "workerPoolSpecs": [pool(RUNS_ON), second], "baseOutputDirectory": {"outputUriPrefix": "gs://my-bucket/dir"}}}


@pytest.mark.long
def test_what_was_planned_is_what_runs(vertex, engine):
    yard = vertex.yard
    wait_until(lambda: plan_of(vertex, cluster())["start"] == {"now": True}, what="room")
    before = vertex.names()
    plan = plan_of(vertex, cluster())
    assert vertex.names() == before
    assert [r["name"] for r in plan["replicas"]] == ["workerpool0-0", "workerpool1-0", "workerpool1-1"]
    made = vertex.create(cluster())
    vertex.until(made["name"], "JOB_STATE_RUNNING")
    job_id, example = made["name"].rpartition("/")[2], plan["exampleName"].rpartition("/")[2]
    assert made["name"].rpartition("/")[0] == plan["exampleName"].rpartition("/")[0] and job_id != example
    report = report_of(vertex, made["name"])
    assert (report["name"], report["state"], report["attempt"]) == (made["name"], "JOB_STATE_RUNNING", 1)
    assert report["console"] == f"{yard.base}/_trainyard/console/jobs/{yard.project}/{job_id}"
    assert report["differences"] == plan["differences"]
    for replica, reported, label in zip(plan["replicas"], report["replicas"], ("master-0", "worker-0", "worker-1")):
        inspected = engine.inspect(yard.container(job_id, label))
        environment = environment_of(inspected)
        real_id = inspected["Config"]["Hostname"].split("-")[3]

        def translated(text):
            return text.replace(plan["exampleClusterId"], real_id).replace(example, job_id)
        for name, value in replica["env"].items():
            if name == "TF_CONFIG":  # its "cluster" is a hash of the id
                value, environment[name] = without_cloud(value), without_cloud(environment[name])
            assert environment[name] == translated(value), name
        assert set(environment) - set(replica["env"]) - {"PATH"} == GATEWAY_VARIABLES
        assert [inspected["Path"]] + inspected["Args"] == replica["command"] + replica["args"]
        assert limits_of(inspected) == replica["limits"] == reported["limits"]
        drawn = {"hostName", "addressName"}  # drawn for each job
        assert {k: replica[k] for k in reported.keys() - drawn} == {k: reported[k] for k in reported.keys() - drawn}
        assert inspected["Config"]["Hostname"] == reported["hostName"]
    # Fails with: plan_answer.c without replica_environment_extend()
    assert plan["replicas"][1]["args"][-1] == "in gs://my-bucket/dir/model/"


def test_a_disk_that_nobody_asked_for_is_no_difference(vertex):
    # Fails with: spec_defaults_fill() before plan_make()
    asked = custom_job("true")
    asked["jobSpec"]["workerPoolSpecs"][0]["diskSpec"] = {"bootDiskType": "pd-standard", "bootDiskSizeGb": 200}
    codes = [[d["code"] for d in plan_of(vertex, job)["differences"]] for job in (custom_job("true"), asked)]
    assert "disk-config" not in codes[0] and "disk-config" in codes[1]
    # Fails with: report_pool_members() without spec_disk_is_default(): a job that `trainyard rerun` repeats had the difference.
    asked["jobSpec"]["workerPoolSpecs"][0]["diskSpec"] = {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100}
    assert "disk-config" not in [d["code"] for d in plan_of(vertex, asked)["differences"]]


@pytest.mark.parametrize("region, machine, field", [
    ("us-central1", {"machineType": "g2-standard-8", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}, None),
    ("us-central1", {"machineType": "ct6e-standard-4t", "tpuTopology": "2x2"}, None),
    ("europe-west6", {"machineType": "n1-standard-4"}, None),
    ("europe-west6", {"machineType": "g2-standard-8", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}, "acceleratorType"),
    ("europe-west6", {"machineType": "a2-highgpu-1g"}, "acceleratorType"),
    ("europe-west6", {"machineType": "ct6e-standard-4t", "tpuTopology": "2x2"}, "machineType"),
])
def test_an_accelerator_that_the_region_has_not_is_a_doubt(yard, region, machine, field):
    # Fails with: report_region() left out
    job = custom_job("true")
    job["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] = machine
    told = [d for d in plan_of(Vertex(yard, region=region), job)["differences"] if d["code"] == "accelerator-region"]
    assert [(d["kind"], d["field"]) for d in told] == (
        [("IN_DOUBT_IN_CLOUD", f"jobSpec.workerPoolSpecs[0].machineSpec.{field}")] if field else [])
    assert not told or f"The region {region} has no " in told[0]["text"]


@pytest.mark.parametrize("collection", ["customJobs", "hyperparameterTuningJobs", "trainingPipelines", "models", "operations"])
def test_a_location_that_the_service_has_not_is_refused(yard, collection):
    # Fails with: resource_parent_check() with is_cloud_name() alone
    answer = yard.get(f"/v1/projects/{yard.project}/locations/nowhere-east1/{collection}")
    assert answer.status == 400, answer
    assert answer.error["message"].startswith("List of found errors:\t1.Field: parent; Message: The provided location ID doesn't "
                                              "match the endpoint. The valid location IDs are `africa-south1`, "), answer
    assert yard.get(f"/v1/projects/{yard.project}/locations/us-west8/{collection}").status == 200
    posted = yard.post(f"/v1beta1/projects/{yard.project}/locations/nowhere-east1/customJobs", custom_job("true"))
    assert posted.status == 400 and posted.json == answer.json


def test_lenient_validation_takes_any_location_and_tells_it(new_daemon):
    yard = new_daemon("--offline", "--validation", "lenient").start()
    vertex = Vertex(yard, region="nowhere-east1")
    assert [(d["code"], d["field"], d["kind"]) for d in plan_of(vertex, custom_job("true"))["differences"]
            if d["code"] == "region-unknown"] == [("region-unknown", "name", "REFUSED_BY_CLOUD")]
    assert vertex.names() == []
    assert yard.get(f"/v1/projects/{yard.project}/locations/No/customJobs").status == 400


def test_lenient_validation_runs_jobs_for_a_persistent_resource_and_tells_it(new_daemon):
    # Fails with: spec_rows[] without persistentResourceId
    vertex = Vertex(new_daemon("--offline", "--validation", "lenient").start())
    asked = custom_job("true")
    asked["jobSpec"]["persistentResourceId"] = "shared"
    told = [d for d in plan_of(vertex, asked)["differences"] if d["code"] == "persistent-resource"]
    assert [(d["kind"], d["field"]) for d in told] == [("WITHOUT_EFFECT", "jobSpec.persistentResourceId")]
    job = vertex.until(vertex.create(asked)["name"], "JOB_STATE_SUCCEEDED")
    assert job["jobSpec"]["persistentResourceId"] == "shared"


@pytest.mark.parametrize("collection", ["customJobs", "hyperparameterTuningJobs", "trainingPipelines", "models", "operations"])
def test_a_word_that_is_compared_with_nothing_is_no_filter(vertex, collection):
    # Fails with: search_put() without its look at row_texts
    for words in ("foo", '"foo"', "foo OR bar", 'state="JOB_STATE_FAILED" foo'):
        answer = vertex.yard.get(f"{vertex.parent}/{collection}", filter=words)
        assert answer.status == 400 and "1.Field: filter; Message: " in answer.error["message"], answer


def test_a_search_reports_its_trials_by_their_jobs(tuning):
    search = tuning_job('echo "$0"', LEARNING_RATE, count=2, name="told")
    plan = plan_of(tuning, search)
    assert (plan["trialCount"], plan["parallelTrialCount"], len(plan["replicas"])) == (2, 1, 1)
    name = tuning.create(search)["name"]
    tuning.until(name, "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED")
    report = report_of(tuning, name)
    assert "replicas" not in report and report["trialCount"] == len(report["trials"]) > 0
    for trial in report["trials"]:
        run = report_of(tuning, trial["customJob"])
        assert (run["state"], run["replicas"]) == (trial["state"], trial["replicas"])
        # Fails with: head_make() that does not look at the job's parent: the list, and so the console, has no such job.
        assert "console" in report and "console" not in run
        flag, = tuning.yard.lines(trial["customJob"].rpartition("/")[2], "workerpool0-0")
        # Fails with: pool_add() without the arguments
        assert run["commandLines"] == trial["commandLines"] == {
            "workerpool0": f"docker run --entrypoint sh trainyard-test:1 -c 'echo \"$0\"' '{flag}'"}


def test_what_is_not_there_has_no_report(each):
    missing = f"{each.parent}/{each.collection}/1234567890"
    answer, expected = each.yard.get(f"/_trainyard{missing}/report"), each.yard.get(missing)
    assert answer.status == expected.status == 404
    assert answer.error["message"] == expected.error["message"]


def test_what_create_refuses_is_not_planned(each):
    planned = each.yard.post(beyond(each, ":plan"), {"displayName": "x" * 200})
    created = each.yard.post(f"{each.parent}/{each.collection}", {"displayName": "x" * 200})
    assert planned.status == created.status == 400
    assert planned.json == created.json
