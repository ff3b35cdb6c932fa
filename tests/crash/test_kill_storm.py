# SPDX-License-Identifier: Apache-2.0
"""kill -9 of the daemon again and again: at random moments, at random changes of its files, and as soon as it has answered
a client. Clients create, cancel, label, upload and write log entries, with jobs of every kind running. What was answered
holds; nothing happens twice; nothing is left.

    pytest tests/crash/test_kill_storm.py --cycles 300 --seed 1     # so many kills

Seen to catch, each in the short form with the seed 0 unless another is named:
Fails with: job_cancel() that answers, and stores 3 ms later -> a job that was cancelled runs on
Fails with: job_set_labels() likewise -> the labels of before
Fails with: drafts_store() of api/logging/entry_write.c without its last log_flush() -> an entry that was answered is nowhere
Fails with: log_batch_write() that commits the positions of lines before the lines -> a line is missing
Fails with: is_reached() that takes a line of exactly reach->time_ns for a new one -> the last line before a kill comes again
Fails with: items_write() of store/logs/log_batch.c that does not store how far the outbox was read -> the service's lines come
again Fails with: decide_outcome() that leads a job that ended unseen from PREPARING to its end -> "Job is running." is missing
Fails with: decide_running() that says so twice; decide_explanation() that does not say why a job failed; decide_close() without
what it says of cancelled jobs, or of trials that were cancelled -> not the story of such an end Fails with: reported_share() of
trials that forgets at a restart; job_succeed() of tuning jobs that says nothing, as they were Fails with: upload_finish_run() that
gives objects without bytes a size of 1 Fails with: remove_send() of scheduler/engine/docker_replica.c that only looks, or without
"v=1"; the removal of networks that only looks -> leftovers in the engine Fails with: the trigger lease_returned without jobs that
succeeded -> a GPU is still lent to one (the seed 1) """
import collections
import contextlib
import datetime
import http.client
import os
import pathlib
import random
import signal
import subprocess
import threading
import time

import pytest

from support import service_story
from support.daemon import Daemon, distributed, script, shell_config, task_of, text_of, with_gpus
from support.engine import NO_ENGINE, VOLUME_IMAGE
from support.service_story import FAULT, LOST, TRIAL_ID, UNLIKE
from support.storage import Storage, pattern, tree_paths
from support.vertex import Vertex, custom_job
from support.wait import wait_until

KILLS = 20         # in the short form
OPEN_JOBS = 8      # the maximum, so that the machine keeps up
GPUS = 2
LINES = 40
CODES = [code for code in range(1, 121) if code not in (6, 11)]  # these two are codes of signals, which are retried
DIED = (OSError, http.client.HTTPException)
RANKS = {"QUEUED": 0, "PENDING": 1, "PREPARING": 1, "RUNNING": 2, "CANCELLING": 3, "SUCCEEDED": 4, "FAILED": 4,
         "CANCELLED": 4}
WAITS = 'trap "exit 0" TERM; echo line 0; while :; do sleep 0.1; done'
COUNTS = ("i=0; while [ $i -lt %d ]; do echo line $i; [ $((i %% 10)) = 0 ] && echo told $i >&2; i=$((i+1)); usleep 20000; done; "
          "exit %d")
CHATTERS = "i=0; while :; do echo line $i; i=$((i+1)); usleep 20000; done"
TRIAL = ('for word in "$@"; do case $word in --x=*) x=${word#--x=};; esac; done; '
         'printf \'{"global_step": "1", "timestamp": %s, "accuracy": "%s", "trial": "%s"}\\n\' '
         '"$(date +%s)" "$x" "$CLOUD_ML_TRIAL_ID" > "$CLOUD_ML_HP_METRIC_FILE"; sleep 0.3; echo run')
TRIALS = 3
# When the daemon is killed: at any moment, at a change of its files, or right after it answered this call.
ANSWERED = ("create", "label", "cancel", "upload", "write")
WAYS = ("moment", "moment", "change", "change", "change", *ANSWERED)


def counts(code=0):
    return COUNTS % (LINES, code)


def tuned():
    config = shell_config("trainyard-test:1", TRIAL)
    config["containerArgs"].append("trainer")  # "$0"; the parameters follow
    return dict(region="us-central1", masterConfig=config, hyperparameters=dict(
        goal="MAXIMIZE", hyperparameterMetricTag="accuracy", maxTrials=TRIALS, maxParallelTrials=2,
        params=[dict(parameterName="x", type="INTEGER", minValue=1, maxValue=1000)]))


