# SPDX-License-Identifier: Apache-2.0
"""Calls of Vertex AI's jobs and pipelines over plain HTTP."""
from .wait import wait_until

REGION = "us-central1"
FINAL = tuple(f"{kind}_STATE_{end}" for kind in ("JOB", "PIPELINE") for end in ("SUCCEEDED", "FAILED", "CANCELLED"))
DEFINITIONS = "gs://google-cloud-aiplatform/schema/trainingjob/definition/"
RUNS_ON = "trap 'exit 0' TERM; echo up; while :; do sleep 0.1; done"


def pool(text, image="trainyard-test:1", count=1, **more):
    """A worker pool whose containers run a script."""
    return {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": str(count),
            "containerSpec": {"imageUri": image, "command": ["sh", "-c"], "args": [text]}, **more}


def custom_job(text, name="mine", labels=None, **spec):
    return {"displayName": name, "jobSpec": {"workerPoolSpecs": [pool(text)], **spec}, **({"labels": labels} if labels else {})}


def tuning_job(text, *parameters, name="search", count=2, parallel=1, metrics=(("score", "MAXIMIZE"),), study=None, **more):
    """A search whose trials run a script. The flags follow the first argument, which the shell takes as a name."""
    spec = {"metrics": [{"metricId": metric, "goal": goal} for metric, goal in metrics], "parameters": list(parameters)}
    return {"displayName": name, "studySpec": spec | (study or {}), "maxTrialCount": count, "parallelTrialCount": parallel,
            "trialJobSpec": {"workerPoolSpecs": [pool(text)]}, **more}


def pipeline(text, name="line", spec=None, **more):
    """A pipeline of the custom training task."""
    return {"displayName": name, "trainingTaskDefinition": DEFINITIONS + "custom_task_1.0.0.yaml",
            "trainingTaskInputs": {"workerPoolSpecs": [pool(text)], **(spec or {})}, **more}


class Vertex:
    """One location of a daemon, and one collection of jobs in it."""

    def __init__(self, yard, version="v1", region=REGION, collection="customJobs"):
        self.yard, self.version, self.region, self.collection = yard, version, region, collection

    @property
    def parent(self):
        return f"/{self.version}/projects/{self.yard.project}/locations/{self.region}"

    def path(self, name):
        return f"/{self.version}/{name}"

    def create(self, job):
        answer = self.yard.post(f"{self.parent}/{self.collection}", job)
        assert answer.status == 200, answer
        return answer.json

    def get(self, name):
        answer = self.yard.get(self.path(name))
        assert answer.status == 200, answer
        return answer.json

    def list(self, **query):
        answer = self.yard.get(f"{self.parent}/{self.collection}", **query)
        assert answer.status == 200, answer
        return answer.json

    def names(self, **query):
        return [job["displayName"] for job in self.list(**query).get(self.collection, [])]

    def until(self, name, *states, timeout=60):
        """Waits until the job is in one of `states`, and returns it."""
        def there():
            job = self.get(name)
            if job["state"] in states and (job["state"] not in FINAL or "endTime" in job):
                return job
            assert job["state"] not in FINAL or "endTime" not in job, job
            return None
        return wait_until(there, timeout, f"{name} in {states}")

    def run(self, job, expect="JOB_STATE_SUCCEEDED"):
        return self.until(self.create(job)["name"], expect)

    def cancel_all(self):
        for job in self.list(pageSize=1000).get(self.collection, []):
            if job["state"] not in FINAL:
                self.yard.post(self.path(job["name"]) + ":cancel", {})
                self.until(job["name"], *FINAL)
