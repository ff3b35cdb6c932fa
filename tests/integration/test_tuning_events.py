# SPDX-License-Identifier: Apache-2.0
"""Trials that report by TensorBoard event files, which they write to their job directory in trainyard's storage."""
import base64
import time

import pytest

from support.daemon import UNTIL_RELEASED, script, shell_config
from support.event_files import event, simple, tensor, version
from support.storage import Storage
from support.wait import wait_until

# Finds --job-dir gs://BUCKET/PATH in the last argument.
JOB_DIR = "while [ $# -gt 1 ]; do shift; done; dir=${1#gs://}; "


def upload(data, name):
    """Stores an object below the trial's job directory, complete at each flush, as event writers do. busybox's wget ends a
    body at its first NUL."""
    return (f"host=${{STORAGE_EMULATOR_HOST#http://}}; name=$(echo \"${{dir#*/}}/{name}\" | sed s,/,%2F,g); "
            "{ printf 'POST /upload/storage/v1/b/%s/o?uploadType=media&name=%s HTTP/1.1\\r\\nHost: %s\\r\\n"
            f"Content-Type: application/octet-stream\\r\\nContent-Length: {len(data)}\\r\\nConnection: close\\r\\n\\r\\n' "
            f"\"${{dir%%/*}}\" \"$name\" \"$host\"; echo {base64.b64encode(data).decode()} | base64 -d; }} | "
            "nc \"${host%:*}\" \"${host#*:}\" | head -n 1; ")


def curve(make, tag, steps, base=0.0):
    """An event file: the value of `tag` at each step is base + step / 8."""
    now = time.time()
    return version(now) + b"".join(event(now + step, step, make(tag, base + step / 8)) for step in range(1, steps + 1))


def tuned(bucket, text, **more):
    config = shell_config("trainyard-test:1", JOB_DIR + text)
    config["containerArgs"].append("trainer")  # "$0"
    return dict(region="us-central1", masterConfig=config, jobDir=f"gs://{bucket}/out", **more, hyperparameters=dict(
        goal="MAXIMIZE", hyperparameterMetricTag="epoch_accuracy", maxTrials=1,
        params=[dict(parameterName="x", type="INTEGER", minValue=1, maxValue=1000)]))


def final_of(job):
    return [trial.get("finalMetric") for trial in job["trainingOutput"]["trials"]]


def notes(daemon, job_id, severity):
    return [line for found, line in daemon.service_lines(job_id) if found == severity]


def measurements(daemon, job_id):
    answer = daemon.get(f"/_trainyard{daemon.jobs_path}/{job_id}/study").json
    return [(found["trainingStep"], found["objectiveValue"])
            for trial in answer["trials"] for found in trial.get("measurements", [])]


@pytest.mark.parametrize("make", [simple, tensor])
def test_a_growing_event_file_is_the_trials_report(yard, make):
    whole = curve(make, "epoch_accuracy", 5)
    first = whole[:len(whole) - 70]  # cut inside a record
    name = "logs/train/events.out.tfevents.1700000000.host.1.2.v2"
    job_id = yard.create(tuned(f"events-{make.__name__}", upload(first, name) + UNTIL_RELEASED + "; " + upload(whole, name)))
    seen = wait_until(lambda: measurements(yard, job_id), 60, "the first reports are seen")
    assert seen == [(step, step / 8) for step in range(1, len(seen) + 1)] and len(seen) < 5
    yard.release(f"{job_id}.1")
    job = yard.until(job_id, "SUCCEEDED")
    assert final_of(job) == [{"trainingStep": "5", "objectiveValue": 0.625}]
    assert any("comes from TensorBoard's event files" in line for line in notes(yard, job_id, "NOTICE"))
    assert notes(yard, job_id, "WARNING") == []


def test_tags_that_nobody_asked_for_are_named(yard):
    job_id = yard.create(tuned("events-tags", upload(curve(tensor, "epoch_acc", 3), "events.out.tfevents.1")))
    job = yard.until(job_id, "SUCCEEDED")
    assert final_of(job) == [None]
    assert notes(yard, job_id, "WARNING") == [
        'Trial 1 has no value of its metric: The metric "epoch_accuracy" was not reported: reports came under other tags '
        'only: "epoch_acc". 1 event file below gs://events-tags/out/1 was read.']