# The request for each kind of job, given how its master is to end.
KINDS = {
    "counts": lambda code: script(counts(code)),
    "cluster": lambda code: distributed(counts(code), CHATTERS, CHATTERS, workers=1, ps_count=1, image=VOLUME_IMAGE),
    "gpu": lambda code: with_gpus(distributed(counts(code)), 1),
    "waits": lambda code: script(WAITS, image=VOLUME_IMAGE),
    "tuned": lambda code: tuned(),
    "preempted": lambda code: distributed(counts(code), "echo begun; while :; do sleep 0.1; done", workers=1,
                                          image=VOLUME_IMAGE),
    "custom": None,
}


class Job:
    def __init__(self, kind, job_id, code, spared):
        self.kind, self.job_id, self.code = kind, job_id, code
        self.spared = spared and kind != "waits"  # this test does not cancel it
        self.name = None        # name of a custom job, once the create was answered
        self.answered = False
        self.labels = [{}]      # possible labels: the last answered ones, and those of unanswered requests
        self.cancels = 0        # number of requests
        self.cancelled_ns = 0   # time of an answered cancel
        self.rank = 0

    def __repr__(self):
        return f"{self.kind} job {self.job_id} {self.name or ''}"


class KilledDaemon(Daemon):
    """A daemon that can be ordered to kill itself at a change of its files."""
    order = None

    def command(self):
        if self.order is None:
            return super().command()
        at, way, seed = self.order
        library = pathlib.Path(self.binary).parent / "tests/crash/kill_at.so"
        # the loader ignores a library that is missing
        assert library.exists(), f"{library} is not built: make tests/crash/kill_at.so"
        return ["env", f"LD_PRELOAD={library}",
                f"TRAINYARD_TEST_KILL_DIR={self.state_dir.resolve()}", f"TRAINYARD_TEST_KILL_AT={at}",
                f"TRAINYARD_TEST_KILL_WAY={way}", f"TRAINYARD_TEST_KILL_SEED={seed}",
                f"ASAN_OPTIONS={os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0", *super().command()]

    def begin(self, order=None):
        """Starts it; returns whether it lived long enough to print its ready line."""
        self.order = order
        try:
            self.start()
            return True
        except AssertionError:
            if order is None or self.process.wait(30) != -9:
                raise
            return False
        finally:
            self.order = None

    def died(self, within):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(within)
            return True
        return False


