# SPDX-License-Identifier: Apache-2.0
"""Sends the fields of fields.json through a client written in Python; prints one line of JSON for each test.

A client is an object with call(method, **parameters); `method` is the name after ml.projects. It returns the answer or
raises Refused. fields_node.js does the same in JavaScript."""
import json
import os
import pathlib
import time

from one_by_one import run_named

PARENT = "projects/" + os.environ["GOOGLE_CLOUD_PROJECT"]
FIELDS = json.loads(pathlib.Path(__file__).with_name("fields.json").read_text())
LABELS = {"changed": "yes"}


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status, self.message = status, message


class Cases:
    def __init__(self, client, prefix):
        self.call, self.prefix = client.call, f"{prefix}_{os.getpid()}"

    def id(self, number):
        return f"{self.prefix}_{number}"

    def name(self, number):
        return f"{PARENT}/jobs/{self.id(number)}"

    def create(self, number, job):
        return self.call("jobs.create", parent=PARENT, body=dict(job, jobId=self.id(number)))

    def get(self, number):
        return self.call("jobs.get", name=self.name(number))

    def until(self, number, state, output=None):
        """Waits until the job is in that state, and, if asked, has something in its output."""
        end = time.monotonic() + 60
        while True:
            job = self.get(number)
            there = "endTime" in job if output is None else output in job["trainingOutput"]
            if job["state"] == state and there:
                return job
            assert "endTime" not in job and time.monotonic() < end, job
            time.sleep(0.05)

    def label(self, number):
        """Changes a job's labels; returns the job from that answer, and a list with only this job."""
        patched = self.call("jobs.patch", name=self.name(number), updateMask="labels", body={"labels": LABELS})
        return patched, self.call("jobs.list", parent=PARENT, filter=f"jobId={self.id(number)}")["jobs"]

    def pages(self, method, field, **parameters):
        found = []
        while True:
            answer = self.call(method, parent=PARENT, **parameters)
            found += answer[field]
            if "nextPageToken" not in answer:
                return found
            parameters["pageToken"] = answer["nextPageToken"]

    # ---- the tests ----

    def holds_the_queue(self):
        """The daemon runs one job at a time, so later jobs stay queued. The machine is so expensive that consumed units show
        at once."""
        self.create("hold", FIELDS["hold"])
        output = self.until("hold", "RUNNING", "consumedMLUnits")["trainingOutput"]
        patched, [listed] = self.label("hold")
        for other in (patched["trainingOutput"], listed["trainingOutput"]):
            assert other["webAccessUris"] == output["webAccessUris"], other
            assert other["consumedMLUnits"] >= output["consumedMLUnits"] > 0, other
        assert list(output["webAccessUris"]) == ["master-replica-0"], output

    def accepted(self, number, row):
        sent = row["job"]
        created = self.create(number, sent)
        assert created["trainingInput"] == sent["trainingInput"], created
        assert created.get("labels") == sent.get("labels") and created["state"] == "QUEUED", created
        assert not any(created.get(field) == sent[field] for field in row.get("ignored", [])), created
        # A body may have more fields than the mask names.
        patched = self.call("jobs.patch", name=self.name(number), updateMask="labels,etag",
                            body=dict(sent, jobId=self.id(number), labels=LABELS, etag=created["etag"]))
        assert patched["labels"] == LABELS and patched["etag"] != created["etag"], patched
        got = self.get(number)
        assert (got["trainingInput"], got["labels"]) == (sent["trainingInput"], LABELS), got

    def refused(self, number, row):
        try:
            self.create(number, row["job"])
        except Refused as error:
            assert error.status == 400 and row["says"] in error.message, error
        else:
            raise AssertionError("was not refused")

    def lists_them_all_page_after_page(self):
        listed = self.pages("jobs.list", "jobs", filter=f"jobId:{self.prefix}_*", pageSize=2)
        seen = {job["jobId"]: job for job in listed}
        for number, row in enumerate(FIELDS["accepted"]):
            assert seen[self.id(number)]["trainingInput"] == row["job"]["trainingInput"], seen

    def takes_the_parameters_of_every_method(self):
        answer = self.call("jobs.get", name=self.name(0), **FIELDS["parameters"])
        first = FIELDS["accepted"][0]["job"]["trainingInput"]
        assert answer == {"jobId": self.id(0), "trainingInput": {k: first[k] for k in ("region", "args")}}, answer

    def keeps_a_policy(self):
        name, policy = self.name(0), FIELDS["policy"]
        assert self.call("jobs.getIamPolicy", resource=name) == {"etag": "ACAB"}
        put = self.call("jobs.setIamPolicy", resource=name, body={"policy": dict(policy, etag="ACAB"),
                                                                  "updateMask": "bindings,auditConfigs,etag"})
        assert put == dict(policy, etag=put["etag"]), put
        assert self.call("jobs.getIamPolicy", resource=name, **{"options.requestedPolicyVersion": 3}) == put
        held = self.call("jobs.testIamPermissions", resource=name, body={"permissions": ["ml.jobs.get", "ml.jobs.fly"]})
        assert held == {"permissions": ["ml.jobs.get"]}, held

    def knows_the_project_and_its_locations(self):
        config = self.call("getConfig", name=PARENT)
        assert config["serviceAccountProject"] in config["serviceAccount"] and "tpuServiceAccount" in config["config"], config
        locations = self.pages("locations.list", "locations", pageSize=10)
        assert len(locations) > 10 and locations[0] == self.call("locations.get", name=locations[0]["name"]), locations

    def sees_how_jobs_end(self):
        for number in [*range(len(FIELDS["accepted"])), "hold"]:
            assert self.call("jobs.cancel", name=self.name(number), body={}) == {}
            self.until(number, "CANCELLED")
        self.create("fails", FIELDS["fails"])
        assert "non-zero status of 3" in self.until("fails", "FAILED")["errorMessage"]
        created = self.create("ends", FIELDS["ends"])
        assert created["trainingOutput"]["isBuiltInAlgorithmJob"], created
        assert self.until("ends", "SUCCEEDED")["trainingOutput"]["builtInAlgorithmOutput"]["modelPath"].startswith("gs://")
        for number in ("fails", "ends"):
            patched, listed = self.label(number)
            assert listed == [patched] == [self.get(number)], listed

    def tests(self):
        yield "holds the queue", self.holds_the_queue
        for number, row in enumerate(FIELDS["accepted"]):
            yield "sends " + row["name"], lambda number=number, row=row: self.accepted(number, row)
        for number, row in enumerate(FIELDS["refused"]):
            yield "is refused " + row["name"], lambda number=number, row=row: self.refused(f"refused_{number}", row)
        yield "lists them all page after page", self.lists_them_all_page_after_page
        yield "takes the parameters of every method", self.takes_the_parameters_of_every_method
        yield "keeps a policy", self.keeps_a_policy
        yield "knows the project and its locations", self.knows_the_project_and_its_locations
        yield "sees how jobs end", self.sees_how_jobs_end


def run(client, prefix):
    run_named(Cases(client, prefix).tests())
