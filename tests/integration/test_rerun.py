# SPDX-License-Identifier: Apache-2.0
"""The command that submits a job again, with changes."""
import json
import re

import pytest

from support.daemon import script
from support.engine import IMAGE, NO_ENGINE
from support.marks import long
from support.storage import Storage
from support.verbs import verb
from support.vertex import DEFINITIONS, Vertex, pipeline, tuning_job

JOBS = "/_trainyard/v1/jobs"
PARAMETER = {"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}


def last_part(name):
    return name.rsplit("/", 1)[1]


@pytest.mark.parametrize("api", [long("vertex"), "ml"])
def test_rerun_is_the_same_job_with_changes(yard, api):
    """Fails with: body_change() without the arguments: the new job said what the old one had."""
    name = f"again_{api}"
    verb(yard, "run", "--api", api, "--project", yard.project, "--name", name, IMAGE, "--", "echo", "first")
    assert verb(yard, "rerun", name, "--name", f"same_{api}") == "first\n"
    assert verb(yard, "rerun", name, "--name", f"other_{api}", "--", "echo", "second") == "second\n"
    job = verb(yard, "rerun", f"same_{api}", "--image", "trainyard-nosuch:1", "-d").strip()
    assert "trainyard-nosuch:1" in verb(yard, "wait", job, code=1)
    told = yard.get(f"{JOBS}/{job}").json
    assert (told.get("displayName") or told["id"]).startswith(f"same_{api}_2")


def test_rerun_changes_programs_wherever_they_are_named(new_daemon):
    """Fails with: vertex_change() of containerSpec alone; member_find() without underscores: the new job had the old program.
    name_draw() of a name that has a time: it had two; without microseconds: the second of two was refused."""
    daemon = new_daemon(engine=NO_ENGINE).start()
    stored = Storage(daemon, "rerun-packages").put("one.tar.gz", b"x")
    assert stored.status == 200
    package = {"pythonPackageSpec": {"executorImageUri": IMAGE, "packageUris": ["gs://rerun-packages/one.tar.gz"], "pythonModule": "trainer.task",
                                     "args": ["--epochs=3"]}, "machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    underscored = {"python_package_spec": {"executor_image_uri": IMAGE, "package_uris": ["gs://rerun-packages/one.tar.gz"], "python_module": "trainer.task",
                                           "args": ["--epochs=3"]}, "machine_spec": {"machine_type": "n1-standard-4"}, "replica_count": 1}
    tunes = tuning_job("exit 0", PARAMETER)
    made = [Vertex(daemon, collection="hyperparameterTuningJobs").create(tunes), Vertex(daemon).create({"displayName": "packed", "jobSpec": {"workerPoolSpecs": [package]}}),
            Vertex(daemon, collection="trainingPipelines").create(
                {**pipeline("", name="packed-line"), "trainingTaskInputs": {"worker_pool_specs": [underscored]}}),
            Vertex(daemon, collection="trainingPipelines").create(
                {"displayName": "packed-search", "trainingTaskDefinition": DEFINITIONS + "hyperparameter_tuning_task_1.0.0.yaml", "trainingTaskInputs": {
                    "studySpec": tunes["studySpec"], "maxTrialCount": 2, "parallelTrialCount": 1,
                    "trialJobSpec": {**tunes["trialJobSpec"], "baseOutputDirectory": {"outputUriPrefix": "gs://rerun-packages/out"}}}})]
    olds = [(last_part(old["name"]), old["displayName"]) for old in made] + [(daemon.create(script("exit 0"), job_id="plain"), "plain")]
    for old, name in olds:
        job = verb(daemon, "rerun", old, "-d", "--image", "another:1", "--", "--epochs=9").strip()
        told = daemon.get(f"{JOBS}/{job}").json
        body = json.dumps(daemon.get(f"/v1/{told['name']}").json)
        assert '"another:1"' in body and IMAGE not in body and '["--epochs=9"]' in body and "--epochs=3" not in body, body
        again = [verb(daemon, "rerun", job, "-d").strip() for _ in range(2)]
        names = [told.get("displayName") or told["id"] for told in (daemon.get(f"{JOBS}/{each}").json for each in again)]
        assert all(re.fullmatch(name + r"_\d{8}_\d{6}_\d{6}", each) for each in names) and len(set(names)) == 2, names
        for each in (old, job, *again):
            verb(daemon, "cancel", each)
