# SPDX-License-Identifier: Apache-2.0
"""The real gcloud with the environment of `trainyard env`. Runs if gcloud is in PATH or TRAINYARD_GCLOUD names it."""
import concurrent.futures
import json

import pytest

from support.daemon import MACHINE, UNTIL_RELEASED, UNTIL_RELEASED_AGAIN
from support.engine import role_image
from support.gcloud import needs_gcloud
from support.wait import wait_until

pytestmark = needs_gcloud


def one_image(text):
    """The flags of a job with only a master, and the arguments after them."""
    return ["--master-image-uri", "trainyard-test:1"], ["--", "sh", "-c", text]


def submission(job_id, text, *flags):
    image, args = one_image(text)
    return ["submit", "training", job_id, "--region", "us-central1", *image, *flags, *args]


def submit(gcloud, job_id, text, *flags, **more):
    return gcloud(*submission(job_id, text, *flags), **more)


def rows(text):
    """The rows of a log stream: (severity, task, message)."""
    found = []
    for line in text.splitlines():
        cells = line.split("\t")
        if len(cells) >= 4:
            found.append((cells[0].strip(), cells[2].strip(), cells[-1]))
    return found


def messages(text, task):
    return [message for _, found, message in rows(text) if found == task]


def stream_of_one_task(gcloud, yard, job_id):
    yard.create(dict(region="us-central1", scaleTier="CUSTOM", masterType=MACHINE, workerType=MACHINE, workerCount=1,
                     masterConfig={"imageUri": "trainyard-test:1", "containerCommand": ["sh", "-c", "echo m; " + UNTIL_RELEASED]},
                     workerConfig={"imageUri": "trainyard-test:1", "containerCommand": ["echo", "w"]}), job_id=job_id)
    yard.release(job_id, after={"worker-replica-0": 1})
    yard.until(job_id, "SUCCEEDED")
    return gcloud("stream-logs", job_id, "--polling-interval", "2", "--task-name", "worker-replica-0")


def stream_of_a_cancelled_job(gcloud, _, job_id):
    save = 'trap "echo saved; exit 0" TERM; echo up; while :; do sleep 0.1; done'
    stream, path = gcloud.follow(*submission(job_id, save, "--stream-logs"))
    wait_until(lambda: "up" in messages(path.read_text(), "master-replica-0"), 120, "the stream begins")
    gcloud("cancel", job_id)
    assert stream.wait(120) == 1
    return path.read_text()


STREAMS = {
    "short": lambda gcloud, _, job_id: submit(gcloud, job_id, "echo first; sleep 1; echo last", "--stream-logs"),
    "failing": lambda gcloud, _, job_id: submit(gcloud, job_id, "echo oh no >&2; exit 9", "--stream-logs", expect=1),
    "cancelled": stream_of_a_cancelled_job,
    "one_task": stream_of_one_task,
}


@pytest.fixture(scope="module")
def streams(gcloud, yard):
    """Each row of STREAMS with its job's id. gcloud waits ten seconds at the end of each stream, so they run at the same
    time."""
    with concurrent.futures.ThreadPoolExecutor(len(STREAMS)) as pool:
        ids = {name: yard.new_id("gcloud_" + name) for name in STREAMS}
        yield {name: (ids[name], pool.submit(stream, gcloud, yard, ids[name])) for name, stream in STREAMS.items()}


def test_the_documentations_distributed_job_is_submitted_described_listed_and_streamed(gcloud, yard, streams):
    job_id = yard.new_id("gcloud_dist")
    role = ('case $(cat /image) in ps) trap "exit 0" TERM; while :; do sleep 0.1; done;; '
            f"*) for i in $(seq 0 9); do echo step $i; done; {UNTIL_RELEASED}; "
            "for i in $(seq 10 19); do echo step $i; done;; esac; "
            # The end of the master stops the other replicas, so it waits for theirs.
            f"[ $(cat /image) != master ] || {{ {UNTIL_RELEASED_AGAIN}; }}")
    done = gcloud("submit", "training", job_id, "--region", "us-central1", "--scale-tier", "custom",
                  "--master-machine-type", "complex_model_m", "--master-image-uri", role_image("master"),
                  "--worker-machine-type", "large_model", "--worker-count", "3", "--worker-image-uri", role_image("worker"),
                  "--parameter-server-machine-type", "large_model", "--parameter-server-count", "1",
                  "--parameter-server-image-uri", role_image("ps"),
                  "--", "--train-files", "gs://my-bucket/train", "an argument with spaces", role)
    assert f"Job [{job_id}] submitted successfully." in done.stderr

    # The stream is started while the job runs, and follows it to its end.
    stream, path = gcloud.follow("stream-logs", job_id, "--polling-interval", "2", "--allow-multiline-logs")
    tasks = ["master-replica-0"] + [f"worker-replica-{i}" for i in range(3)]
    wait_until(lambda: all(messages(path.read_text(), task)[-1:] == ["step 9"] for task in tasks), 120, "the stream begins")
    yard.release(job_id, *(task.replace("-replica", "") for task in tasks))
    yard.release(job_id, after={task: 25 for task in tasks}, again=True)
    assert stream.wait(120) == 0
    streamed = path.read_text()
    described = json.loads(gcloud("describe", job_id, "--format", "json").stdout)
    assert described["state"] == "SUCCEEDED" and described["trainingInput"]["workerCount"] == "3"
    assert "SUCCEEDED" in gcloud("describe", job_id, "--summarize").stdout
    assert job_id in gcloud("list", "--limit", "5").stdout

    for task, image in (("master-replica-0", "master"), ("worker-replica-0", "worker"), ("worker-replica-1", "worker"),
                        ("worker-replica-2", "worker")):
        said = messages(streamed, task)
        assert said == [f"image {image}", "arg --train-files", "arg gs://my-bucket/train", "arg an argument with spaces",
                        "arg " + role] + [f"step {i}" for i in range(20)], (task, said)
    assert [m for m in messages(streamed, "service") if m][-1] == "Job completed successfully."
    assert len(rows(streamed)) == len(yard.entries(job_id))


