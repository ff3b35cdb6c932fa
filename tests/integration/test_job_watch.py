# SPDX-License-Identifier: Apache-2.0
"""The stream of changes of all jobs."""
import contextlib
import http.client
import json
import urllib.parse

from support.daemon import script
from support.vertex import Vertex, custom_job

WATCH = "/_trainyard/v1/jobs:watch"


class Watch:
    """Reads a stream up to a position, and keeps the present jobs by id."""

    def __init__(self, answer):
        self.answer, self.jobs, self.position, self.begun = answer, {}, None, 0

    def step(self):
        """Reads to the next position or progress; False: the stream has ended."""
        while row := self.answer.readline():
            line = json.loads(row)
            if line.get("all"):
                self.jobs, self.begun = {}, self.begun + 1
            elif "position" in line:
                self.position = line["position"]
                return True
            elif "progress" in line:
                self.jobs[line["uid"]]["progress"] = line["progress"]
                return True
            elif line.get("removed"):
                self.jobs.pop(line["uid"], None)
            else:
                self.jobs[line["uid"]] = line["job"]
        return False

    def until(self, found):
        while not found({job["id"]: job for job in self.jobs.values()}):
            assert self.step(), "the stream has ended"


@contextlib.contextmanager
def watching(daemon, **query):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(daemon.base).netloc, timeout=60)
    try:
        connection.request("GET", f"{WATCH}?{urllib.parse.urlencode(query)}")
        answer = connection.getresponse()
        assert answer.status == 200 and answer.headers["Content-Type"] == "application/x-ndjson"
        yield Watch(answer)
    finally:
        connection.close()


def test_a_job_is_told_in_each_of_its_states(yard):
    with watching(yard, project=yard.project) as watch:
        watch.step()
        before = set(watch.jobs)
        job, states = yard.create(script("echo here"), job_id=yard.new_id("watched")), []
        while "SUCCEEDED" not in states:
            watch.step()
            states += [told["state"] for told in watch.jobs.values() if told["id"] == job]
        assert [s for i, s in enumerate(states) if s not in states[:i]][-2:] == ["RUNNING", "SUCCEEDED"], states
        new = set(watch.jobs) - before
        assert {watch.jobs[uid]["id"] for uid in new} == {job} and watch.begun == 1
        listed = yard.get("/_trainyard/v1/jobs", project=yard.project, filter=f"id={job}").json["jobs"]
        assert listed == [watch.jobs[uid] for uid in new]


def test_a_watch_that_was_cut_off_goes_on_where_it_was(yard):
    with watching(yard, project=yard.project) as watch:
        watch.step()
        position, before = watch.position, dict(watch.jobs)
    vertex = Vertex(yard)
    name = vertex.create(custom_job("exit 0", name="watched-later"))["name"]
    id = name.rsplit("/", 1)[1]
    with watching(yard, project=yard.project, position=position) as again:
        again.jobs = dict(before)
        again.until(lambda jobs: "endTime" in jobs.get(id, {}))
        assert again.begun == 0 and set(before) < set(again.jobs)
        assert yard.request("DELETE", vertex.path(name)).status == 200
        again.until(lambda jobs: id not in jobs)
        assert set(again.jobs) == set(before)


def test_a_filter_is_about_what_a_job_is_now(yard):
    with watching(yard, project=yard.project, filter='state=SUCCEEDED AND id:"filtered*"') as watch:
        watch.step()
        job = yard.create(script("exit 0"), job_id=yard.new_id("filtered"))
        watch.until(lambda jobs: job in jobs)
        assert {told["state"] for told in watch.jobs.values()} == {"SUCCEEDED"}
    for query in ({"filter": "nosuch=1"}, {"position": "here"}, {"position": "abcdefgh.1"}):
        assert yard.get(WATCH, **query).status == 400, query


def test_a_position_of_an_earlier_start_begins_with_all_jobs_and_a_stop_ends_a_watch(new_daemon):
    daemon = new_daemon()
    daemon.start()
    first = daemon.create(script("exit 0"), job_id="first")
    daemon.until(first, "SUCCEEDED")
    with watching(daemon) as watch:
        watch.until(lambda jobs: jobs.get(first, {}).get("state") == "SUCCEEDED")
        daemon.stop()
        while watch.step():
            pass
    daemon.start()
    with watching(daemon, position=watch.position) as again:
        again.step()
        assert again.begun == 1 and [job["id"] for job in again.jobs.values()] == [first]
        assert again.position != watch.position


def last_line(job):
    return job.get("progress", {}).get("lastLine")


# Fails with: started_note() that notes nothing; a resumed watch that sends only what changes; progress_lines_render() that sends
# the lines of jobs that the filter has not; a listing that reads no log after a start.
def test_the_last_line_of_a_running_job_is_told(new_daemon):
    daemon = new_daemon().start()
    until = "until [ -e /%s ]; do sleep 0.05; done; "
    other = daemon.create(script("echo of another; " + until % "never"), job_id="other")
    job = daemon.create(script("echo one; " + until % "two" + "printf '10%%\\r20%%\\n'; " + until % "released"), job_id="said")
    daemon.until(other, "RUNNING")
    with watching(daemon, filter="id=said") as watch:
        watch.until(lambda jobs: last_line(jobs.get(job, {})) == "one")
        daemon.engine.put_file(daemon.container(job, "master-0"), "/two")
        watch.until(lambda jobs: last_line(jobs[job]) == "20%")
        assert len(watch.jobs) == 1 and watch.begun == 1
        while not watch.position:
            watch.step()
    with watching(daemon, filter="id=said", position=watch.position) as again:
        again.until(lambda jobs: last_line(jobs.get(job, {})) == "20%")
        assert again.begun == 0 and len(again.jobs) == 1
    daemon.stop()
    daemon.start()
    listed = {each["id"]: last_line(each) for each in daemon.get("/_trainyard/v1/jobs").json["jobs"]}
    assert listed == {job: "20%", other: "of another"}
    daemon.release(job)
    daemon.until(job, "SUCCEEDED")
    assert "progress" not in daemon.get(f"/_trainyard/v1/jobs/{job}").json
    daemon.cancel(other)
    daemon.until(other, "CANCELLED")
