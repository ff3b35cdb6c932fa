# SPDX-License-Identifier: Apache-2.0
"""Tuning jobs through the real gcloud."""
import json
import re

import pytest

from support.gcloud import needs_gcloud
from support.tuning import REPORTING, search

pytestmark = needs_gcloud


@pytest.fixture(scope="module")
def tuned(gcloud, yard, tmp_path_factory):
    """The id of a tuning job that was submitted with a configuration file and has ended, and what its stream showed."""
    job_id = yard.new_id("gcloud_tuning")
    config = tmp_path_factory.mktemp("tuning") / "hptuning.yaml"
    config.write_text(json.dumps({"trainingInput": {"hyperparameters": search()}}))
    done = gcloud("submit", "training", job_id, "--region", "us-central1", "--config", str(config), "--stream-logs",
                  "--master-image-uri", "trainyard-test:1", "--", "sh", "-c", REPORTING)
    return job_id, done.stderr


def trials_of(gcloud, job_id):
    return json.loads(gcloud("describe", job_id, "--format", "json").stdout)["trainingOutput"]["trials"]


def test_a_configuration_file_is_searched(gcloud, tuned):
    described = json.loads(gcloud("describe", tuned[0], "--format", "json").stdout)
    output = described["trainingOutput"]
    assert (described["state"], output["completedTrialCount"]) == ("SUCCEEDED", "4")
    assert output["isHyperparameterTuningJob"] is True and output["hyperparameterMetricTag"] == "score"
    values = [trial["finalMetric"]["objectiveValue"] for trial in output["trials"]]
    assert values == sorted(values, reverse=True)
    assert sorted(trial["trialId"] for trial in output["trials"]) == ["1", "2", "3", "4"]
    for trial in output["trials"]:
        assert float(trial["hyperparameters"]["x"]) == trial["finalMetric"]["objectiveValue"]
        assert (trial["finalMetric"]["trainingStep"], trial["state"]) == ("7", "SUCCEEDED")


def test_a_summary_shows_the_trials_by_number(gcloud, tuned):
    shown = gcloud("describe", tuned[0], "--summarize").stdout
    # The box is drawn with what the terminal is known to have.
    table = [[cell.strip() for cell in re.split("[|│]", line)[1:-1]] for line in shown.splitlines()]
    table = [row for row in table if len(row) == 4]
    head = next(i for i, row in enumerate(table) if row[0] == "TRIAL")
    assert table[head][1:3] == ["OBJECTIVE_VALUE", "STEP"], shown
    found = {row[0]: float(row[1]) for row in table[head + 1:] if row[0]}
    assert list(found) == ["1", "2", "3", "4"], shown
    for trial in trials_of(gcloud, tuned[0]):
        assert found[trial["trialId"]] == pytest.approx(trial["finalMetric"]["objectiveValue"], rel=1e-4)


def test_a_stream_tells_which_trial_a_line_is_of(gcloud, tuned):
    found = {}
    for line in tuned[1].splitlines():
        cells = [cell.strip() for cell in line.split("\t")]
        if cells[-1].startswith("trial "):
            found[cells[3]] = cells[-1]
    assert sorted(found) == ["1", "2", "3", "4"], tuned[1]
    for trial in trials_of(gcloud, tuned[0]):
        said = found[trial["trialId"]]
        assert said == f"trial {trial['trialId']} has {trial['hyperparameters']['x']} {trial['hyperparameters']['kind']}"
