# SPDX-License-Identifier: Apache-2.0
"""Tuning jobs submitted by the real gcloud."""
import json
import re

import pytest

from support.gcloud import needs_gcloud
from support.tuning import REPORTING, search

pytestmark = [needs_gcloud, pytest.mark.long]


@pytest.fixture(scope="module")
def tuned(gcloud, yard, tmp_path_factory):
    """The id of an ended tuning job that was submitted with a configuration file, and the output of its log stream."""
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
    # The lines of the table depend on the characters of the terminal.
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


# Reports the number of its flags as the metric that the job names; stands in for a trainer.
COUNTING = ("n=0; for a in \"$0\" \"$@\"; do case $a in --*=*) n=$((n+1));; esac; done; "
            "printf '{\"global_step\": \"1\", \"timestamp\": %s, \"%s\": \"%s\"}\\n' \"$(date +%s)\" "
            "\"$CLOUD_ML_HP_METRIC_TAG\" \"$n\" > \"$CLOUD_ML_HP_METRIC_FILE\"")

# Configuration files as people write them: keys in any order, with and without quotes, numbers as text, each type and scale.
SHAPES = {
    "flat": """
trainingInput:
  scaleTier: BASIC
  hyperparameters:
    goal: MAXIMIZE
    maxTrials: 3
    maxParallelTrials: 2
    hyperparameterMetricTag: Field Accuracy/mean   # with a blank and a slash
    enableTrialEarlyStopping: TRUE
    params:
    - parameterName: hidden-units
      type: INTEGER
      minValue: 8
      maxValue: 64
      scaleType: UNIT_LINEAR_SCALE
    - parameterName: start_rate
      type: DOUBLE
      minValue: 0.00002
      maxValue: 0.5
      scaleType: UNIT_LOG_SCALE
    - parameterName: keep
      type: DOUBLE
      minValue: 0.0
      maxValue: 1.0
    - parameterName: decay
      scaleType: UNIT_REVERSE_LOG_SCALE
      maxValue: 1.0
      minValue: 0.1
      type: DOUBLE
    - parameterName: kernel
      type: CATEGORICAL
      categoricalValues: [
          "small",
          'large'
      ]
    - parameterName: batch
      type: DISCRETE
      discreteValues:
      - 16
      - 32
      - 128
""",
    "texts": """
trainingInput:
  hyperparameters:
    params:
    - {parameterName: layers, type: INTEGER, minValue: '1', maxValue: "4", scaleType: UNIT_LINEAR_SCALE}
    hyperparameterMetricTag: score
    maxParallelTrials: "2"
    maxTrials: '2'
    algorithm: GRID_SEARCH
    goal: MINIMIZE
""",
    "custom": """
trainingInput:
  scaleTier: CUSTOM
  masterType: standard
  workerType: cloud_tpu
  workerCount: 1
  workerConfig:
    tpuTfVersion: '2.11'
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: top_accuracy
    maxTrials: 2
    params:
      - parameterName: momentum
        type: DOUBLE
        scaleType: UNIT_LINEAR_SCALE
        minValue: 0.1
        maxValue: 1.0
""",
    "cluster": """
trainingInput:
  scaleTier: STANDARD_1
  hyperparameters:
    goal: MAXIMIZE
    params:
      - parameterName: rate
        type: DOUBLE
        minValue: 0.01
        maxValue: 0.1
        scaleType: UNIT_LOG_SCALE
""",
}


@pytest.mark.parametrize("shape", SHAPES)
def test_configurations_of_each_shape_are_searched(gcloud, yard, tmp_path, shape):
    job_id = yard.new_id(shape)
    config = tmp_path / "hptuning_config.yaml"
    config.write_text(SHAPES[shape])
    gcloud("submit", "training", job_id, "--region", "us-central1", "--config", str(config),
           "--master-image-uri", "trainyard-test:1", "--", "sh", "-c", COUNTING)
    job = yard.until(job_id, "SUCCEEDED")
    spec, trials = job["trainingInput"]["hyperparameters"], job["trainingOutput"]["trials"]
    assert len(trials) == int(spec.get("maxTrials", 1)) and job["trainingOutput"]["completedTrialCount"] == str(len(trials))
    for trial in trials:
        assert trial["finalMetric"] == {"trainingStep": "1", "objectiveValue": len(spec["params"])}
        values = trial["hyperparameters"]
        assert set(values) == {param["parameterName"] for param in spec["params"]}
        for param in spec["params"]:
            allowed = param.get("categoricalValues") or param.get("discreteValues")
            value = values[param["parameterName"]] if param["type"] == "CATEGORICAL" else float(values[param["parameterName"]])
            assert value in allowed if allowed else param.get("minValue", 0) <= value <= param["maxValue"], param