class Storm:
    def __init__(self, daemon, seed):
        self.daemon, self.dice = daemon, random.Random(seed)
        self.storage, self.vertex = Storage(daemon), Vertex(daemon)
        self.jobs, self.ways = [], []
        self.objects, self.written = {}, {}  # what was sent, and whether it was answered
        self.figures = collections.Counter()

    # ---- what clients do, each on the thread of the actor ----

    def act_until_it_dies(self):
        actions = [self.act_create] * 4 + [self.look] * 4 + [self.act_label] * 3 + [
            self.act_cancel, self.upload, self.upload, self.write]
        while True:
            try:
                self.dice.choice(actions)()
            except DIED:
                if self.daemon.process.poll() is not None:
                    return
                time.sleep(0.01)  # the process is about to end
            else:
                self.figures["answers"] += 1

    def act_and_kill(self, last):
        """Makes several calls, then one after whose answer the daemon is killed at once."""
        actions = [self.act_create, self.look, self.act_label, self.act_cancel, self.upload, self.write]
        for _ in range(self.dice.randint(0, 40)):
            self.dice.choice(actions)()
        last()
        self.daemon.process.kill()

    def some(self, *kinds, may=lambda job: True):
        found = [job for job in self.jobs if job.answered and job.rank < 4 and (not kinds or job.kind in kinds) and may(job)]
        return self.dice.choice(found) if found else None

    def act_create(self):
        if sum(job.rank < 4 for job in self.jobs) >= OPEN_JOBS:
            return self.look()
        return self.create()

    def create(self, kind=None):
        kind, code = kind or self.dice.choice(sorted(KINDS)), self.dice.choice((0, 0, self.dice.choice(CODES)))
        return self.create_one(Job(kind, self.daemon.new_id(kind), code, self.dice.random() < 0.6))

    def create_one(self, job):
        if job.kind == "preempted":
            answer = self.daemon.post("/_trainyard/v1/faults", {"fault": "preempt", "job": job.job_id, "role": "worker",
                                                                "logPattern": "^begun$", "count": 1})
            assert answer.status == 200, answer
        self.jobs.append(job)
        if job.kind == "custom":
            job.name = self.vertex.create(custom_job(counts(job.code), name=job.job_id))["name"]
        else:
            self.daemon.create(KINDS[job.kind](job.code), job_id=job.job_id)
        job.answered = True
        return job

    def path(self, job):
        return self.vertex.path(job.name) if job.name else f"{self.daemon.jobs_path}/{job.job_id}"

    def read(self, job):
        answer = self.daemon.get(self.path(job))
        assert answer.status == 200, (job, answer)
        return answer.json

    def look(self):
        job = self.some()
        if job:
            self.note(job, self.read(job))

    def note(self, job, found):
        rank = RANKS[found["state"].removeprefix("JOB_STATE_")]
        assert rank >= job.rank, f"{job} was {job.rank}, now {found}"
        assert found.get("labels", {}) in job.labels, (job, job.labels, found)
        if job.kind == "waits" and job.cancelled_ns:
            assert rank >= RANKS["CANCELLING"], f"{job} was cancelled, now {found}"
        job.rank, job.labels = rank, [found.get("labels", {})]
        self.figures["looks"] += 1

    def act_label(self):
        job = self.some("counts", "cluster", "gpu", "waits", "tuned", "preempted")
        if job:
            self.label(job)

    def label(self, job=None):
        job = job or self.create("waits")
        labels = {"n": str(self.dice.randint(0, 1 << 30))}
        job.labels = job.labels + [labels]
        answer = self.daemon.request("PATCH", self.path(job), {"labels": labels}, updateMask="labels")
        assert answer.status == 200, answer
        job.labels = [labels]

    def act_cancel(self):
        kinds = () if self.dice.random() < 0.3 else ("waits",)
        job = self.some(*kinds, may=lambda job: not job.spared and not job.cancelled_ns)
        if job:
            self.cancel(job)

    def cancel(self, job=None):
        """At most once for each job: a second cancel would hide that the first one was lost."""
        job = job or self.some("waits", may=lambda job: not job.cancelled_ns) or self.create("waits")
        job.cancels += 1
        answer = self.daemon.post(self.path(job) + ":cancel", {})
        assert answer.status == 200, answer
        job.cancelled_ns = time.time_ns()

    def upload(self):
        name = f"o{len(self.objects)}"
        data = pattern(name, self.dice.choice((0, 100, 300_000)))
        self.objects[name] = data, False
        answer = self.storage.put(name, data)
        assert answer.status == 200, answer
        self.objects[name] = data, True

    @property
    def log(self):
        return f"projects/{self.daemon.project}/logs/own"

    def write(self):
        text = f"said {len(self.written)}"
        self.written[text] = False
        answer = self.daemon.post("/v2/entries:write", {"logName": self.log, "resource": {"type": "global"},
                                                        "entries": [{"textPayload": text}]})
        assert answer.status == 200, answer
        self.written[text] = True

    # ---- kills ----

    def kill_once(self):
        """Lets the daemon and its clients work for a while, until it is killed in one of the ways."""
        if not self.ways:
            self.ways = self.dice.sample(WAYS, len(WAYS))
        way, order = self.ways.pop(), None
        if way == "change":
            order = (self.dice.randint(1, 400), self.dice.randint(0, 1), self.dice.randint(0, 1 << 30))
        lived = self.daemon.begin(order)
        if lived:
            failed = []

            def act():
                try:
                    if way in ANSWERED:
                        self.act_and_kill(getattr(self, way))
                    else:
                        self.act_until_it_dies()
                except BaseException as problem:  # the test reports it
                    failed.append(problem)
            actor = threading.Thread(target=act)
            limit_s = 4 if order else self.dice.random() ** 2 * 3
            actor.start()
            if way in ANSWERED:
                actor.join(60)
            elif not self.daemon.died(limit_s):
                way = "moment"
            self.daemon.process.kill()
            self.daemon.process.wait()
            actor.join(60)
            assert not failed and not actor.is_alive(), failed
            self.figures[f"kills: {way}"] += 1
        else:
            self.figures["kills: start"] += 1
        self.daemon.kill9()
        self.figures["kills"] += 1
        time.sleep(self.dice.choice((0, 0, self.dice.random())))  # replicas may end meanwhile

    # ---- how it must be in the end ----

    def settle(self):
        """Waits until all jobs have ended, including those whose create was not answered."""
        for job in self.jobs:
            if not job.answered:
                self.find(job)
        self.jobs = [job for job in self.jobs if job.answered]
        for job in self.jobs:
            self.note(job, self.read(job))
            if job.kind == "waits" and not job.cancelled_ns:
                self.cancel(job)
        for job in self.jobs:
            wait_until(lambda job=job: "endTime" in self.read(job), 120, f"{job} has ended")

    def find(self, job):
        if job.kind == "custom":
            found = self.vertex.list(filter=f'display_name="{job.job_id}"').get("customJobs", [])
            assert len(found) <= 1, found
            job.name, job.answered = (found[0]["name"], True) if found else (None, False)
        else:
            job.answered = self.daemon.get(self.path(job)).status == 200

    def check_job(self, job):
        found = self.read(job)
        self.note(job, found)
        entries = self.daemon.entries(job.name.rsplit("/")[-1] if job.name else job.job_id)
        keys = [(e["timestamp"], e["insertId"]) for e in entries]
        assert keys == sorted(set(keys)), job
        state = found["state"].removeprefix("JOB_STATE_")
        self.check_end(job, state, found, entries)
        self.check_lines(job, state, entries)
        self.check_story(job, state, found, entries)
        self.figures["lines"] += len(entries)
        self.figures[state.lower()] += 1

    def check_end(self, job, state, found, entries):
        assert found["createTime"] <= found.get("startTime", found["endTime"]) <= found["endTime"], found
        if state == "CANCELLED":
            assert job.cancels, (job, found)
            return
        assert job.kind != "waits", (job, found)
        assert state == ("FAILED" if job.code and job.kind != "tuned" else "SUCCEEDED"), (job, found)
        # A cancel after the outcome was decided is answered with 200 as well, so lines may be older than it.
        assert not job.cancelled_ns or last_said_ns(entries) < job.cancelled_ns, (job, job.cancelled_ns, found, entries[-20:])

    def check_lines(self, job, state, entries):
        said = collections.defaultdict(list)
        for entry in entries:
            said[task_of(entry)].append(text_of(entry))
        story = service_story.told(entries, job.job_id)
        said.pop("service", None)
        for task, lines in said.items():
            if job.kind == "tuned":
                assert lines == ["run"] * len(lines), (job, lines)
                assert len(lines) == TRIALS if state == "SUCCEEDED" else len(lines) <= TRIALS, (job, lines)
            elif job.kind == "preempted" and task.startswith("worker"):
                # Its master may end before a further attempt has begun.
                assert lines == ["begun"] * len(lines), (job, lines)
                assert story.count(FAULT) <= len(lines) <= 1 + story.count(LOST), (job, lines, story)
            else:
                numbered = [line for line in lines if not line.startswith("told ")]
                assert numbered == [f"line {i}" for i in range(len(numbered))], (job, task, lines)
                told = [line for line in lines if line.startswith("told ")]
                assert told == [f"told {i * 10}" for i in range(len(told))], (job, task, lines)
        if state != "CANCELLED" and job.kind not in ("tuned", "waits"):
            master = said["workerpool0-0" if job.name else "master-replica-0"]
            assert len(master) == LINES + LINES // 10, (job, master)

    def check_story(self, job, state, found, entries):
        """The service writes a line at each transition of a job: all of them, once, in their order."""
        reason = None
        if state == "FAILED":
            reason = found["error"]["message"] if job.name else found["errorMessage"]
            assert f"status of {job.code}." in reason and "\ntold 0\ntold 10\ntold 20\ntold 30\n" in reason, found
            reason = reason.replace(job.job_id, "JOB")
        story = service_story.told(entries, job.job_id)
        allowed = service_story.stories({"tuned": "search", "custom": "custom job"}.get(job.kind, "job"), state, reason,
                                        job.kind not in ("cluster", "preempted"))
        assert service_story.is_whole(story, *allowed, faults=job.kind == "preempted"), "\n".join([repr(job), state, *story])
        if job.kind == "tuned":
            self.check_trials(job, state, entries)

    def check_trials(self, job, state, entries):
        trials = sorted({e["labels"][TRIAL_ID] for e in entries if TRIAL_ID in e.get("labels", {})})
        if state == "SUCCEEDED":
            assert trials == [str(number + 1) for number in range(TRIALS)], (job, trials)
        differing = 0
        for trial in trials:
            allowed = [story for end in {"SUCCEEDED", state}
                       for what in ("first trial", "trial") for story in service_story.stories(what, end)]
            story = service_story.told(entries, job.job_id, trial)
            assert service_story.is_whole(story, *allowed), "\n".join([repr(job), trial, *story])
            differing += story.count(UNLIKE)
        assert differing <= 1, job

    def check_objects(self):
        names = self.storage.names()
        for name, (data, answered) in self.objects.items():
            if name in names or answered:
                self.storage.assert_is(name, data)
        assert set(names) <= set(self.objects) and not self.storage.files("uploads")

    def check_written(self):
        found, query = [], {"resourceNames": [f"projects/{self.daemon.project}"], "filter": f'logName="{self.log}"', "pageSize": 1000}
        while query.get("pageToken") != "":
            answer = self.daemon.post("/v2/entries:list", query)
            assert answer.status == 200, answer
            found += [entry["textPayload"] for entry in answer.json.get("entries", [])]
            query["pageToken"] = answer.json.get("nextPageToken", "")
        counted = collections.Counter(found)
        for text, answered in self.written.items():
            assert answered <= counted[text] <= 1, (text, answered, counted[text])
        assert set(counted) <= set(self.written), counted

    def check_nothing_left(self):
        daemon = self.daemon
        # Listed first, because reading a database makes files beside it. A file that is being replaced is named NAME.RANDOM
        # until then.
        left = {path.name for path in daemon.state_dir.iterdir() if path.is_file()}
        assert not {name for name in left if name.count(".") > 1 or name.endswith(("-wal", "-shm", "-journal"))}, left
        assert daemon.query_state("SELECT * FROM lease") == []
        daemon.engine.check_nothing_left(daemon.read_instance())
        assert not tree_paths(daemon.state_dir / "trials")


