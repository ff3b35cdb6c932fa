# SPDX-License-Identifier: Apache-2.0
"""Every method and field of Vertex AI over plain HTTP, as a client without a library sends them. Prints one line of JSON for
each test; see test_aiplatform.py. Bodies of jobs that trainyard cannot run are sent, too: the answer must say so."""
import http.client
import json
import os
import time
import urllib.parse

from one_by_one import run_tests

PROJECT = "projects/" + os.environ["GOOGLE_CLOUD_PROJECT"]
PARENT = PROJECT + "/locations/us-central1"
FINAL = tuple(f"{kind}_STATE_{end}" for kind in ("JOB", "PIPELINE") for end in ("SUCCEEDED", "FAILED", "CANCELLED"))
DEFINITIONS = "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
NOW = "2026-01-05T10:00:00Z"
KEY = "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"
FOREVER = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
ACCOUNT = "me@my-project.iam.gserviceaccount.com"

# Output-only fields; clients that post a resource that they have read send these.
OUTPUT = {"name": "mine", "state": 4, "createTime": NOW, "startTime": NOW, "endTime": NOW, "updateTime": NOW,
          "error": {"code": 3, "message": "no", "details": [{"@type": "type.googleapis.com/google.protobuf.Empty"}]}}
JOB_OUTPUT = OUTPUT | {"satisfiesPzs": True, "satisfiesPzi": True}

address = urllib.parse.urlsplit(os.environ["TRAINYARD_ENDPOINT"])
connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)


def call(verb, path, body=None, **query):
    """Makes a call; returns the status and the answer."""
    target = f"/v1/{path}" + ("?" + urllib.parse.urlencode(query) if query else "")
    connection.request(verb, target, None if body is None else json.dumps(body),
                       {} if body is None else {"Content-Type": "application/json"})
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def done(verb, path, body=None, **query):
    status, answer = call(verb, path, body, **query)
    assert status == 200, answer
    return answer


def refused(says, verb, path, body=None, **query):
    status, answer = call(verb, path, body, **query)
    assert status == 400 and says in answer["error"]["message"], answer


def until(name, *states):
    end = time.monotonic() + 60
    while True:
        resource = done("GET", name)
        if resource["state"] in states:
            return resource
        assert resource["state"] not in FINAL and time.monotonic() < end, resource
        time.sleep(0.05)


def pool(text, **more):
    return {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1",
            "containerSpec": {"imageUri": "trainyard-test:1", "command": ["sh", "-c"], "args": [text],
                              "env": [{"name": "WORD", "value": "a b"}]}, **more}


