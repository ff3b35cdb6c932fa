# SPDX-License-Identifier: Apache-2.0
"""Tuning jobs on a real engine: each trial runs in containers of its own."""
import datetime
import json

import pytest

from support.daemon import FINAL, PRINT_ENVIRONMENT, UNTIL_RELEASED, distributed, script, shell_config, task_of, text_of
from support.python_image import ensure_python_image
from support.wait import wait_until

# A trainer in shell: reads --x=N after the shell's own name, and reports N as the metric.
ARGS = 'for word in "$@"; do case $word in --x=*) x=${word#--x=};; esac; done; '
REPORT = ('printf \'{"global_step": "1", "timestamp": %s, "accuracy": "%s", "trial": "%s"}\\n\' '
          '"$(date +%s)" "$x" "$CLOUD_ML_TRIAL_ID" > "$CLOUD_ML_HP_METRIC_FILE"; ')
TRAINER = ARGS + REPORT
WAIT = "while :; do sleep 0.1; done"


def search(trials, parallel, **more):
    return dict(goal="MAXIMIZE", hyperparameterMetricTag="accuracy", maxTrials=trials, maxParallelTrials=parallel,
                params=[dict(parameterName="x", type="INTEGER", minValue=1, maxValue=1000)], **more)


def tuned(text, trials, parallel, **more):
    config = shell_config("trainyard-test:1", text)
    config["containerArgs"] = [text, "trainer"]  # "$0"; the parameters follow
    return dict(region="us-central1", masterConfig=config, hyperparameters=search(trials, parallel, **more))


def trials_of(job):
    return job["trainingOutput"].get("trials", [])


def trial_of(entry):
    return entry.get("labels", {}).get("ml.googleapis.com/trial_id")


def rows(daemon, job_id):
    """(number, state, outcome) of its trials in the store."""
    return daemon.query_state("SELECT number, run.state, outcome FROM trial JOIN job AS run ON run.id = trial.run"
                              f" JOIN job AS owner ON owner.id = trial.job WHERE owner.job_id = '{job_id}' ORDER BY 1")


def assert_nothing_left(daemon):
    daemon.engine.check_nothing_left(daemon.read_instance())
    directory = daemon.state_dir / "trials"
    assert not directory.exists() or list(directory.iterdir()) == []


@pytest.mark.long
def test_ten_trials_run_four_at_once(new_daemon):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(tuned(TRAINER + 'echo "trial $CLOUD_ML_TRIAL_ID of $x"', 10, 4))
    most = 0

    def ended():
        nonlocal most
        most = max(most, len({c["Labels"]["trainyard.job_id"] for c in daemon.containers() if c["State"] == "running"}))
        job = daemon.job(job_id)
        return job if job["state"] in FINAL and "endTime" in job else None
    job = wait_until(ended, 180, "all trials have run")
    assert job["state"] == "SUCCEEDED", job
    assert most <= 4
    assert [t["trialId"] for t in sorted(trials_of(job), key=lambda t: int(t["trialId"]))] == \
        [str(n) for n in range(1, 11)]
    for trial in trials_of(job):
        assert trial["state"] == "SUCCEEDED"
        assert float(trial["finalMetric"]["objectiveValue"]) == float(trial["hyperparameters"]["x"])
    said = {trial_of(e): text_of(e) for e in daemon.entries(job_id) if task_of(e) == "master-replica-0"}
    assert said == {t["trialId"]: f"trial {t['trialId']} of {t['hyperparameters']['x']}" for t in trials_of(job)}
    text = [line for _, line in daemon.service_lines(job_id) if line.startswith("Unlike in the cloud")]
    assert len(text) == len(set(text)) <= 2
    assert [j["jobId"] for j in daemon.get(daemon.jobs_path).json["jobs"]] == [job_id]
    daemon.stop()
    assert_nothing_left(daemon)


def test_a_trial_is_told_who_it_is(yard):
    job_id = yard.create(dict(tuned(TRAINER + PRINT_ENVIRONMENT + "; echo args $*", 1, 1), jobDir="gs://bucket/out"))
    yard.until(job_id, "SUCCEEDED")
    environment = yard.environment(job_id)
    assert environment["CLOUD_ML_TRIAL_ID"] == "1"
    assert environment["CLOUD_ML_HP_METRIC_TAG"] == "accuracy"
    assert json.loads(environment["CLUSTER_SPEC"])["task"]["trial"] == "1"
    args = yard.lines(job_id)[-1].split()
    assert args[0] == "args" and args[1].startswith("--x=") and args[2:] == ["--job-dir", "gs://bucket/out/1"]


def test_a_distributed_trial_has_a_cluster_of_its_own(yard):
    master = TRAINER + 'echo "spec $CLUSTER_SPEC"; until nslookup "$(echo "$CLUSTER_SPEC" | sed "s/.*\\"worker\\":\\[\\"\\([^:]*\\):.*/\\1/")" >/dev/null 2>&1; do sleep 0.1; done; echo found'
    training_input = distributed(master, WAIT, WAIT, workers=1, ps_count=1, hyperparameters=search(2, 2))
    for role in ("master", "worker", "parameterServer"):
        training_input[role + "Config"]["containerArgs"].append("trainer")
    job_id = yard.create(training_input)
    job = yard.until(job_id, "SUCCEEDED")
    assert len(trials_of(job)) == 2
    lines = yard.lines(job_id)
    assert lines.count("found") == 2
    specs = [json.loads(line[5:])["cluster"] for line in lines if line.startswith("spec ")]
    assert len(specs) == 2 and specs[0] != specs[1]
    assert all(set(spec) >= {"worker", "ps"} for spec in specs)
    wait_until(lambda: yard.engine.networks(f"trainyard.instance={yard.read_instance()}") == [], 20)