def last_said_ns(entries):
    """The time of the last line of its masters or trials; they had not ended then."""
    texts = [e["timestamp"] for e in entries if task_of(e) in ("master-replica-0", "workerpool0-0")]
    seconds, _, fraction = max(texts).rstrip("Z").partition(".")
    whole = datetime.datetime.fromisoformat(seconds + "+00:00").timestamp()
    return int(whole) * 10**9 + int(fraction.ljust(9, "0") or 0)


# Fails with: kill9() without its look at how the daemon had ended, as it was: one that crashes was counted as killed.
def test_a_daemon_that_crashes_is_not_taken_for_a_killed_one(tmp_path):
    daemon = Daemon(tmp_path, NO_ENGINE).start()
    daemon.process.send_signal(signal.SIGABRT)
    daemon.process.wait(30)
    with pytest.raises(AssertionError, match="it had ended before, by -6"):
        daemon.kill9()


def test_a_storm_of_kills_loses_nothing_and_leaves_nothing(tmp_path, gpu_engine, pytestconfig):
    cycles, seed = pytestconfig.getoption("--cycles"), pytestconfig.getoption("--seed")
    daemon = KilledDaemon(tmp_path, gpu_engine, "--offline", "--stop-grace", "1", "--gpus", str(GPUS), "--accelerators",
                          "require", project=f"storm-{os.getpid()}").start()
    storm = Storm(daemon, seed)
    try:
        daemon.kill9()
        for _ in range(max(cycles, KILLS)):
            storm.kill_once()
        daemon.begin()
        storm.settle()
        for job in storm.jobs:
            storm.check_job(job)
        storm.check_objects()
        storm.check_written()
        # Objects that were being made when a daemon was killed are found by a later look at the engine, every 30 s.
        wait_until(lambda: daemon.engine.leftovers(daemon.read_instance()) == [], 60, "the engine has nothing of it")
        daemon.stop()
        storm.check_nothing_left()
    finally:
        print({"jobs": len(storm.jobs), "objects": len(storm.objects), "written": len(storm.written), **storm.figures})
        if daemon.process is not None:
            daemon.kill9()
