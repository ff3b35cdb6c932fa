# SPDX-License-Identifier: Apache-2.0
"""Methods other than those about a job's life, over HTTP: policies, configuration, locations, discovery."""
import pytest

from support.daemon import script

VIEWERS = {"role": "roles/ml.viewer", "members": ["user:ada@example.com"]}


@pytest.fixture(scope="module")
def job(yard):
    """The path of a job that has ended."""
    return f"{yard.jobs_path}/{yard.run(script('echo done'))['jobId']}"


def test_a_policy_outlives_the_daemon(new_daemon):
    daemon = new_daemon("--offline").start()
    path = f"{daemon.jobs_path}/{daemon.run(script('true'))['jobId']}"
    answer = daemon.post(path + ":setIamPolicy", {"policy": {"bindings": [VIEWERS]}})
    assert answer.status == 200 and answer.json["bindings"] == [VIEWERS], answer
    daemon.kill9()
    daemon.start()
    assert daemon.get(path + ":getIamPolicy").json == answer.json


WRONG = [
    ({"polcy": {}}, None, 'Invalid JSON payload received. Unknown name "polcy": Cannot find field.'),
    ({"policy": {"binding": []}}, "policy", "Invalid JSON payload received. Unknown name \"binding\" at 'policy': Cannot find field."),
    ({"policy": {"version": "x"}}, "policy.version", "Invalid value at 'policy.version' (TYPE_INT32), \"x\""),
    ({"policy": {"version": 2}}, "policy.version", "Field: policy.version Error: The version of a policy is 0, 1 or 3, not 2."),
    ({}, "policy", "Field: policy Error: A policy is required; it may be empty."),
]


@pytest.mark.parametrize("body,field,message", WRONG, ids=[str(body) for body, _, _ in WRONG])
def test_wrong_policies_are_refused_in_the_services_words(yard, job, body, field, message):
    answer = yard.post(job + ":setIamPolicy", body)
    assert (answer.status, answer.error["status"], answer.error["message"]) == (400, "INVALID_ARGUMENT", message)
    assert answer.error["details"][0]["fieldViolations"][0].get("field") == field, answer


def test_a_stale_etag_is_a_conflict(yard, job):
    etag = yard.get(job + ":getIamPolicy").json["etag"]
    body = {"policy": {"etag": etag, "bindings": [VIEWERS]}}
    assert yard.post(job + ":setIamPolicy", body).status == 200
    answer = yard.post(job + ":setIamPolicy", body)
    assert (answer.status, answer.error["status"]) == (409, "ABORTED"), answer


def test_the_query_of_a_method_has_nested_names(yard, job):
    for name in ("options.requestedPolicyVersion", "options.requested_policy_version"):
        assert yard.get(job + ":getIamPolicy", **{name: 3}).status == 200
    assert yard.get(job + ":getIamPolicy", **{"options.requestedPolicyVersion": 2}).status == 400
    assert yard.get(job + ":getIamPolicy", options=1).status == 400


def test_locations_come_in_pages(yard):
    path = f"/v1/projects/{yard.project}/locations"
    first = yard.get(path, pageSize=5).json
    second = yard.get(path, pageSize=5, pageToken=first["nextPageToken"]).json
    assert [len(page["locations"]) for page in (first, second)] == [5, 5]
    assert first["locations"][-1]["name"] < second["locations"][0]["name"]
    assert yard.get("/v1/projects/other/locations", pageToken=first["nextPageToken"]).status == 400


@pytest.mark.parametrize("path", ["/$discovery/rest?version=v1", "/discovery/v1/apis/ml/v1/rest"])
def test_the_discovery_document_leads_back_here(yard, path):
    document = yard.get(path).json
    assert (document["rootUrl"], document["servicePath"]) == (yard.base + "/", "")
    create = document["resources"]["projects"]["resources"]["jobs"]["methods"]["create"]
    assert create["request"]["$ref"] in document["schemas"]
    assert yard.request("HEAD", path).status == 200


def test_the_directory_lists_what_is_emulated(yard):
    items = yard.get("/discovery/v1/apis").json["items"]
    assert [item["id"] for item in items] == ["ml:v1", "logging:v2", "aiplatform:v1", "aiplatform:v1beta1", "storage:v1",
                                              "trainyard:v1"]
    for item in items:
        assert item["discoveryRestUrl"].startswith(yard.base + "/")
        assert yard.get(item["discoveryRestUrl"][len(yard.base):]).json["id"] == item["id"]
