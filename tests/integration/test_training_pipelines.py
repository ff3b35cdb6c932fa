# SPDX-License-Identifier: Apache-2.0
"""Training pipelines of Vertex AI, and the models that they upload, over plain HTTP, on the engine."""
import re

import pytest

from support.engine import IMAGE
from support.marks import long
from support.tuning import REPORTING
from support.vertex import DEFINITIONS, REGION, RUNS_ON, Vertex, pipeline, pool, tuning_job

OUTPUT = {"baseOutputDirectory": {"outputUriPrefix": "gs://lines/out"}}
SERVING = {"imageUri": "gcr.io/p/serving:1", "predictRoute": "/predict"}
ENDED = ("PIPELINE_STATE_SUCCEEDED", "PIPELINE_STATE_FAILED", "PIPELINE_STATE_CANCELLED")


@pytest.fixture(scope="module")
def lines(yard):
    found = Vertex(yard, collection="trainingPipelines")
    yield found
    found.cancel_all()


@pytest.fixture(scope="module")
def jobs(yard):
    return Vertex(yard)


@pytest.fixture(scope="module")
def models(yard):
    return Vertex(yard, collection="models")


def run(lines, body, expect="PIPELINE_STATE_SUCCEEDED"):
    return lines.until(lines.create(body)["name"], expect)


def backing(line):
    return line["trainingTaskMetadata"]["backingCustomJob"]


def refusal(lines, body):
    answer = lines.yard.post(lines.parent + "/trainingPipelines", body)
    assert answer.status != 200, answer
    return answer


@pytest.fixture(scope="module")
def trained(lines):
    """A pipeline that has uploaded a model, in the member names of the public Python client."""
    return run(lines, {
        "displayName": "first",
        "trainingTaskDefinition": DEFINITIONS + "custom_task_1.0.0.yaml",
        "trainingTaskInputs": {
            "worker_pool_specs": [{
                "machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1.0,
                "disk_spec": {"boot_disk_type": "pd-ssd", "boot_disk_size_gb": 100.0},
                "containerSpec": {"imageUri": IMAGE, "command": ["sh", "-c", "echo $AIP_MODEL_DIR; echo $A"], "args": [],
                                  "env": [{"name": "A", "value": "b"}]}}],
            "base_output_directory": {"output_uri_prefix": "gs://lines/first"},
            "scheduling": {"timeout": "600s", "restart_job_on_worker_restart": False, "disable_retries": False,
                           "strategy": None, "max_wait_duration": None},
            "service_account": None, "network": None, "tensorboard": None, "enable_web_access": False},
        "modelToUpload": {"displayName": "m", "containerSpec": SERVING, "versionAliases": ["default"], "labels": {"k": "v"}},
        "labels": {"team": "red"}})


def test_a_new_pipeline_is_pending_and_repeats_its_inputs_as_they_came(lines):
    body = pipeline("exit 0", "echo", modelToUpload={"displayName": "m", "artifactUri": "gs://elsewhere/m"})
    body["trainingTaskInputs"] |= {"scheduling": {"strategy": None, "disable_retries": False}, "enable_web_access": False}
    made = lines.create(body)
    assert re.fullmatch(rf"projects/\d+/locations/{REGION}/trainingPipelines/[1-9]\d{{17,18}}", made["name"])
    assert made["state"] == "PIPELINE_STATE_PENDING" and made["createTime"] == made["updateTime"]
    assert not {"startTime", "endTime", "error", "labels"} & set(made)
    assert all(made[name] == body[name] for name in body)
    assert lines.until(made["name"], *ENDED)["state"] == "PIPELINE_STATE_SUCCEEDED"


