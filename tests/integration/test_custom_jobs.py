# SPDX-License-Identifier: Apache-2.0
"""Custom jobs of Vertex AI over plain HTTP, on the engine."""
import http.client
import re

import pytest

from support.daemon import script
from support.marks import long
from support.vertex import REGION, RUNS_ON, Vertex, custom_job
from support.wait import wait_until

MICROS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@pytest.fixture(scope="module")
def vertex(yard):
    found = Vertex(yard)
    yield found
    found.cancel_all()


@pytest.fixture(scope="module")
def ended(vertex):
    """Three ended jobs, oldest first."""
    jobs = [vertex.create(custom_job("exit 0", "alpha_1", {"team": "red", "n": "1"})),
            vertex.create(custom_job("exit 0", "alpha_2", {"team": "blue"})),
            vertex.create(custom_job("echo no >&2; exit 7", "beta"))]
    return [vertex.until(job["name"], "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED") for job in jobs]


def test_a_job_is_pending_then_succeeds_and_tells_its_times(vertex):
    made = vertex.create(custom_job("sleep 0.5; echo hello", labels={"a": "b"}))
    assert re.fullmatch(rf"projects/\d+/locations/{REGION}/customJobs/[1-9]\d{{17,18}}", made["name"])
    assert made["state"] == "JOB_STATE_PENDING" and made["labels"] == {"a": "b"} and made["displayName"] == "mine"
    assert MICROS.fullmatch(made["createTime"]) and made["updateTime"] == made["createTime"]
    assert not {"startTime", "endTime", "error", "webAccessUris"} & set(made)
    pool = made["jobSpec"]["workerPoolSpecs"][0]
    assert pool["diskSpec"] == {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100} and pool["replicaCount"] == "1"
    job = vertex.until(made["name"], "JOB_STATE_SUCCEEDED")
    assert SECONDS.fullmatch(job["startTime"]) and SECONDS.fullmatch(job["endTime"])
    assert MICROS.fullmatch(job["updateTime"]) and job["updateTime"] > job["createTime"] and "error" not in job
    job_id = job["name"].rpartition("/")[2]
    assert vertex.yard.lines(job_id, "workerpool0-0") == ["hello"]
    said = [text for _, text in vertex.yard.service_lines(job_id)]
    assert said[:2] == ["Waiting for job to be provisioned.",
                        "Vertex AI is provisioning job running framework. First time usage might take couple of minutes, "
                        "and subsequent runs can be much faster."]


@pytest.mark.parametrize("container", [
    {"command": ["true"] + ["$(A)"] * 100, "env": [{"name": "A", "value": "x" * 100000}]},
    {"command": ["true"], "args": ["$(A)$(A)"], "env": [{"name": "A", "value": "x" * 70000}]},
    {"command": ["true"], "env": [{"name": "A", "value": "x" * 200000}]},
])
def test_what_no_program_can_be_given_is_refused_at_once(vertex, container):
    job = custom_job("true")
    job["jobSpec"]["workerPoolSpecs"][0]["containerSpec"].update({"args": [], **container})
    answer = vertex.yard.post(vertex.parent + "/customJobs", job)
    # Fails with: the family without its error_word
    prefix = "List of found errors:\t1.Field: job_spec.worker_pool_specs[0]; Message: "
    assert answer.status == 400 and answer.error["message"].startswith(prefix), answer
    assert "a program can be given at most" in answer.error["message"], answer
    assert answer.error["details"][0]["fieldViolations"][0]["field"] == "job_spec.worker_pool_specs[0]"


@pytest.mark.parametrize("query, field", [({"pageSize": "-1"}, "page_size"), ({"pageToken": "no"}, "page_token"),
                                          ({"readMask": "nothing"}, "read_mask"), ({"filter": "state="}, "filter")])
