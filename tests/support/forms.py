# SPDX-License-Identifier: Apache-2.0
"""The forms in which trainyard is used, and the features that are tried in each of them: the matrix in docs/engines.md."""
import contextlib
import ctypes
import fcntl
import os
import re
import subprocess
import threading

from .contained import Contained
from .daemon import ROOT, UNTIL_RELEASED, Daemon, distributed, program, script, with_gpus
from .engine import GpuEngine
from .far_engine import FarEngine
from .tuning import tuning_input
from .tunnels import CALL_WORKER, METADATA, SAYS, TAKE_CALL, said_it_all
from .verbs import environment
from .vertex import Vertex, custom_job

YES = "yes"
LINES = 2000

# ---- the rows: each says YES, or the words with which it was refused, and fails where it saw neither ----


def refusal(lines, words):
    """Returns the sentence that begins with these words."""
    found = [re.search(re.escape(words) + r"[^.]*", line) for line in lines if words in line]
    assert found, (words, lines)
    return found[0][0]


def lines_of_the_log(daemon):
    job = daemon.run(script(f"for i in $(seq {LINES}); do echo line $i; done; echo error >&2"))
    lines = daemon.lines(job["jobId"])
    assert sorted(lines) == sorted(["error", *(f"line {i}" for i in range(1, LINES + 1))]), len(lines)
    assert [line for line in lines if line != "error"] == [f"line {i}" for i in range(1, LINES + 1)]
    return YES


OWN_NAME = "https://storage.googleapis.com/storage/v1/b/far/o/$HOSTNAME?alt=media"


def storage_and_metadata(daemon):
    """Also reaches storage by its real name over TLS. busybox does not check the certificate; test_storage_names.py does."""
    job = daemon.run(script(f"{SAYS}; wget -q -O - --no-check-certificate \"{OWN_NAME}\"; echo; "
                            "grep -c BEGIN $SSL_CERT_FILE"))
    *said, got, certificates = daemon.lines(job["jobId"])
    assert said_it_all(said) and got == "hello" and int(certificates) > 1, (said, got, certificates, daemon.log())
    return YES


def files_of_storage(daemon):
    vertex = Vertex(daemon)
    name = vertex.create(custom_job("mkdir -p /gcs/forms && echo kept > /gcs/forms/file || echo refused"))["name"]
    vertex.until(name, "JOB_STATE_SUCCEEDED")
    job = name.rsplit("/", 1)[1]
    if daemon.get("/storage/v1/b/forms/o/file").status == 200:
        return YES
    assert "refused" in [line for line in daemon.lines(job, "workerpool0-0")], daemon.entries(job)
    return refusal([text for _, text in daemon.service_lines(job)], "Cloud Storage is not there as files at /gcs")


def names_in_a_distributed_job(daemon):
    job = daemon.run(distributed(CALL_WORKER + SAYS, TAKE_CALL + SAYS, workers=1))
    lines = [daemon.lines(job["jobId"], task) for task in ("master-replica-0", "worker-replica-0")]
    assert lines[0].pop(0) == "called" and all(map(said_it_all, lines)) and lines[0] != lines[1], (lines, daemon.log())
    return YES


def metrics_of_trials(daemon):
    job = daemon.create(tuning_input(maxTrials=1))
    done = daemon.until(job, "SUCCEEDED", "FAILED")
    assert "objectiveValue" in done["trainingOutput"]["trials"][0]["finalMetric"], done
    return YES


def killed_and_back(daemon):
    """After a restart of the daemon the job reaches its services again. Connections that break meanwhile are retried."""
    again = f"until {METADATA}/instance/id > /dev/null 2>&1; do sleep 0.1; done; "
    job = daemon.create(script(f"echo begun; {UNTIL_RELEASED}; {again}{SAYS}"))
    daemon.wait_lines(job)
    daemon.kill9()
    daemon.start()
    daemon.until(job, "RUNNING")
    daemon.release(job)
    assert daemon.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", daemon.log()
    first, *said = daemon.lines(job)
    assert first == "begun" and said_it_all(said), (said, daemon.log())
    return YES


def gpus(daemon):
    """Uses a stand-in for NVIDIA's hook, which records the devices of each container. Fails with: replica_create_run() without
    gpus_are_wanted(): on Podman 4.3 the job ran without GPUs, and no message said so."""
    job = daemon.until(daemon.create(with_gpus(script("echo has $NVIDIA_VISIBLE_DEVICES"), 1)), "SUCCEEDED", "FAILED")
    if job["state"] == "FAILED":
        return re.search(r"[^ ]+ gives containers no GPUs: [^.\n]*", job["errorMessage"])[0].strip()
    lines = daemon.lines(job["jobId"])
    assert lines == ["has 0"] and ["0"] in [devices for _, devices in daemon.engine.given().values()], lines
    return YES