@pytest.mark.long
def test_no_trial_is_lost_or_run_twice_when_the_daemon_is_killed(new_daemon):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(tuned(TRAINER + "sleep 0.3; echo run", 9, 3))
    for ended in (2, 4, 6):
        wait_until(lambda: sum(outcome != 0 for *_, outcome in rows(daemon, job_id)) >= ended, 60)
        daemon.kill9()
        daemon.start()
    job = daemon.until(job_id, "SUCCEEDED", timeout=120)
    assert len(trials_of(job)) == 9
    assert sorted(int(trial_of(e)) for e in daemon.entries(job_id)
                  if task_of(e) == "master-replica-0" and text_of(e) == "run") == list(range(1, 10))
    assert all("objectiveValue" in t["finalMetric"] for t in trials_of(job))
    daemon.stop()
    assert_nothing_left(daemon)


def test_a_cancel_ends_every_trial(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    job_id = daemon.create(tuned(WAIT, 6, 2))
    wait_until(lambda: [s for _, s, _ in rows(daemon, job_id)] == [3, 3], 30, "two trials run")
    daemon.cancel(job_id)
    daemon.until(job_id, "CANCELLED")
    assert len(rows(daemon, job_id)) == 2
    daemon.stop()
    assert_nothing_left(daemon)


def test_the_first_trial_that_fails_fails_the_job(yard):
    job_id = yard.create(tuned(ARGS + "echo broken >&2; exit 3", 6, 1))
    job = yard.until(job_id, "FAILED")
    assert job["errorMessage"].startswith("Hyperparameter Tuning Trial #1 Failed before any other successful trials"
                                          " were completed. The failed trial had parameters: x=")
    assert "The replica master 0 exited with a non-zero status of 3." in job["errorMessage"]
    assert "broken" in job["errorMessage"]
    assert trials_of(job)[0]["state"] == "FAILED"


def test_a_trial_that_reports_nothing_is_told(yard):
    job_id = yard.create(tuned("exit 0", 1, 1))
    yard.until(job_id, "SUCCEEDED")
    assert any(severity == "WARNING" and line.startswith("Trial 1 has no value of its metric: ")
               for severity, line in yard.service_lines(job_id))


@pytest.mark.long
def test_one_trial_follows_the_other(new_daemon):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(tuned(TRAINER, 6, 1))
    trials = sorted(trials_of(daemon.until(job_id, "SUCCEEDED")), key=lambda t: int(t["trialId"]))
    times = [(datetime.datetime.fromisoformat(t["startTime"]), datetime.datetime.fromisoformat(t["endTime"]))
             for t in trials]
    assert len(times) == 6
    for (_, ended), (started, _) in zip(times, times[1:]):
        assert datetime.timedelta(0) <= started - ended < datetime.timedelta(seconds=10)


@pytest.mark.long
def test_a_tuning_job_waits_for_room_with_its_trials_and_lets_others_go_in_between(new_daemon):
    daemon = new_daemon("--offline", "--max-active-jobs", "1", "--stop-grace", "1").start()
    first = daemon.create(script(UNTIL_RELEASED))
    daemon.until(first, "RUNNING")
    job_id = daemon.create(tuned(TRAINER, 4, 2))
    wait_until(lambda: [s for _, s, _ in rows(daemon, job_id)] == [1, 1], 30, "two trials wait")
    job = daemon.job(job_id)
    assert (job["state"], job["jobPosition"]) == ("QUEUED", "1") and "startTime" not in job
    last = daemon.create(script("echo last"))
    daemon.cancel(first)
    job = daemon.until(job_id, "SUCCEEDED")
    last = daemon.job(last)
    assert last["state"] == "SUCCEEDED"
    trials = sorted(trials_of(job), key=lambda t: int(t["trialId"]))
    assert job["startTime"] == trials[0]["startTime"]
    # The first trials kept their slot; later ones were admitted after the job that was already waiting.
    assert trials[1]["startTime"] <= last["startTime"] <= trials[2]["startTime"]


HYPERTUNE = """
import argparse, hypertune, os
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=int)
x = parser.parse_known_args()[0].x
tune = hypertune.HyperTune()
for step in range(1, 251):
    tune.report_hyperparameter_tuning_metric("accuracy", x + step / 1000, step)
print("wrote", os.path.getsize(os.environ["CLOUD_ML_HP_METRIC_FILE"]) > 0)
"""


@pytest.mark.long
def test_googles_own_library_reports(yard):
    image = ensure_python_image(yard.engine)
    training_input = dict(region="us-central1", hyperparameters=search(2, 2),
                          masterConfig=dict(imageUri=image, containerCommand=["python3", "-c", HYPERTUNE]))
    job = yard.until(yard.create(training_input), "SUCCEEDED")
    for trial in trials_of(job):
        assert trial["finalMetric"]["trainingStep"] == "250"
        assert float(trial["finalMetric"]["objectiveValue"]) == int(trial["hyperparameters"]["x"]) + 0.25
