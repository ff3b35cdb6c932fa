# SPDX-License-Identifier: Apache-2.0
"""Jobs from creation to their end, each with the conditions that must hold whatever the engine did meanwhile.

The lines of each container begin with a random word: so the lines of a container differ from those of its replacement, and a
line that is lost, repeated or out of order is noticed."""
import dataclasses

from .custom_jobs import CustomJobs
from .custom_jobs import pool as custom_pool
from .daemon import FINAL, distributed, script, text_of
from .tuning import REPORTING, tuning_input
from .wait import wait_until

SAY = 'r=$(cat /proc/sys/kernel/random/uuid); say() { echo "run $r $1"; }; '
LINES = ["one", "two", "three", "four", "five"]
SAY_LINES = SAY + "for l in " + " ".join(LINES) + "; do say $l; done; "
# Replicas other than the master serve until they are stopped. The master continues once each of them has printed all its
# lines.
SERVE = "while :; do echo ok | nc -l -p 2222; done"
MEET = ('for host in $(echo "$CLUSTER_SPEC" | grep -o "cmle-training-[a-z0-9]*-[0-9a-f]*-[0-9]*" | grep -v -e -master- -e -workerpool0- '
        '| sort -u); do until [ "$(nc -w 2 "$host" 2222 </dev/null 2>/dev/null)" = ok ]; do sleep 0.05; done; done; ')


@dataclasses.dataclass
class End:
    """How a job has ended. `runs`: the lines of each container, by task."""
    state: str
    message: str
    runs: dict

    def whole(self, task, lines):
        """The number of containers of a task that have printed all their lines."""
        return sum(run == lines for run in self.runs.get(task, {}).values())


def runs_of(entries, task_of=lambda e: e["resource"]["labels"]["task_name"]):
    """The lines of each container by task, in the log's order. Fails if a timestamp is lower than the one before."""
    runs, times = {}, {}
    for entry in entries:
        text = text_of(entry) or ""
        if not text.startswith("run "):
            continue
        _, run, said = text.split(" ", 2)
        task = task_of(entry)
        runs.setdefault(task, {}).setdefault(run, []).append(said)
        assert times.get(run, "") <= entry["timestamp"], entries
        times[run] = entry["timestamp"]
    return runs


class Cycle:
    """One job on `daemon`. Subclasses define create(), state() and the expected end."""
    lines = {}  # by task: the lines of a container that was not disturbed
    ends_as = "SUCCEEDED"

    def __init__(self, daemon):
        self.daemon, self.job_id = daemon, None

    def run(self, timeout=120):
        self.begin()
        return self.run_on(timeout)

    def begin(self):
        self.job_id = self.create()

    def run_on(self, timeout):
        self.drive(timeout)
        return self.end(timeout)

    def drive(self, timeout):
        """The client's actions while the job runs."""

    def job(self):
        return self.daemon.job(self.job_id)

    def has_ended(self):
        job = self.job()
        return job if job["state"].removeprefix("JOB_STATE_") in FINAL and "endTime" in job else None

    def message(self, job):
        return job.get("errorMessage", "")

    def end(self, timeout):
        job = wait_until(self.has_ended, timeout, f"{self.job_id} has ended")
        return End(job["state"].removeprefix("JOB_STATE_"), self.message(job), runs_of(self.daemon.entries(self.job_id)))

    def check(self, end, retried=False):
        """Fails unless the job ended as it must if no fault is permanent. `retried`: containers may have been replaced."""
        assert end.state == self.ends_as, (end, self.told())
        for task, lines in self.lines.items():
            runs = end.runs.get(task, {})
            for run in runs.values():
                assert run == lines[:len(run)], (task, end, self.told())
            assert end.whole(task, lines) >= 1 and (retried or len(runs) == 1), (task, end, self.told())
        self.check_cleared()

    def check_cleared(self):
        assert self.daemon.containers(self.job_id) == [], self.told()
        assert self.daemon.query_state("SELECT * FROM lease") == []

    def told(self):
        return self.daemon.service_lines(self.job_id)

    @property
    def was_retried(self):
        return any("tried again" in text or "is restarted" in text for _, text in self.told())


class Distributed(Cycle):
    lines = {"master-replica-0": LINES + ["met"], "worker-replica-0": LINES, "ps-replica-0": LINES}

    def create(self):
        return self.daemon.create(distributed(SAY_LINES + MEET + "say met", SAY_LINES + SERVE, SAY_LINES + SERVE,
                                              workers=1, ps_count=1))


class Failed(Cycle):
    lines = {"master-replica-0": LINES + ["met"], "worker-replica-0": LINES}
    ends_as = "FAILED"

    def create(self):
        return self.daemon.create(distributed(SAY_LINES + MEET + "say met; exit 3", SAY_LINES + SERVE, workers=1))

    def check(self, end, retried=False):
        super().check(end, retried)
        assert "status of 3" in end.message, end


class Cancelled(Cycle):
    lines = {"master-replica-0": LINES + ["bye"]}
    ends_as = "CANCELLED"

    def create(self):
        return self.daemon.create(script(SAY + "trap 'say bye; exit 0' TERM; for l in " + " ".join(LINES)
                                         + "; do say $l; done; while :; do sleep 0.05; done"))

    def drive(self, timeout):
        def said_all():
            runs = runs_of(self.daemon.entries(self.job_id)).get("master-replica-0", {})
            return self.has_ended() or (self.job()["state"] == "RUNNING" and LINES in runs.values())
        wait_until(said_all, timeout, f"{self.job_id} has said all")
        if not self.has_ended():
            self.daemon.cancel(self.job_id)


class Tuning(Cycle):
    trials = 2

    def create(self):
        return self.daemon.create(tuning_input(SAY_LINES + REPORTING, maxTrials=self.trials, maxParallelTrials=self.trials))

    def check(self, end, retried=False):
        assert end.state == "SUCCEEDED", (end, self.told())
        trials = self.job()["trainingOutput"]["trials"]
        assert [t["state"] for t in trials] == ["SUCCEEDED"] * self.trials and all("finalMetric" in t for t in trials), trials
        runs = [run for task in end.runs.values() for run in task.values()]
        assert all(run == LINES[:len(run)] for run in runs) and runs.count(LINES) >= self.trials, (end, self.told())
        assert retried or len(runs) == self.trials, (end, self.told())
        self.check_cleared()


class Custom(Cycle):
    lines = {"workerpool0-0": LINES + ["met"], "workerpool1-0": LINES}

    def create(self):
        return CustomJobs(self.daemon).create(custom_pool(SAY_LINES + MEET + "say met"), custom_pool(SAY_LINES + SERVE))

    def job(self):
        return CustomJobs(self.daemon).job(self.job_id)

    def message(self, job):
        return job.get("error", {}).get("message", "")


CYCLES = {kind.__name__.lower(): kind for kind in (Distributed, Failed, Cancelled, Tuning, Custom)}