def shell(daemon):
    job = daemon.create(script(f"echo begun; {UNTIL_RELEASED}"))
    daemon.wait_lines(job)
    variables = environment(daemon) | ({"TRAINYARD_TOKEN": daemon.token} if daemon.token else {})
    done = subprocess.run([*getattr(daemon, "prefix", ()), program(), "shell", job, "--", "sh", "-c", "cat; touch /released"],
                          input="typed\n", text=True, capture_output=True, timeout=60, env=variables)
    assert (done.returncode, done.stdout) == (0, "typed\n"), done
    daemon.until(job, "SUCCEEDED")
    return YES


ROWS = {
    "lines of the log": lines_of_the_log,
    "storage and metadata, by their own names too": storage_and_metadata,
    "`/gcs`": files_of_storage,
    "names in a distributed job": names_in_a_distributed_job,
    "metrics of trials": metrics_of_trials,
    "`kill -9`, and the jobs go on": killed_and_back,
    "GPUs": gpus,
    "shell": shell,
}

# ---- the matrix ----

PAGE = ROOT / "docs/engines.md"
BEGIN, END = "<!-- tests/forms writes this -->\n", "<!-- to here -->\n"


class Matrix:
    """The table of the page: {form: {row: cell}}. In a cell, a refusal is a number; its text is in the list below the
    table."""

    def __init__(self, text):
        self.before, rest = text.split(BEGIN)
        block, self.after = rest.split(END)
        words = dict(re.findall(r"^(\d+)\. (.*)$", block, re.MULTILINE))
        lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in block.splitlines() if line.startswith("|")]
        self.cells = {form: {} for form in lines[0][1:]} if lines else {}
        for row, *cells in lines[2:]:
            for form, cell in zip(self.cells, cells):
                number = re.fullmatch(r"no \((\d+)\)", cell)
                self.cells[form][row] = words[number[1]] if number else cell

    def text(self):
        refusals = []

        def cell(seen):
            if seen in (YES, ""):
                return seen
            if seen not in refusals:
                refusals.append(seen)
            return f"no ({refusals.index(seen) + 1})"
        table = [["", *self.cells], ["---"] * (len(self.cells) + 1)]
        table += [[row, *(cell(column.get(row, "")) for column in self.cells.values())] for row in ROWS]
        block = "".join("| " + " | ".join(line) + " |\n" for line in table).replace("|  |", "| |")
        block += "\n" + "".join(f"{number}. {words}\n" for number, words in enumerate(refusals, 1))
        return self.before + BEGIN + block.rstrip("\n") + "\n" + END + self.after


def told(form, row, seen, write):
    """Returns the cell of the page. With `write`, first sets it to what was seen."""
    with open(PAGE, "r+", encoding="utf-8") as page:
        fcntl.flock(page, fcntl.LOCK_EX)
        matrix = Matrix(page.read())
        if write:
            matrix.cells.setdefault(form, {})[row] = seen
            page.seek(0)
            page.truncate()
            page.write(matrix.text())
        return matrix.cells.get(form, {}).get(row)


# ---- daemons that are where a private engine is ----

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def network_of(pid):
    """In this block, sockets that the thread makes belong to another process's network; existing sockets are not changed."""
    task = f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/net"
    with open(task, "rb") as own, open(f"/proc/{pid}/ns/net", "rb") as other:
        assert _libc.setns(other.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())
        try:
            yield
        finally:
            assert _libc.setns(own.fileno(), CLONE_NEWNET) == 0, os.strerror(ctypes.get_errno())


class Beside(Daemon):
    """Runs as root in the network of a private engine."""

    @property
    def prefix(self):
        return ["nsenter", f"--net=/proc/{self.engine.pid}/ns/net"]

    def command(self):
        return [*self.prefix, *super().command()]

    def connect(self, timeout=60):
        with network_of(self.engine.pid):
            return super().connect(timeout)


class ContainedThere(Contained, Beside):
    """Runs in a container of a private engine. Its port is published in the network of that engine."""


class FarGpuEngine(FarEngine, GpuEngine):
    """An engine over TCP that has GPUs."""