def test_lists_refuse_in_the_shape_of_the_service(vertex, query, field):
    for collection in ("customJobs", "hyperparameterTuningJobs", "trainingPipelines", "models"):
        answer = vertex.yard.get(f"{vertex.parent}/{collection}", **query)
        assert answer.status == 400, answer
        assert answer.error["message"].startswith(f"List of found errors:\t1.Field: {field}; Message: "), answer


def test_a_failure_tells_code_and_message(ended):
    assert ended[2]["state"] == "JOB_STATE_FAILED" and ended[2]["error"]["code"] == 3
    assert ended[2]["error"]["message"].startswith("The replica workerpool0-0 exited with a non-zero status of 7.")


@pytest.mark.parametrize("query, expected", [
    ({"filter": 'display_name:"alpha_*"'}, ["alpha_2", "alpha_1"]),
    ({"filter": 'displayName="beta"'}, ["beta"]),
    ({"filter": 'display_name:"alpha*" AND labels.team=red'}, ["alpha_1"]),
    ({"filter": 'state="JOB_STATE_FAILED"'}, ["beta"]),
    ({"filter": 'labels.team:* AND NOT display_name="alpha_2"'}, ["alpha_1"]),
    ({"filter": 'display_name=nothing'}, []),
    ({"filter": "(display_name=beta OR labels.n=1)", "$.xgafv": "2"}, ["beta", "alpha_1"]),
])
def test_filters(vertex, ended, query, expected):
    assert vertex.names(**query) == expected


def test_filters_by_time(vertex, ended):
    assert vertex.names(filter=f'create_time>="{ended[1]["createTime"]}" AND display_name!="mine"') == ["beta", "alpha_2"]
    assert vertex.names(filter=f'create_time="{ended[1]["createTime"]}"') == ["alpha_2"]


def test_pages_join(vertex, ended):
    query, seen = dict(filter="display_name=beta OR labels.team:*", pageSize=2), []
    first = vertex.list(**query)
    seen += first["customJobs"] + vertex.list(pageToken=first["nextPageToken"], **query)["customJobs"]
    assert [job["displayName"] for job in seen] == ["beta", "alpha_2", "alpha_1"]
    assert vertex.yard.get(vertex.parent + "/customJobs", pageSize=2, pageToken=first["nextPageToken"]).status == 400
    assert vertex.yard.get(vertex.parent + "/customJobs", pageSize=-1).status == 400
    assert vertex.yard.get(vertex.parent + "/customJobs", filter="state=JOB").status == 400


@pytest.mark.parametrize("mask, expected", [
    ("name,display_name,create_time", {"name", "displayName", "createTime"}),
    ("name,displayName", {"name", "displayName"}),
    ("labels.team", {"labels"}),
    ("job_spec.worker_pool_specs.machine_spec", {"jobSpec"}),
])
def test_masks(vertex, ended, mask, expected):
    job = vertex.list(filter="labels.n=1", readMask=mask)["customJobs"][0]
    assert set(job) == expected
    assert job.get("labels", {"team": "red"}) == {"team": "red"}
    if "jobSpec" in job:
        assert job["jobSpec"] == {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}}]}


def test_a_mask_of_no_field_is_refused_and_fields_hold_too(vertex, ended):
    answer = vertex.yard.get(vertex.parent + "/customJobs", readMask="nosuch")
    assert answer.status == 400 and "nosuch" in answer.error["message"]
    assert vertex.list(filter="labels.n=1", fields="customJobs(displayName)") == {"customJobs": [{"displayName": "alpha_1"}]}


