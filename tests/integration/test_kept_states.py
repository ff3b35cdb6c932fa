# SPDX-License-Identifier: Apache-2.0
"""This version opens the state directories of released versions, and nothing in them is lost."""
import pytest

from support.custom_jobs import CustomJobs
from support.kept_state import STATES, restore
from support.storage import Storage


@pytest.mark.parametrize("version", sorted(path.name for path in STATES.iterdir()))
def test_the_state_of_a_release_is_whole(new_daemon, tmp_path, version):
    """Fails with: a column renamed in the migration and the statements: the daemon did not start."""
    restore(STATES / version, tmp_path / "kept")
    daemon = new_daemon("--offline", state_dir=tmp_path / "kept", project="demo-project").start()
    ran, failed = daemon.job("one_that_ran"), daemon.job("one_that_failed")
    assert ran["state"] == "SUCCEEDED" and ran["labels"] == {"kept": "yes"}
    assert failed["state"] == "FAILED" and "non-zero status of 3" in failed["errorMessage"]
    assert sorted(daemon.lines("one_that_ran")) == ["a line of a job", "another"]
    trials = daemon.job("a_search")["trainingOutput"]["trials"]
    assert len(trials) == 2
    assert all(float(trial["hyperparameters"]["x"]) == trial["finalMetric"]["objectiveValue"] for trial in trials)
    assert all(trial["finalMetric"]["trainingStep"] for trial in trials)
    shown = {job["name"].split("/")[-1]: job for job in daemon.get("/_trainyard/v1/jobs").json["jobs"]}
    assert shown["one_that_failed"]["reason"].split("\n")[0] == failed["errorMessage"].split("\n")[0]
    assert "To find out more" in failed["errorMessage"] and "To find out more" not in shown["one_that_failed"]["reason"]
    assert [shown[name]["replicaCount"] for name in ("one_that_ran", "a_search")] == [1, 1]
    listed = daemon.get(CustomJobs(daemon).path).json["customJobs"]
    assert [job["state"] for job in listed] == ["JOB_STATE_SUCCEEDED"]
    storage = Storage(daemon, "kept")
    assert storage.read("a/b.txt").data == b"kept bytes\n"
    assert storage.put("a/c.txt", b"new").status == 200 and storage.names() == ["a/b.txt", "a/c.txt"]
    assert daemon.run({"region": "us-central1", "masterConfig": {"imageUri": "trainyard-test:1"}, "args": ["true"]})
