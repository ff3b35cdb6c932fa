# SPDX-License-Identifier: Apache-2.0
"""Jobs of all families in one list, and the commands of the program about them."""
import pytest

from support.daemon import script
from support.vertex import RUNS_ON, Vertex, custom_job, pipeline, tuning_job
from support.wait import wait_until

JOBS = "/_trainyard/v1/jobs"
PARAMETER = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}


def last_part(name):
    return name.rsplit("/", 1)[1]


@pytest.fixture(scope="module")
def crowd(narrow_yard):
    """One job that runs, and one of each family that waits behind it; by name of the family."""
    daemon, made = narrow_yard, {}
    made["runs"] = daemon.create(script(RUNS_ON), job_id=daemon.new_id("crowd_runs"), labels={"team": "red"})
    daemon.until(made["runs"], "RUNNING")
    made["jobs"] = daemon.create(script("exit 0"), job_id=daemon.new_id("crowd_waits"))
    for collection, job in [("customJobs", custom_job("exit 0", name="crowd-custom", labels={"team": "blue"})),
                            ("hyperparameterTuningJobs", tuning_job("exit 0", PARAMETER, name="crowd-tuning")),
                            ("trainingPipelines", pipeline("exit 0", name="crowd-line"))]:
        made[collection] = last_part(Vertex(daemon, collection=collection).create(job)["name"])
    yield made
    for id in reversed(list(made.values())):
        found = daemon.get(f"{JOBS}/{id}").json
        daemon.post(f"/v1/{found['name']}:cancel", {})
    wait_until(lambda: not daemon.get(JOBS, filter="state=RUNNING OR state=QUEUED OR state=CANCELLING").json, 60,
               "all of the crowd has ended")


def test_all_families_are_one_list(narrow_yard, crowd):
    """Broken: LISTED without the pipelines' names: the pipeline was a custom job."""
    listed = narrow_yard.get(JOBS, project=narrow_yard.project).json["jobs"]
    assert [(j["family"], j["id"]) for j in listed[:5]] == [
        (family, crowd[family]) for family in ("trainingPipelines", "hyperparameterTuningJobs", "customJobs", "jobs")
    ] + [("jobs", crowd["runs"])]
    line, search, custom, waits, runs = listed[:5]
    assert line["displayName"] == "crowd-line" and line["job"] != line["id"]
    assert custom["location"] == "us-central1" and custom["labels"] == {"team": "blue"} and custom["replicaCount"] == 1
    assert runs["state"] == "RUNNING" and "startTime" in runs and "reason" not in runs
    wait_until(lambda: "waits for" in narrow_yard.get(f"{JOBS}/{waits['id']}").json.get("reason", ""), 30, "a reason")
    for job in listed[:3]:
        assert narrow_yard.get(f"/v1/{job['name']}").status == 200, job
    pages, token = [], ""
    while not pages or token:
        page = narrow_yard.get(JOBS, pageSize=2, pageToken=token, filter='displayName:"crowd*" OR id:"crowd*"').json
        pages, token = pages + page["jobs"], page.get("nextPageToken")
    assert [j["id"] for j in pages] == [j["id"] for j in listed[:5]]
    assert [j["id"] for j in narrow_yard.get(JOBS, filter="labels.team=red").json["jobs"]] == [crowd["runs"]]
    assert narrow_yard.get(JOBS, filter="nosuch=1").status == 400


def test_a_job_is_found_by_what_it_is_called(narrow_yard, crowd):
    """Broken: JOB_REFERRED without the display names: crowd-custom was nobody's."""
    for said, family in [("crowd-custom", "customJobs"), ("crowd-l", "trainingPipelines"), (crowd["runs"], "runs"),
                         ("@last", "trainingPipelines"), (crowd["customJobs"][:12], "customJobs"),
                         ("projects%2Fp%2Flocations%2Fl%2FcustomJobs%2F" + crowd["customJobs"], "customJobs")]:
        assert narrow_yard.get(f"{JOBS}/{said}").json["id"] == crowd[family], said
    several = narrow_yard.get(f"{JOBS}/crowd")
    assert several.status == 400 and '"crowd" fits 5 jobs' in several.error["message"]
    assert crowd["customJobs"] in several.error["message"]
    assert narrow_yard.get(f"{JOBS}/nosuch").status == 404


def test_the_methods_are_described(narrow_yard):
    document = narrow_yard.get("/discovery/v1/apis/trainyard/v1/rest").json
    assert {"list", "get"} <= set(document["resources"]["jobs"]["methods"])
    assert "reason" in document["schemas"]["Job"]["properties"]