def test_files_of_an_earlier_job_in_the_same_directory_do_not_count(yard):
    storage = Storage(yard, "events-earlier")
    assert storage.put("out/1/events.out.tfevents.0", curve(simple, "epoch_accuracy", 9)).status == 200
    job_id = yard.create(tuned("events-earlier", upload(curve(simple, "epoch_accuracy", 2), "eval/events.out.tfevents.1")))
    assert final_of(yard.until(job_id, "SUCCEEDED")) == [{"trainingStep": "2", "objectiveValue": 0.25}]


def test_a_broken_file_is_told(yard):
    data = bytearray(curve(simple, "epoch_accuracy", 3))
    data[-20] ^= 1
    job_id = yard.create(tuned("events-broken", upload(bytes(data), "events.out.tfevents.1")))
    assert final_of(yard.until(job_id, "SUCCEEDED")) == [{"trainingStep": "2", "objectiveValue": 0.25}]
    [line] = notes(yard, job_id, "WARNING")
    assert line.startswith("The value of trial 1 may not be its last. In the event file "
                           "gs://events-broken/out/1/events.out.tfevents.1 the record at byte ")


@pytest.mark.long
def test_event_files_with_another_emulator_are_not_read(new_daemon):
    daemon = new_daemon("--offline", "--storage-endpoint", "http://127.0.0.1:9").start()
    job_id = daemon.create(tuned("events-elsewhere", "true"))
    assert final_of(daemon.until(job_id, "SUCCEEDED")) == [None]
    assert any("Event files below gs://events-elsewhere/out/1 were not looked for: they are with another emulator of "
               "storage (--storage-endpoint)." in line for line in notes(daemon, job_id, "WARNING"))


def test_a_job_s_scalars_are_told_as_curves(yard):
    """Fails with: object_take() that gives up at the first broken file."""
    bucket = yard.new_id("scalars").replace("_", "-")
    store = Storage(yard, bucket)
    config = dict(region="us-central1", masterConfig=shell_config("trainyard-test:1", "exit 0"), jobDir=f"gs://{bucket}/out")
    job_id = yard.create(config)
    path = f"/_trainyard/v1/jobs/{job_id}:scalars"
    assert yard.get(path).json == {"directory": f"gs://{bucket}/out", "fileCount": 0}
    whole = curve(tensor, "loss", 5) + event(1.7e9, 6, simple("rate", float("nan")), simple("rate", 0.25))
    for name, data in {"out/a/events.out.tfevents.1": curve(simple, "loss", 3)[:-9] + b"\0" * 9, "out/b/events.out.tfevents.1": whole,
                       "out/events.out.tfevents.1": b"no event file at all, but long enough", "outer/events.out.tfevents.1": whole,
                       "out/b/events.out.tfevents.2": curve(simple, "loss", 4)[:-3]}.items():
        assert store.put(name, data).status == 200
    told = yard.get(path).json
    assert told["fileCount"] == 4 and len(told["remarks"]) == 1 and "a/events.out.tfevents.1: the record at byte" in told["remarks"][0]
    found = {(each.get("run"), each["tag"]): each for each in told["curves"]}
    assert list(found) == [("a", "loss"), ("b", "loss"), ("b", "rate")]
    assert found["a", "loss"]["steps"] == [1, 2] and found["a", "loss"]["values"] == [0.125, 0.25]
    # The second file of a run begins again at step 1, so the values of the first are dropped. Its last record is incomplete.
    assert (found["b", "loss"]["steps"], found["b", "loss"]["valueCount"]) == ([1, 2, 3], "3")
    assert (found["b", "rate"]["values"], found["b", "rate"]["notFiniteCount"]) == ([0.25], "1")
    assert found["b", "loss"]["seconds"][1] - found["b", "loss"]["seconds"][0] == pytest.approx(1, abs=1e-3)
    assert yard.get(path, points=2).json["curves"][1]["steps"] == [1, 3]
    for points in (1, 2001, -1):
        answer = yard.get(path, points=points)
        assert (answer.status, answer.error["status"]) == (400, "INVALID_ARGUMENT") and "2 to 2000 points" in answer.error["message"]
    assert yard.get("/_trainyard/v1/jobs/nosuch:scalars").status == 404
    assert yard.get(f"/_trainyard/v1/jobs/{yard.create(script('exit 0'))}:scalars").json == {"fileCount": 0}
