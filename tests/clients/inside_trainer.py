# SPDX-License-Identifier: Apache-2.0
"""A trainer as written for the cloud: reads gs:// data, stores checkpoints in its job directory, continues from the last
one, and writes its model there. It uses nothing of trainyard."""
import argparse
import json
import time

from google.cloud import storage

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
parser.add_argument("--data")
parser.add_argument("--steps", type=int)
parser.add_argument("--wait-at", type=int, default=-1)
options = parser.parse_args()

client = storage.Client()


def at(uri):
    bucket, _, name = uri.removeprefix("gs://").partition("/")
    return client.bucket(bucket).blob(name)


def latest():
    bucket, _, prefix = (options.job_dir.rstrip("/") + "/checkpoints/").removeprefix("gs://").partition("/")
    found = sorted(blob.name for blob in client.list_blobs(bucket, prefix=prefix))
    return json.loads(client.bucket(bucket).blob(found[-1]).download_as_bytes()) if found else {"step": 0, "sum": 0}


numbers = [int(line) for line in at(options.data).open("r")]
state = latest()
print("begins at step", state["step"], flush=True)
waited = state["step"] > options.wait_at
while state["step"] < options.steps:
    state = {"step": state["step"] + 1, "sum": state["sum"] + numbers[state["step"] % len(numbers)]}
    at(f"{options.job_dir.rstrip('/')}/checkpoints/{state['step']:04}").upload_from_string(json.dumps(state))
    if state["step"] == options.wait_at and not waited:
        print("waits", flush=True)
        while True:  # waits to be killed
            time.sleep(1)
at(options.job_dir.rstrip("/") + "/model.json").upload_from_string(json.dumps(state))
print("trained to", state["sum"], flush=True)