def bare_post(yard, path):
    """A POST without body and without Content-Type."""
    connection = http.client.HTTPConnection("127.0.0.1", yard.port, timeout=60)
    try:
        connection.putrequest("POST", path)
        connection.putheader("Content-Length", "0")
        connection.endheaders()
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_a_cancel_has_many_forms_and_may_come_again(vertex):
    name = vertex.create(custom_job(RUNS_ON))["name"]
    vertex.until(name, "JOB_STATE_RUNNING")
    path = vertex.path(name) + ":cancel"
    status, body = bare_post(vertex.yard, path)
    assert status == 200 and body.strip() in (b"{}", b"{\n}")
    assert vertex.get(name)["state"] in ("JOB_STATE_CANCELLING", "JOB_STATE_CANCELLED")
    job = vertex.until(name, "JOB_STATE_CANCELLED")
    assert job["error"]["code"] == 1 and job["error"]["message"]
    for again in (vertex.yard.post(path, {}), vertex.yard.post(path, b""),
                  vertex.yard.request("POST", path + "?%24alt=json%3Benum-encoding%3Dint", b"{}"),
                  vertex.yard.request("POST", path + "?$alt=json%3Benum-encoding=int", b"{\n}")):
        assert (again.status, again.json) == (200, {})
    assert vertex.get(name)["state"] == "JOB_STATE_CANCELLED"


@pytest.mark.parametrize("version", [long("v1"), "v1beta1"])
def test_a_deletion_is_an_operation_under_every_address(yard, version):
    vertex = Vertex(yard, version)
    name = vertex.run(custom_job("exit 0"))["name"]
    operation = yard.request("DELETE", vertex.path(name), headers={"Content-Type": "application/json"})
    assert operation.status == 200 and operation.json["done"] is True
    told = operation.json
    assert told["response"] == {"@type": "type.googleapis.com/google.protobuf.Empty"}
    assert told["metadata"]["@type"] == f"type.googleapis.com/google.cloud.aiplatform.{version}.DeleteOperationMetadata"
    assert MICROS.fullmatch(told["metadata"]["genericMetadata"]["createTime"])
    answer = yard.get(vertex.path(name))
    assert answer.status == 404 and answer.error["status"] == "NOT_FOUND" and "does not exist" in answer.error["message"]
    assert yard.request("DELETE", vertex.path(name)).status == 404
    for prefix in ("v1", "v1beta1", "ui"):
        got = yard.get(f"/{prefix}/{told['name']}?")
        assert got.status == 200 and got.json["name"] == told["name"] and got.json["done"]
        assert yard.post(f"/{prefix}/{told['name']}:wait?timeout=5s").json["done"] is True
        assert yard.post(f"/{prefix}/{told['name']}:wait", {"timeout": "5s"}).json["done"] is True
        # Fails with: the row of :wait without its body
        for nonsense in ({"timeout": "soon"}, {"timeout": "-1s"}, {"timout": "5s"}):
            answer = yard.post(f"/{prefix}/{told['name']}:wait", nonsense)
            assert answer.status == 400 and "tim" in answer.error["message"], answer
        assert yard.post(f"/{prefix}/{told['name']}:wait?timeout=-1s").status == 400
        assert yard.post(f"/{prefix}/{told['name']}:cancel", {}).json == {}
        nested = f"/{prefix}/{name}/operations"
        assert [o["name"] for o in yard.get(nested).json["operations"]] == [told["name"]]
        assert yard.get(f"{nested}/{told['name'].rpartition('/')[2]}").status == 200
        parent = told["name"].rpartition("/")[0]
        assert told["name"] in [o["name"] for o in yard.get(f"/{prefix}/{parent}").json["operations"]]
    assert yard.request("DELETE", f"/ui/{told['name']}").json == {}
    assert yard.get(f"/v1/{told['name']}").status == 404


def test_what_runs_is_not_deleted(vertex):
    name = vertex.create(custom_job(RUNS_ON))["name"]
    answer = vertex.yard.request("DELETE", vertex.path(name))
    assert answer.status == 400 and answer.error["status"] == "FAILED_PRECONDITION"
    vertex.yard.post(vertex.path(name) + ":cancel")
    vertex.until(name, "JOB_STATE_CANCELLED")
    assert vertex.yard.request("DELETE", vertex.path(name)).status == 200