def test_a_pipeline_follows_its_job_and_uploads_its_model(yard, lines, jobs, models, trained):
    job = jobs.get(backing(trained))
    assert (job["displayName"], job["labels"]) == ("first-custom-job", {"team": "red"})
    assert [job[name] for name in ("createTime", "startTime", "endTime", "updateTime")] == [
        trained[name] for name in ("createTime", "startTime", "endTime", "updateTime")]
    assert yard.lines(job["name"].rpartition("/")[2], "workerpool0-0") == ["gs://lines/first/model/", "b"]
    assert trained["trainingTaskInputs"]["worker_pool_specs"][0]["replica_count"] == 1.0
    assert trained["trainingTaskInputs"]["scheduling"]["strategy"] is None and "error" not in trained
    uploaded = trained["modelToUpload"]
    assert re.fullmatch(rf"projects/\d+/locations/{REGION}/models/[1-9]\d{{17,18}}", uploaded["name"])
    assert uploaded["versionId"] == "1" and uploaded["containerSpec"] == SERVING
    model = models.get(uploaded["name"])
    assert models.get(uploaded["name"] + "@1") == models.get(uploaded["name"] + "@default") == model
    assert model.pop("createTime") == model.pop("updateTime") == model.pop("versionCreateTime") == model.pop("versionUpdateTime")
    assert model == {"name": uploaded["name"], "displayName": "m", "containerSpec": SERVING, "labels": {"k": "v"},
                     "artifactUri": "gs://lines/first/model/", "trainingPipeline": trained["name"], "versionId": "1",
                     "versionAliases": ["default"], "modelSourceInfo": {"sourceType": "CUSTOM"}}


@pytest.mark.long
def test_a_failure_is_that_of_the_job_and_leaves_no_model(lines, jobs, models):
    body = pipeline("echo no >&2; exit 7", "failing", OUTPUT, modelToUpload={"displayName": "never"}, modelId="never")
    line = run(lines, body, "PIPELINE_STATE_FAILED")
    assert line["error"] == jobs.get(backing(line))["error"] and line["error"]["code"] == 3
    assert line["error"]["message"].startswith("The replica workerpool0-0 exited with a non-zero status of 7.")
    assert line["modelToUpload"] == {"displayName": "never"}
    assert lines.yard.get(f"{models.parent}/models/never").status == 404
    # The model's name can be used again.
    assert run(lines, body | pipeline("exit 0", "works", OUTPUT))["modelToUpload"]["name"].endswith("/models/never")


def test_a_cancel_is_the_jobs_and_what_runs_is_not_deleted(yard, lines, jobs):
    name = lines.create(pipeline(RUNS_ON, "long"))["name"]
    line = lines.until(name, "PIPELINE_STATE_RUNNING")
    refused = yard.request("DELETE", lines.path(name))
    assert refused.status == 400 and refused.error["status"] == "FAILED_PRECONDITION"
    assert "PIPELINE_STATE_RUNNING" in refused.error["message"]
    assert yard.post(lines.path(name) + ":cancel", b"").json == {}
    line = lines.until(name, "PIPELINE_STATE_CANCELLED")
    assert line["error"]["code"] == 1 and jobs.get(backing(line))["state"] == "JOB_STATE_CANCELLED"
    assert yard.post(lines.path(name) + ":cancel", {}).json == {}


@pytest.mark.parametrize("version", ["v1", long("v1beta1")])
def test_a_deletion_is_an_operation_and_leaves_job_and_model(yard, jobs, models, version):
    lines = Vertex(yard, version, collection="trainingPipelines")
    line = run(lines, pipeline("exit 0", "gone", OUTPUT, modelToUpload={"displayName": "kept"}))
    told = yard.request("DELETE", lines.path(line["name"])).json
    assert told["done"] is True and f".{version}.DeleteOperationMetadata" in told["metadata"]["@type"]
    assert yard.get(lines.path(line["name"])).status == 404
    nested = f"{line['name']}/operations/{told['name'].rpartition('/')[2]}"
    for prefix in ("v1", "v1beta1", "ui"):
        assert yard.get(f"/{prefix}/{nested}").json["name"] == told["name"]
    assert jobs.get(backing(line))["state"] == "JOB_STATE_SUCCEEDED"
    assert models.get(line["modelToUpload"]["name"])["trainingPipeline"] == line["name"]
    again = yard.post(lines.path(line["name"]) + ":cancel", {})
    assert again.status == 404 and line["name"].rpartition("/")[2] in again.error["message"]


@pytest.mark.parametrize("query, expected", [
    ({"filter": 'display_name="first"'}, ["first"]),
    ({"filter": 'labels.team=red AND state="PIPELINE_STATE_SUCCEEDED"'}, ["first"]),
    ({"filter": 'display_name:"fir*" AND training_task_definition:"*/custom_task_1.0.0.yaml"'}, ["first"]),
    ({"filter": f'display_name=first AND trainingTaskDefinition!="{DEFINITIONS}custom_task_1.0.0.yaml"'}, []),
    ({"filter": 'display_name=first AND NOT state=PIPELINE_STATE_SUCCEEDED'}, []),
    ({"filter": "display_name=first", "readMask": "display_name"}, ["first"]),
])
def test_filters(lines, trained, query, expected):
    assert lines.names(**query) == expected
    assert lines.yard.get(lines.parent + "/trainingPipelines", filter="state=JOB_STATE_RUNNING").status == 400