def test_streaming_a_one_second_job_from_its_submission_shows_every_line_once(streams):
    done = streams["short"][1].result()
    assert messages(done.stderr, "master-replica-0") == ["first", "last"], done.stderr
    assert messages(done.stderr, "service")[-1] == "Job completed successfully.", done.stderr
    assert "state: SUCCEEDED" in done.stdout


def test_a_failing_job_ends_the_stream_with_exit_code_1(streams):
    done = streams["failing"][1].result()
    assert ("ERROR", "master-replica-0", "oh no") in rows(done.stderr), done.stderr
    assert any("non-zero status of 9" in message for message in messages(done.stderr, "service")), done.stderr


def test_a_stream_of_one_task_shows_only_that(streams):
    done = streams["one_task"][1].result()
    assert [(task, message) for _, task, message in rows(done.stdout)] == [("worker-replica-0", "w")]


def test_labels_are_updated_and_cleared(gcloud, yard):
    job_id = yard.new_id("gcloud_labels")
    submit(gcloud, job_id, "true", "--labels", "team=a,stage=one")
    gcloud("update", job_id, "--update-labels", "team=b,new=x", "--remove-labels", "stage")
    assert yard.job(job_id)["labels"] == {"team": "b", "new": "x"}
    gcloud("update", job_id, "--clear-labels")
    assert "labels" not in yard.job(job_id)
    yard.until(job_id, "SUCCEEDED")


def test_a_running_job_is_cancelled_while_it_is_streamed(gcloud, yard, streams):
    job_id, stream = streams["cancelled"]
    text = stream.result()
    assert messages(text, "master-replica-0") == ["up", "saved"], text
    assert yard.job(job_id)["state"] == "CANCELLED"
    gcloud("cancel", job_id)


def test_a_config_file_with_everything_in_it_is_submitted(gcloud, yard, tmp_path):
    config = tmp_path / "job.yaml"
    config.write_text("""
labels: {from: file}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig:
    imageUri: trainyard-test:1
    containerCommand: [sh, -c]
    containerArgs: ["echo configured"]
  scheduling: {maxRunningTime: 3600s, priority: 5}
""")
    job_id = yard.new_id("gcloud_config")
    gcloud("submit", "training", job_id, "--region", "us-central1", "--config", str(config))
    job = yard.until(job_id, "SUCCEEDED")
    assert job["labels"] == {"from": "file"} and job["trainingInput"]["scheduling"]["priority"] == 5
    assert yard.lines(job_id) == ["configured"]


ERRORS = [
    # words after `gcloud ai-platform jobs`, and a part of what is printed
    (["describe", "never_was"], "NOT_FOUND: "),
    (["cancel", "never_was"], "NOT_FOUND: "),
    (["submit", "training", "with-hyphen", "--region", "us-central1", "--master-image-uri", "x"],
     "INVALID_ARGUMENT: Field: job.job_id Error: "),
    (["submit", "training", "bad_region", "--region", "mars", "--master-image-uri", "x"],
     "INVALID_ARGUMENT: Field: region Error: The provided GCE region 'mars' is not available. Options are ["),
    (["submit", "prediction", "predict_it", "--region", "us-central1", "--model", "m", "--data-format", "text",
      "--input-paths", "gs://b/i", "--output-path", "gs://b/o"], "INVALID_ARGUMENT: "),
]


@pytest.mark.parametrize("words,text", ERRORS, ids=[" ".join(w[:3]) for w, _ in ERRORS])
def test_errors_are_printed_at_once(gcloud, words, text):
    assert text in gcloud(*words, expect=1, timeout=25).stderr


def test_a_second_job_of_the_same_id_is_a_conflict(gcloud, yard):
    job_id = yard.new_id("gcloud_twice")
    submit(gcloud, job_id, "true")
    done = submit(gcloud, job_id, "true", expect=1)
    assert f"Resource in projects [{yard.project}] is the subject of a conflict: " in done.stderr
    yard.until(job_id, "SUCCEEDED")