def test_a_project_has_a_number_and_an_id(vertex, ended):
    name = ended[0]["name"]
    number = name.split("/")[1]
    by_id = name.replace(number, vertex.yard.project, 1)
    assert number.isdigit() and vertex.get(by_id) == vertex.get(name)
    assert vertex.yard.get(f"/v1/projects/{number}/locations/{REGION}/customJobs").json == vertex.list()
    assert vertex.yard.get(f"/v1/{by_id}".replace(REGION, "europe-west4")).status == 404
    assert vertex.yard.get(vertex.path(name).replace("customJobs", "jobs")).status == 404
    assert Vertex(vertex.yard, region="europe-west4").list() == {}


def test_a_running_job_has_shells(vertex):
    made = vertex.create(custom_job(RUNS_ON, enableWebAccess=True))
    job = vertex.until(made["name"], "JOB_STATE_RUNNING")
    assert list(job["webAccessUris"]) == ["workerpool0-0"] and job["webAccessUris"]["workerpool0-0"].startswith("http://")
    vertex.yard.post(vertex.path(made["name"]) + ":cancel")
    assert "webAccessUris" not in vertex.until(made["name"], "JOB_STATE_CANCELLED")


@pytest.mark.long
def test_both_families_at_once(vertex):
    other = vertex.yard.create(script("echo ml"))
    mine = vertex.create(custom_job("echo vertex"))
    vertex.until(mine["name"], "JOB_STATE_SUCCEEDED")
    assert vertex.yard.until(other, "SUCCEEDED")
    number = mine["name"].rpartition("/")[2]
    assert vertex.yard.get(f"{vertex.yard.jobs_path}/{number}").status == 404
    assert vertex.yard.post(f"{vertex.yard.jobs_path}/{number}:cancel").status == 404
    assert number not in [j["jobId"] for j in vertex.yard.get(vertex.yard.jobs_path, pageSize=100).json["jobs"]]
    assert vertex.yard.get(f"{vertex.parent}/customJobs/{other}").status == 404


@pytest.mark.parametrize("prefix", ["v1", "v1beta1", "ui"])
def test_locations(yard, prefix):
    path = f"/{prefix}/projects/{yard.project}/locations"
    page = yard.get(path, pageSize=100, filter="", extraLocationTypes="x").json
    names = [location["locationId"] for location in page["locations"]]
    assert len(names) == 42 and names == sorted(names) and "nextPageToken" not in page
    assert yard.get(f"{path}/us-east5").json == {
        "name": f"projects/{yard.project}/locations/us-east5", "locationId": "us-east5",
        "labels": {"cloud.googleapis.com/region": "us-east5"}}
    assert yard.get(f"{path}/us-central1").json["capabilities"][0]["type"] == "TRAINING"
    assert yard.get(f"{path}/mars-east1").status == 404


@pytest.mark.parametrize("path", ["datasets", "datasets/1", "endpoints", "tensorboards/1", "metadataStores/default",
                                  "metadataStores/default/contexts", "studies", "pipelineJobs", "persistentResources"])
def test_what_is_not_emulated_says_so(vertex, path):
    answer = vertex.yard.get(f"{vertex.parent}/{path}")
    assert answer.status == 404 and "trainyard does not emulate it" in answer.error["message"]


def test_a_bad_spec_is_refused_with_its_fields(vertex):
    answer = vertex.yard.post(vertex.parent + "/customJobs", {"displayName": "x", "jobSpec": {"workerPoolSpecs": []}})
    assert answer.status == 400 and answer.error["message"].startswith("List of found errors:\t1.Field: job_spec.worker_pool_specs")
    answer = vertex.yard.post(vertex.parent + "/customJobs", {"nosuch": 1})
    assert answer.status == 400 and 'Unknown name "nosuch" at \'custom_job\'' in answer.error["message"]
    answer = vertex.yard.post(vertex.parent.replace(REGION, "No%20Region") + "/customJobs", custom_job("exit 0"))
    assert answer.status == 400


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_the_discovery_document_has_what_there_is(yard, version):
    document = yard.get(f"/discovery/v1/apis/aiplatform/{version}/rest").json
    assert document["version"] == version and document["rootUrl"] == yard.base + "/"
    locations = document["resources"]["projects"]["resources"]["locations"]
    jobs = locations["resources"]["customJobs"]
    assert set(jobs["methods"]) == {"create", "get", "list", "delete", "cancel"}
    assert jobs["methods"]["create"]["id"] == "aiplatform.projects.locations.customJobs.create"
    assert jobs["methods"]["create"]["path"] == version + "/{+parent}/customJobs"
    assert set(jobs["resources"]["operations"]["methods"]) == {"get", "list", "delete", "cancel", "wait"}
    assert set(locations["methods"]) == {"get", "list"} and "datasets" not in locations["resources"]
    described = [a["id"] for a in yard.get("/discovery/v1/apis", name="aiplatform").json["items"]]
    assert described == ["aiplatform:v1", "aiplatform:v1beta1"]