def test_pages_join(lines, trained):
    first = lines.list(pageSize=1)
    second = lines.list(pageSize=1, pageToken=first["nextPageToken"])
    assert first["trainingPipelines"][0]["createTime"] >= second["trainingPipelines"][0]["createTime"]
    assert first["trainingPipelines"] + second["trainingPipelines"] == lines.list(pageSize=2)["trainingPipelines"]
    assert lines.list(pageSize=2, filter="display_name=first", readMask="name,state")["trainingPipelines"] == [
        {"name": trained["name"], "state": trained["state"]}]


def test_versions_of_a_model_come_through_its_parent(yard, lines, models):
    upload = {"displayName": "v", "artifactUri": "gs://lines/v"}
    first = run(lines, pipeline("exit 0", modelToUpload=upload, modelId="versioned"))["modelToUpload"]
    taken = refusal(lines, pipeline("exit 0", modelToUpload=upload, modelId="versioned"))
    assert taken.status == 409 and "versioned" in taken.error["message"]
    second = run(lines, pipeline("exit 0", modelToUpload=upload | {"versionAliases": ["newest"]}, parentModel=first["name"]))
    assert second["modelToUpload"]["name"] == first["name"] and second["modelToUpload"]["versionId"] == "2"
    parent = f"projects/{yard.project}/locations/{REGION}/models/versioned"
    third = run(lines, pipeline("exit 0", modelToUpload=upload | {"versionAliases": ["default", "newest"]}, parentModel=parent))
    assert third["parentModel"] == parent
    versions = yard.get(models.path(first["name"]) + ":listVersions").json["models"]
    assert [(v["versionId"], v.get("versionAliases")) for v in versions] == [
        ("3", ["default", "newest"]), ("2", None), ("1", None)]
    assert len({v["createTime"] for v in versions}) == 1 and len({v["versionCreateTime"] for v in versions}) == 3
    for asked, version in (("", "3"), ("@2", "2"), ("@newest", "3"), ("@default", "3")):
        assert models.get(first["name"] + asked)["versionId"] == version
    for none in ("@4", "@0", "@oldest", "@99999999999999999999"):
        assert yard.get(models.path(first["name"]) + none).status == 404
    listed = models.list(filter="model=versioned")["models"]
    assert [model["versionId"] for model in listed] == ["3"]
    page = yard.get(models.path(first["name"]) + ":listVersions", pageSize=2, readMask="versionId").json
    assert page["models"] == [{"versionId": "3"}, {"versionId": "2"}] and page["nextPageToken"]
    assert yard.request("DELETE", models.path(first["name"]) + "@2").status == 400
    told = yard.request("DELETE", models.path(first["name"])).json
    assert told["done"] is True and yard.get(models.path(first["name"])).status == 404
    assert yard.get(f"/ui/{first['name']}/operations").json["operations"] == [told]
    assert yard.get(models.path(first["name"]) + ":listVersions").status == 404
    missing = refusal(lines, pipeline("exit 0", modelToUpload=upload, parentModel=first["name"]))
    assert missing.status == 404 and "versioned" in missing.error["message"]


def test_models_are_there_after_a_restart(yard, models, trained):
    model = models.get(trained["modelToUpload"]["name"])
    yard.restart()
    assert models.get(model["name"]) == model
    assert models.list(filter="labels.k=v AND display_name=m")["models"] == [model]


def test_a_tuning_task_uploads_the_best_trials_model(yard, lines, models):
    inputs = tuning_job(REPORTING, {"parameterId": "x", "integerValueSpec": {"minValue": 1, "maxValue": 2}},
                        count=2, parallel=2, study={"algorithm": "GRID_SEARCH"})
    del inputs["displayName"]
    inputs["trialJobSpec"]["baseOutputDirectory"] = {"outputUriPrefix": "gs://lines/tuned"}
    line = run(lines, {"displayName": "tuning", "trainingTaskInputs": inputs, "modelToUpload": {"displayName": "best"},
                       "trainingTaskDefinition": DEFINITIONS + "hyperparameter_tuning_task_1.0.0.yaml"})
    metadata = line["trainingTaskMetadata"]
    tuned = lines.get(metadata["backingHyperparameterTuningJob"])
    best = max(tuned["trials"], key=lambda trial: trial["finalMeasurement"]["metrics"][0]["value"])
    assert tuned["displayName"] == "tuning-hyperparameter-tuning-job" and len(tuned["trials"]) == 2
    assert metadata["bestTrialBackingCustomJob"] == best["customJob"]
    model = models.get(line["modelToUpload"]["name"])
    assert model["artifactUri"] == f"gs://lines/tuned/{best['id']}/model/"


