# SPDX-License-Identifier: Apache-2.0
"""Vertex AI's CustomJobs of a daemon, as the tests call them."""
from .engine import IMAGE
from .wait import wait_until

FINAL = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED", "JOB_STATE_CANCELLED")


def pool(text=None, count=1, machine="n1-standard-4", **container):
    """A worker pool whose replicas run the shell script `text`, or the spec `container`."""
    if text is not None:
        container.setdefault("command", ["sh", "-c", text])
    return {"machineSpec": {"machineType": machine}, "replicaCount": str(count),
            "containerSpec": {"imageUri": IMAGE, **container}}


def variables(**values):
    return [{"name": name, "value": value} for name, value in values.items()]


class CustomJobs:
    def __init__(self, yard, location="us-central1"):
        self.yard = yard
        self.path = f"/v1/projects/{yard.project}/locations/{location}/customJobs"

    def create(self, *pools, **spec):
        """Submits; returns the job's number. Anything but 200 fails the test."""
        answer = self.yard.post(self.path, {"displayName": "test", "jobSpec": {"workerPoolSpecs": pools, **spec}})
        assert answer.status == 200, answer
        return answer.json["name"].rsplit("/", 1)[1]

    def job(self, job_id):
        answer = self.yard.get(f"{self.path}/{job_id}")
        assert answer.status == 200, answer
        return answer.json

    def cancel(self, job_id):
        answer = self.yard.post(f"{self.path}/{job_id}:cancel", {})
        assert (answer.status, answer.json) == (200, {}), answer

    def until(self, job_id, *states, timeout=60):
        def there():
            job = self.job(job_id)
            if job["state"] in states:
                return job
            assert job["state"] not in FINAL, f"{job_id} ended: {job}"
            return None
        return wait_until(there, timeout, f"{job_id} in {states}")

    def run(self, *pools, expect="JOB_STATE_SUCCEEDED", **spec):
        """Submits, waits for the end, and returns the job's number and the job."""
        job_id = self.create(*pools, **spec)
        return job_id, self.until(job_id, expect)

    def wait_lines(self, job_id, task, count=1, timeout=60):
        """Waits until a task has `count` lines, and returns them."""
        def said():
            lines = self.yard.lines(job_id, task)
            return lines if len(lines) >= count else None
        return wait_until(said, timeout, f"{task} of {job_id} says {count} lines")