def spec(text):
    """A CustomJobSpec with all fields that can be combined."""
    network = {"networkAttachment": "projects/p/regions/us-central1/networkAttachments/a", "dnsPeeringConfigs": [
        {"domain": "a.example.", "targetProject": "p", "targetNetwork": "n"}]}
    return {
        "workerPoolSpecs": [pool(text, diskSpec={"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100})],
        "scheduling": {"timeout": "3600s", "restartJobOnWorkerRestart": True, "strategy": "STANDARD"},
        "baseOutputDirectory": {"outputUriPrefix": "gs://my-bucket/out/"}, "serviceAccount": ACCOUNT,
        "tensorboard": "projects/1/locations/us-central1/tensorboards/2", "enableWebAccess": True, "enableDashboardAccess": True,
        "experiment": "projects/1/locations/us-central1/metadataStores/default/contexts/e",
        "experimentRun": "projects/1/locations/us-central1/metadataStores/default/contexts/r",
        "protectedArtifactLocationId": "us-central1", "models": ["projects/1/locations/us-central1/models/2"],
        "pscInterfaceConfig": network}


# Fields that exclude each other: each is sent in a spec of its own.
PACKAGE = {"executorImageUri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest", "args": ["--a"],
           "env": [{"name": "A", "value": "b"}], "packageUris": ["gs://my-bucket/p.tar.gz"], "pythonModule": "trainer.task"}
GPU = {"machineType": "g2-standard-4", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1, "gpuPartitionSize": "1g.5gb",
       "reservationAffinity": {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": "compute.googleapis.com/reservation-name",
                               "values": ["projects/p/zones/us-central1-a/reservations/r"]}}
MOUNTS = {"nfsMounts": [{"server": "10.0.0.1", "path": "/share", "mountPoint": "data"}],
          "lustreMounts": [{"instanceIp": "10.0.0.2", "volumeHandle": "v", "filesystem": "fs", "mountPoint": "fast"}]}
NETWORK = {"network": "projects/1/global/networks/n", "reservedIpRanges": ["range"]}


def parts():
    small = pool("true")
    package = {"machineSpec": small["machineSpec"], "replicaCount": 1, "pythonPackageSpec": PACKAGE}
    yield "a network", {"workerPoolSpecs": [small], **NETWORK}
    yield "a package", {"workerPoolSpecs": [package]}
    yield "an accelerator", {"workerPoolSpecs": [{**small, "machineSpec": GPU}]}
    yield "a Cloud TPU", {"workerPoolSpecs": [{**small, "machineSpec": {"machineType": "ct5lp-hightpu-1t", "tpuTopology": "1x1"}}]}
    yield "no retries", {"workerPoolSpecs": [small], "scheduling": {"disableRetries": True}}
    yield "a wait for capacity", {"workerPoolSpecs": [{**small, "machineSpec": {
        "machineType": "g2-standard-4", "acceleratorType": "NVIDIA_L4", "acceleratorCount": 1}}],
        "scheduling": {"strategy": "FLEX_START", "maxWaitDuration": "60s"}}


STUDY = {
    "metrics": [{"metricId": "score", "goal": "MINIMIZE"}], "algorithm": "RANDOM_SEARCH", "observationNoise": "LOW",
    "measurementSelectionType": "BEST_MEASUREMENT",
    "parameters": [
        {"parameterId": "x", "doubleValueSpec": {"minValue": 1.0, "maxValue": 2.0, "defaultValue": 1.5},
         "scaleType": "UNIT_LOG_SCALE"},
        {"parameterId": "n", "integerValueSpec": {"minValue": "1", "maxValue": "9", "defaultValue": "2"}, "conditionalParameterSpecs": [
            {"parentIntValues": {"values": ["1"]}, "parameterSpec": {"parameterId": "a", "discreteValueSpec": {"values": [1.0]}}}]},
        {"parameterId": "kind", "categoricalValueSpec": {"values": ["p", "q"], "defaultValue": "p"}, "conditionalParameterSpecs": [
            {"parentCategoricalValues": {"values": ["q"]}, "parameterSpec": {"parameterId": "b",
                                                                             "discreteValueSpec": {"values": [1.0]}}}]},
        {"parameterId": "size", "discreteValueSpec": {"values": [1.0, 2.0], "defaultValue": 1.0}, "conditionalParameterSpecs": [
            {"parentDiscreteValues": {"values": [2.0]}, "parameterSpec": {"parameterId": "c",
                                                                          "discreteValueSpec": {"values": [1.0]}}}]}],
    "studyStoppingConfig": {
        "shouldStopAsap": True, "minimumRuntimeConstraint": {"maxDuration": "0.1s"}, "minNumTrials": 1, "maxNumTrials": 2,
        "maximumRuntimeConstraint": {"maxDuration": "3600s"}, "maxNumTrialsNoProgress": 9, "maxDurationNoProgress": "3600s"}}
STOPPING = {
    "convexAutomatedStoppingSpec": {"maxStepCount": "10", "minStepCount": "1", "minMeasurementCount": "5", "useElapsedDuration": False,
                                    "learningRateParameterName": "x", "updateAllStoppedTrials": True},
    "decayCurveStoppingSpec": {"useElapsedDuration": True}, "medianAutomatedStoppingSpec": {"useElapsedDuration": True}}
MEASUREMENT = {"elapsedDuration": "1s", "stepCount": "1", "metrics": [{"metricId": "score", "value": 1.5}]}
TRIAL = {"name": "t", "id": "1", "state": "SUCCEEDED", "parameters": [{"parameterId": "x", "value": 1.0}], "finalMeasurement": MEASUREMENT,
         "measurements": [MEASUREMENT], "startTime": NOW, "endTime": NOW, "clientId": "c", "infeasibleReason": "r", "customJob": "j",
         "webAccessUris": {"a": "b"}}
REPORT = ("echo '{\"global_step\": \"3\", \"score\": \"1.5\", \"timestamp\": 1.5, \"trial\": \"1\"}' "
          "> \"$CLOUD_ML_HP_METRIC_FILE\"")


def search(display, /, text=REPORT, study=None, trial=None, **more):
    return {"displayName": display, "studySpec": {**STUDY, **(study or {})}, "maxTrialCount": 1, "parallelTrialCount": 1,
            "maxFailedTrialCount": 1, "trialJobSpec": trial or {"workerPoolSpecs": [pool(text)]}, **more}


def ends(collection, made, expected="JOB_STATE_SUCCEEDED"):
    """Waits for a job's end, finds it in lists, and deletes it."""
    name = made["name"]
    ended = until(name, expected)
    named = f'display_name="{made["displayName"]}"'
    listed = done("GET", f"{PARENT}/{collection}", filter=named, pageSize=1, readMask="name,displayName,state")
    assert listed[collection][0] == {key: ended[key] for key in ("name", "displayName", "state")}, listed
    assert done("GET", f"{PARENT}/{collection}", filter=named, pageSize=1)[collection][0]["name"] == name
    # The next page depends on what else runs, so only its names are read: the ledger must not record other fields.
    page = done("GET", f"{PARENT}/{collection}", pageSize=1, readMask="name")
    if "nextPageToken" in page:
        done("GET", f"{PARENT}/{collection}", pageSize=1, pageToken=page["nextPageToken"], readMask="name")
    assert done("POST", name + ":cancel", {}) == {}
    return ended


def deletes(name):
    """Deletes a resource, and calls all methods of operations on the result. A second resource makes a second page."""
    beside = done("POST", f"{PARENT}/customJobs", {"displayName": "beside", "jobSpec": {"workerPoolSpecs": [pool("true")]}})["name"]
    until(beside, "JOB_STATE_SUCCEEDED")
    older = done("DELETE", beside)
    operation = done("DELETE", name)
    assert operation["done"], operation
    places = [PARENT, name]
    for place in places:
        listed = done("GET", place + "/operations", filter="done=true", pageSize=1, returnPartialSuccess=False)["operations"]
        assert listed[0] == operation, listed
        done("GET", place + "/operations", pageSize=1, **({"pageToken": page_token(place)} if page_token(place) else {}))
        found = f"{place}/operations/{operation['name'].rpartition('/')[2]}"
        for verb, tail, body in (("GET", "", None), ("POST", ":wait?timeout=1s", None), ("POST", ":wait", {"timeout": "1s"})):
            assert done(verb, found + tail, body) == operation
        assert done("POST", found + ":cancel") == {}
    assert done("DELETE", f"{name}/operations/{operation['name'].rpartition('/')[2]}") == {}
    assert done("DELETE", older["name"]) == {}
    assert [call("GET", gone)[0] for gone in (name, operation["name"], older["name"])] == [404, 404, 404]


def page_token(place):
    return done("GET", place + "/operations", pageSize=1).get("nextPageToken")


def runs_a_custom_job():
    body = {"displayName": "whole", "labels": {"a": "b"}, "encryptionSpec": {"kmsKeyName": KEY}, "jobSpec": spec("exit 0"),
            "webAccessUris": {"a": "b"}, **JOB_OUTPUT}
    made = done("POST", f"{PARENT}/customJobs", body)
    assert made["state"] == "JOB_STATE_PENDING" and made["jobSpec"] == body["jobSpec"], made
    ends("customJobs", made)
    deletes(made["name"])


def takes_parts_that_exclude_one_another():
    for name, job_spec in parts():
        for collection, body in (("customJobs", {"displayName": name, "jobSpec": job_spec}),
                                 ("hyperparameterTuningJobs", search(name, trial=job_spec))):
            made = done("POST", f"{PARENT}/{collection}", body)
            assert done("POST", made["name"] + ":cancel") == {}
            until(made["name"], *FINAL)  # without a local image it may have failed already
    asked = {"workerPoolSpecs": [pool("true", **MOUNTS)], **NETWORK, "persistentResourceId": "resource"}
    for says in ("mounts no NFS", "mounts no Lustre", "has no persistent resources"):
        refused(says, "POST", f"{PARENT}/customJobs", {"displayName": "not here", "jobSpec": asked})
        refused(says, "POST", f"{PARENT}/hyperparameterTuningJobs", search("not here", trial=asked))


def tells_why_a_job_failed_and_where_its_shell_is():
    failed = ends("customJobs", done("POST", f"{PARENT}/customJobs", {"displayName": "fails", "jobSpec": {
        "workerPoolSpecs": [pool("exit 7")]}}), "JOB_STATE_FAILED")
    assert failed["error"]["code"] == 3, failed
    failed = until(done("POST", f"{PARENT}/hyperparameterTuningJobs", search("fails", "exit 7"))["name"], "JOB_STATE_FAILED")
    assert "status of 7" in failed["trials"][0]["infeasibleReason"], failed
    made = done("POST", f"{PARENT}/customJobs", {"displayName": "open", "jobSpec": spec(FOREVER)})
    assert until(made["name"], "JOB_STATE_RUNNING")["webAccessUris"], made
    assert done("POST", made["name"] + ":cancel", {}) == {}
    until(made["name"], "JOB_STATE_CANCELLED")


def searches():
    made = done("POST", f"{PARENT}/hyperparameterTuningJobs", search(
        "search", trial=spec(REPORT), encryptionSpec={"kmsKeyName": KEY}, labels={"a": "b"}, trials=[TRIAL], **JOB_OUTPUT))
    trial = ends("hyperparameterTuningJobs", made)["trials"][0]
    assert trial["finalMeasurement"]["metrics"] == [{"metricId": "score", "value": 1.5}], trial
    deletes(made["name"])


def takes_each_rule_of_stopping():
    until_then = {"minimumRuntimeConstraint": {"endTime": NOW}, "maximumRuntimeConstraint": {"endTime": "2099-01-01T00:00:00Z"}}
    for study in (*({name: rule} for name, rule in STOPPING.items()), {"studyStoppingConfig": until_then}):
        made = done("POST", f"{PARENT}/hyperparameterTuningJobs", search("stops", study=study))
        until(made["name"], "JOB_STATE_SUCCEEDED")
    safety = {"metrics": [{"metricId": "score", "goal": "MINIMIZE", "safetyConfig": {
        "safetyThreshold": 1.0, "desiredMinSafeTrialsFraction": 0.5}}]}
    refused("safety_config", "POST", f"{PARENT}/hyperparameterTuningJobs", search("safe", study=safety))


PROBES = {"exec": {"command": ["true"]}, "grpc": {"port": 1, "service": "s"}, "tcpSocket": {"port": 1, "host": "h"},
          "httpGet": {"path": "/", "port": 1, "host": "h", "scheme": "HTTP", "httpHeaders": [{"name": "A", "value": "b"}]}}
TIMES = {"periodSeconds": 1, "timeoutSeconds": 1, "failureThreshold": 1, "successThreshold": 1, "initialDelaySeconds": 1}


def model(action):
    """A model to upload, with one kind of probe."""
    probe = {action: PROBES[action], **TIMES}
    return {
        "displayName": "served", "description": "d", "versionDescription": "v", "versionAliases": ["default"], "labels": {"a": "b"},
        "artifactUri": "gs://my-bucket/model/", "metadataSchemaUri": "gs://my-bucket/schema.yaml", "metadata": {"a": 1},
        "predictSchemata": {"instanceSchemaUri": "gs://b/i", "parametersSchemaUri": "gs://b/p", "predictionSchemaUri": "gs://b/o"},
        "encryptionSpec": {"kmsKeyName": KEY}, "explanationSpec": {"parameters": {}}, "etag": "e", "name": "n", "versionId": "1",
        "createTime": NOW, "updateTime": NOW, "versionCreateTime": NOW, "versionUpdateTime": NOW, "trainingPipeline": "t",
        "pipelineJob": "p", "defaultCheckpointId": "c", "metadataArtifact": "m", "satisfiesPzs": True, "satisfiesPzi": True,
        "modelSourceInfo": {"sourceType": 1, "copy": True},
        "containerSpec": {
            "imageUri": "trainyard-test:1", "command": ["serve"], "args": ["a"], "env": [{"name": "A", "value": "b"}],
            "ports": [{"containerPort": 8080}], "grpcPorts": [{"containerPort": 8081}], "predictRoute": "/predict", "healthRoute": "/health",
            "invokeRoutePrefix": "/invoke", "deploymentTimeout": "60s", "sharedMemorySizeMb": "64",
            "startupProbe": probe, "healthProbe": probe, "livenessProbe": probe}}


def pipeline(display, /, **more):
    return {"displayName": display, "trainingTaskDefinition": DEFINITIONS + "custom_task_1.0.0.yaml",
            "trainingTaskInputs": {"workerPoolSpecs": [pool("true")],
                                   "baseOutputDirectory": {"outputUriPrefix": "gs://my-bucket/line/"}}, **more}


def runs_pipelines_and_reads_their_models():
    model_id = f"served-{os.getpid()}"
    for number, action in enumerate(PROBES):
        more = {"parentModel": f"{PARENT}/models/{model_id}"} if number else {"modelId": model_id}
        made = done("POST", f"{PARENT}/trainingPipelines", pipeline(
            f"line-{number}", modelToUpload=model(action), labels={"a": "b"}, encryptionSpec={"kmsKeyName": KEY},
            trainingTaskMetadata={"a": "b"}, **OUTPUT, **more))
        ended = ends("trainingPipelines", made, "PIPELINE_STATE_SUCCEEDED")
        assert ended["modelToUpload"]["name"].endswith(f"/models/{model_id}"), ended
        if not number:
            deletes(made["name"])
    named = done("GET", f"{PARENT}/models/{model_id}@2")
    versions = done("GET", f"{PARENT}/models/{model_id}:listVersions", pageSize=1, filter='display_name="served"')
    done("GET", f"{PARENT}/models/{model_id}:listVersions", pageSize=1, pageToken=versions["nextPageToken"], readMask="name,versionId",
         filter='display_name="served"')
    assert named["versionId"] == "2" and len(versions["models"]) == 1, versions
    done("GET", f"{PARENT}/models", filter='display_name="served"', pageSize=1, readMask="name")
    deletes(f"{PARENT}/models/{model_id}")


SPLITS = {"fractionSplit": {"trainingFraction": 0.8, "validationFraction": 0.1, "testFraction": 0.1}, "predefinedSplit": {"key": "k"},
          "filterSplit": {"trainingFilter": "a", "validationFilter": "b", "testFilter": "c"},
          "timestampSplit": {"trainingFraction": 0.8, "validationFraction": 0.1, "testFraction": 0.1, "key": "k"},
          "stratifiedSplit": {"trainingFraction": 0.8, "validationFraction": 0.1, "testFraction": 0.1, "key": "k"}}


def is_told_of_data_sets_that_there_are_none():
    data = {"datasetId": "1", "annotationsFilter": "a", "annotationSchemaUri": "gs://b/s", "savedQueryId": "q",
            "persistMlUseAssignment": True}
    places = {"gcsDestination": {"outputUriPrefix": "gs://my-bucket/data"}}, {"bigqueryDestination": {"outputUri": "bq://p"}}
    for number, (split, value) in enumerate(SPLITS.items()):
        body = pipeline("data", inputDataConfig={**data, split: value, **places[number % 2]})
        refused("input_data_config", "POST", f"{PARENT}/trainingPipelines", body)


def knows_locations():
    listed = done("GET", PROJECT + "/locations", pageSize=10, filter="")
    rest = done("GET", PROJECT + "/locations", pageSize=10, pageToken=listed["nextPageToken"])
    assert listed["locations"] and rest["locations"] and done("GET", PARENT)["locationId"] == "us-central1"


TESTS = [runs_a_custom_job, takes_parts_that_exclude_one_another, tells_why_a_job_failed_and_where_its_shell_is, searches,
         takes_each_rule_of_stopping, runs_pipelines_and_reads_their_models, is_told_of_data_sets_that_there_are_none, knows_locations]
run_tests(TESTS)