def test_a_tuning_task_needs_an_output_directory(lines):
    inputs = tuning_job("exit 0", {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}})
    del inputs["displayName"]
    refused = refusal(lines, {"displayName": "t", "trainingTaskInputs": inputs,
                              "trainingTaskDefinition": DEFINITIONS + "hyperparameter_tuning_task_1.0.0.yaml"})
    assert refused.status == 400 and "trial_job_spec.base_output_directory" in refused.error["message"]


@pytest.mark.parametrize("change, status, said", [
    ({"inputDataConfig": {"datasetId": "1"}}, "FAILED_PRECONDITION", "annotation_schema_uri"),
    ({"inputDataConfig": {"datasetId": "1", "annotationSchemaUri": "gs://a/b"}}, "INVALID_ARGUMENT", "managed data sets"),
    ({"trainingTaskDefinition": DEFINITIONS + "automl_tabular_1.0.0.yaml"}, "INVALID_ARGUMENT", "training_task_definition"),
    # Fails with: the data set's annotations were asked for first, which AutoML has not.
    ({"trainingTaskDefinition": DEFINITIONS + "automl_image_classification_1.0.0.yaml", "inputDataConfig": {"datasetId": "1"}},
     "INVALID_ARGUMENT", "training_task_definition; Message: trainyard runs"),
    ({"trainingTaskInputs": {"workerPoolSpecs": [pool("x") | {"containerSpec": {"imageUri": "i", "command": {"sh": 1}}}]}},
     "INVALID_ARGUMENT", "Unable to parse `training_pipeline.training_task_inputs` into custom task `inputs` defined in the "
     f"file: {DEFINITIONS}custom_task_1.0.0.yaml"),
    ({"trainingTaskInputs": {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": 1}]}},
     "INVALID_ARGUMENT", "training_pipeline.training_task_inputs.worker_pool_specs[0]"),
    ({"modelToUpload": {"displayName": "m"}}, "INVALID_ARGUMENT", "training_pipeline.model_to_upload.artifact_uri"),
    ({"modelToUpload": {"displayName": "m", "artifactUri": "gs://lines/m", "versionAliases": ["1"]}}, "INVALID_ARGUMENT",
     "version_aliases"),
    ({"modelToUpload": {"displayName": "m", "artifactUri": "gs://lines/m"},
      "parentModel": f"projects/other/locations/{REGION}/models/m"}, "INVALID_ARGUMENT",
     "1.Field: training_pipeline.parent_model; Message: "),
    ({"modelToUpload": {"displayName": "m", "artifactUri": "gs://lines/m"}, "modelId": "a",
      "parentModel": f"projects/PROJECT/locations/{REGION}/models/b"}, "INVALID_ARGUMENT",
     "1.Field: training_pipeline.model_id; Message: 'a' is not"),
    ({"displayName": ""}, "INVALID_ARGUMENT", "training_pipeline.display_name"),
    ({"nosuch": 1}, "INVALID_ARGUMENT", 'Unknown name "nosuch" at \'training_pipeline\''),
])
def test_refusals(lines, jobs, change, status, said):
    if "parentModel" in change:
        change = change | {"parentModel": change["parentModel"].replace("PROJECT", lines.yard.project)}
    refused = refusal(lines, pipeline("exit 0", "refused") | change)
    assert refused.error["status"] == status and said in refused.error["message"], refused
    assert lines.names(filter="display_name=refused") == [] and jobs.names(filter='display_name:"refused*"') == []


def test_what_serves_models_is_not_there(yard, models, trained):
    name = trained["modelToUpload"]["name"]
    for method, path in (("POST", models.parent + "/models:upload"), ("POST", models.path(name) + ":export"),
                         ("PATCH", models.path(name)), ("POST", models.parent + "/endpoints")):
        answer = yard.request(method, path, b"{}")
        assert answer.status == 404 and answer.error["status"] == "NOT_FOUND", answer