def test_jobs_and_operations_outlive_the_daemon(make_daemon):
    with make_daemon("--offline", "--stop-grace", "2") as daemon:
        vertex = Vertex(daemon)
        kept, gone = (vertex.run(custom_job("exit 0", name)) for name in ("kept", "gone"))
        operation = daemon.request("DELETE", vertex.path(gone["name"])).json
        runs = vertex.create(custom_job(RUNS_ON, "runs"))
        vertex.until(runs["name"], "JOB_STATE_RUNNING")
        daemon.restart()
        assert vertex.get(kept["name"]) == kept and vertex.names() == ["runs", "kept"]
        assert daemon.get(f"/v1/{operation['name']}").json == operation
        daemon.post(vertex.path(runs["name"]) + ":cancel")
        vertex.until(runs["name"], "JOB_STATE_CANCELLED")


def with_gpus(count):
    job = custom_job("exit 0")
    job["jobSpec"]["workerPoolSpecs"][0]["machineSpec"] |= {"acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": count}
    return job


def test_quotas_are_told_in_the_services_words(make_daemon):
    with make_daemon("--offline", "--stop-jobs", "--quota", "create=3,read=3,T4=1") as daemon:
        vertex = Vertex(daemon)
        before = daemon.post(vertex.parent + "/customJobs", {"displayName": "x"})
        assert before.status == 400  # a request that is invalid by itself does not count for the quota
        answer = daemon.post(vertex.parent + "/customJobs", with_gpus(2))
        assert (answer.status, answer.error["status"]) == (429, "RESOURCE_EXHAUSTED")
        assert answer.error["message"] == ("The following quota metrics exceed quota limits: "
                                           "aiplatform.googleapis.com/custom_model_training_nvidia_t4_gpus")
        for _ in range(2):
            vertex.create(custom_job("exit 0"))
        answer = daemon.post(vertex.parent + "/customJobs", custom_job("exit 0"))
        assert answer.status == 429 and "aiplatform.googleapis.com" in answer.error["message"]
        assert daemon.create(script("exit 0"))  # the other family of the API has its own count
        assert [daemon.get(vertex.parent + "/customJobs").status for _ in range(4)] == [200, 200, 200, 429]


def test_gpus_that_the_host_has_not_are_a_stockout(make_daemon):
    with make_daemon("--offline", "--accelerators", "require", "--gpus", "none") as daemon:
        wait_until(lambda: daemon.get("/healthz").json["engine"]["reachable"], 30)
        answer = daemon.post(Vertex(daemon).parent + "/customJobs", with_gpus(1))
        assert answer.status == 429 and answer.error["message"].startswith(f"Resources are insufficient in region: {REGION}.")


@pytest.mark.long
def test_jobs_are_stopped_with_a_daemon_that_is_told_to(make_daemon):
    daemon = make_daemon("--offline", "--stop-grace", "2", "--stop-jobs").start()
    name = Vertex(daemon).create(custom_job(RUNS_ON))["name"]
    Vertex(daemon).until(name, "JOB_STATE_RUNNING")
    daemon.restart()
    job = Vertex(daemon).get(name)
    daemon.stop()
    assert job["state"] == "JOB_STATE_CANCELLED" and "emulator was stopped" in job["error"]["message"]
