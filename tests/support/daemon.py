# SPDX-License-Identifier: Apache-2.0
"""A `trainyard serve` process that tests start, stop, kill and restart, with methods for the calls of its API."""
import base64
import contextlib
import http.client
import itertools
import json
import os
import pathlib
import re
import select
import signal
import socket
import sqlite3
import subprocess
import time
import urllib.parse

from .engine import Engine, connect_to_path
from .wait import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
FINAL = ("SUCCEEDED", "FAILED", "CANCELLED")


def _first_program(*candidates):
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    raise RuntimeError("no trainyard to test: set TRAINYARD to the built program")


def program():
    """The program under test: $TRAINYARD, or else the one that a build in the tree or deploy/check has made."""
    return _first_program(os.environ.get("TRAINYARD"), ROOT / "trainyard", ROOT / "build/check/sanitized/trainyard",
                          ROOT / "build/check/plain/trainyard")


def plain_program():
    """The program built without sanitizers, whose use of memory is its own: $TRAINYARD_PLAIN, or else $TRAINYARD."""
    found = _first_program(os.environ.get("TRAINYARD_PLAIN"), os.environ.get("TRAINYARD"), ROOT / "trainyard",
                           ROOT / "build/check/plain/trainyard")
    with open(found, "rb") as file:
        assert b"__asan_init" not in file.read(), f"{found} has sanitizers: set TRAINYARD_PLAIN to a program without"
    return found


class Answer:
    def __init__(self, status, headers, data):
        self.status, self.headers, self.data = status, headers, data

    @property
    def json(self):
        return json.loads(self.data)

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return f"<{self.status} {self.data[:400]!r}>"


class Daemon:
    _numbers = itertools.count(1)
    made = []  # all daemons of this run of the tests

    def __init__(self, directory=None, engine=None, *options, project="demo-project", state_dir=None, binary=None,
                 listen="127.0.0.1:0"):
        """`directory`: has its log, and its state unless `state_dir` is given. `listen`: an address and port, or
        unix:/PATH."""
        self.directory = pathlib.Path(directory or state_dir)
        self.directory.mkdir(parents=True, exist_ok=True)
        self.state_dir = pathlib.Path(state_dir or self.directory / "state")
        self.engine, self.options, self.project = engine or Engine(), options, project
        self.binary, self.listen = binary or program(), listen
        self.log_path = self.directory / "daemon.log"
        self.process, self.port, self.instance, self.token = None, None, None, None
        self.made_by = os.environ.get("PYTEST_CURRENT_TEST", "").split(" ")[0]
        self.made.append(self)

    # ---- its life ----

    def command(self):
        return [self.binary, "serve", "--listen", self.listen, "--state-dir", str(self.state_dir),
                "--engine", self.engine.host, "--project", self.project, *self.options]

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    @property
    def pid(self):
        return self.process.pid

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                            stderr=log, start_new_session=True)
        line = self._ready_line(30)
        match = re.fullmatch(r"trainyard: listening on (?:http://127\.0\.0\.1:(\d+)|unix:/.+)\n", line)
        assert match, f"not the ready line: {line!r}; log: {self.log()[-2000:]}"
        self.port = match.group(1) and int(match.group(1))
        return self

    def _ready_line(self, timeout):
        end, line = time.monotonic() + timeout, b""
        while not line.endswith(b"\n"):
            readable, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            byte = os.read(self.process.stdout.fileno(), 1) if readable else b""
            if not byte:
                break
            line += byte
        return line.decode()

    def stop(self, how=signal.SIGTERM, timeout=60):
        """Sends a signal and expects the process to end with exit code 0."""
        if self.process is None:
            return
        self.process.send_signal(how)
        code = self.process.wait(timeout)
        self.process.stdout.close()
        self.process = None
        assert code == 0, f"exit code {code}; log: {self.log()[-3000:]}"
        assert "Sanitizer" not in self.log() and "runtime error" not in self.log(), self.log()[-6000:]

    def kill9(self):
        """Kills it. It must have lived until then, or have died by SIGKILL."""
        self.process.kill()
        code = self.process.wait()
        self.process.stdout.close()
        self.process = None
        assert code == -signal.SIGKILL, f"it had ended before, by {code}; log: {self.log()[-3000:]}"

    def restart(self):
        self.stop()
        return self.start()

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def query_state(self, sql):
        """Reads rows of its database, even while the daemon is not running."""
        with contextlib.closing(sqlite3.connect(f"file:{self.state_dir}/state.db?mode=ro", uri=True)) as state:
            return state.execute(sql).fetchall()

    def read_instance(self):
        """The instance's name, which is in the names of its containers and networks; stored in its state directory."""
        try:
            # A blob arrives as bytes; str() would make "b'…'" of it, which is the label of no container.
            return bytes(self.query_state("SELECT value FROM meta WHERE name = 'instance'")[0][0]).decode()
        except (sqlite3.Error, IndexError):
            return None

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def grpc_port(self):
        """The port for gRPC of a daemon with --grpc."""
        return self.get("/healthz").json["grpc"]["port"]

    def client_environment(self):
        """The variables that `trainyard env` sets for client programs. Clients cannot use a unix socket, so for a daemon at
        one the address is that of a proxy."""
        proxy = [] if self.port else ["--listen", "127.0.0.1:8090"]
        grpc = ["--grpc", "127.0.0.1:0"] if "--grpc" in self.options else []
        done = subprocess.run([self.binary, "env", "--shell", "github", "--state-dir", str(self.state_dir),
                               "--project", self.project, *grpc, *proxy], check=True, capture_output=True, text=True, timeout=30,
                              env={k: v for k, v in os.environ.items() if "proxy" not in k.lower()})
        return dict(line.split("=", 1) for line in done.stdout.splitlines())

    # ---- HTTP ----

    def connect(self, timeout=60):
        """A connected socket to the daemon."""
        if self.port:
            return socket.create_connection(("127.0.0.1", self.port), timeout=timeout)
        return connect_to_path(self.listen.removeprefix("unix:"), timeout)

    def request(self, method, path, body=None, headers=None, **query):
        """Sends a request. `body`: bytes or str are sent as they are, other values as JSON."""
        if query:
            path += ("&" if "?" in path else "?") + urllib.parse.urlencode(query)
        headers = dict(headers or {})
        if self.token:
            headers.setdefault("Authorization", f"Bearer {self.token}")
        if body is not None:
            if not isinstance(body, (bytes, str)):
                body = json.dumps(body)
            if isinstance(body, str):
                body = body.encode()
            headers.setdefault("Content-Type", "application/json")
        connection = http.client.HTTPConnection("127.0.0.1" if self.port else "localhost", self.port)
        connection.sock = self.connect()
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())
        finally:
            connection.close()

    def get(self, path, **query):
        return self.request("GET", path, **query)

    def post(self, path, body=None, **query):
        return self.request("POST", path, body, **query)

    @property
    def jobs_path(self):
        return f"/v1/projects/{self.project}/jobs"

    # ---- jobs ----

    def new_id(self, name="job"):
        return f"{name}_{os.getpid()}_{next(self._numbers)}"

    def create(self, training_input=None, job_id=None, **job):
        """Submits; returns the job id. Anything but 200 fails the test."""
        body = dict(jobId=job_id or self.new_id(), trainingInput=training_input, **job)
        answer = self.post(self.jobs_path, body)
        assert answer.status == 200, answer
        return answer.json["jobId"]

    def job(self, job_id, project=None):
        answer = self.get(f"/v1/projects/{project or self.project}/jobs/{job_id}")
        assert answer.status == 200, answer
        return answer.json

    def cancel(self, job_id):
        answer = self.post(f"{self.jobs_path}/{job_id}:cancel", {})
        assert (answer.status, answer.json) == (200, {}), answer

    def cancel_all(self):
        """Cancels all unfinished jobs, waiting ones first, so that none of them starts."""
        for states in ("state=QUEUED", "state=PREPARING OR state=RUNNING OR state=CANCELLING"):
            jobs = self.get(self.jobs_path, filter=states, pageSize=100).json.get("jobs", [])
            for job in jobs:
                self.cancel(job["jobId"])
            for job in jobs:
                self.until(job["jobId"], *FINAL)

    def wait_state(self, job_id, *states, project=None, timeout=60):
        return self.until(job_id, *states, project=project, timeout=timeout)

    def until(self, job_id, *states, project=None, timeout=60):
        """Waits until the job is in one of `states`, and returns it. A final state counts only together with an endTime."""
        def there():
            job = self.job(job_id, project)
            if job["state"] in states and (job["state"] not in FINAL or "endTime" in job):
                return job
            if job["state"] in FINAL and "endTime" in job:
                raise AssertionError(f"{job_id} is {job['state']}, not {states}: {job.get('errorMessage')}")
            return None
        try:
            return wait_until(there, timeout, f"{job_id} in {states}")
        except AssertionError as error:
            raise AssertionError(f"{error}\njob: {self.job(job_id, project)}\nlog: {self.log()[-3000:]}") from None

    def run(self, training_input, expect="SUCCEEDED", timeout=60, **job):
        """Submits and waits for the end; returns the job."""
        return self.until(self.create(training_input, **job), expect, timeout=timeout)

    # ---- logs ----

    def entries(self, job_id=None, extra="", order="timestamp asc", page_size=1000):
        """Every log entry of a job."""
        clauses = ['resource.type="ml_job"'] + ([f'resource.labels.job_id="{job_id}"'] if job_id else [])
        body = dict(resourceNames=[f"projects/{self.project}"], orderBy=order, pageSize=page_size,
                    filter=" AND ".join(clauses + ([f"({extra})"] if extra else [])))
        entries = []
        while True:
            answer = self.post("/v2/entries:list", body)
            assert answer.status == 200, answer
            entries += answer.json.get("entries", [])
            if not answer.json.get("nextPageToken"):
                return entries
            body["pageToken"] = answer.json["nextPageToken"]

    def lines(self, job_id, task="master-replica-0"):
        """The texts of one task's entries, in order."""
        return [text_of(e) for e in self.entries(job_id) if task_of(e) == task]

    def wait_lines(self, job_id, task="master-replica-0", count=1, timeout=60):
        """Waits until a task has `count` lines, and returns them."""
        def said():
            ended = "endTime" in self.job(job_id)  # asked before the lines are read: if the job has ended, no more lines come
            lines = self.lines(job_id, task)
            assert len(lines) >= count or not ended, f"{task} of {job_id} ended having said {lines}: {self.job(job_id)}"
            return lines if len(lines) >= count else None
        return wait_until(said, timeout, f"{task} of {job_id} says {count} lines") if count else []

    def release(self, job_id, *replicas, after=None, again=False):
        """Lets replicas continue that wait at UNTIL_RELEASED (with `again`: at UNTIL_RELEASED_AGAIN); without names, the
        master. `after`: first waits until each of these tasks has that many lines."""
        for task, count in (after or {}).items():
            self.wait_lines(job_id, task, count)
        for replica in replicas or ("master-0",):
            self.engine.put_file(self.container(job_id, replica), "/released-again" if again else "/released")

    def service_lines(self, job_id):
        return [(e.get("severity", "DEFAULT"), text_of(e)) for e in self.entries(job_id) if task_of(e) == "service"]

    def environment(self, job_id, task="master-replica-0"):
        """The environment of a replica that ran PRINT_ENVIRONMENT, as a dict."""
        for line in self.lines(job_id, task):
            if line and line.startswith("environment "):
                words = base64.b64decode(line.split()[1]).decode().split("\0")
                return dict(word.split("=", 1) for word in words if "=" in word)
        raise AssertionError(f"{task} of {job_id} printed no environment: {self.lines(job_id, task)}")

    # ---- what it has in the engine ----

    def containers(self, job_id=None):
        found = self.engine.containers(f"trainyard.project={self.project}")
        return [c for c in found if job_id is None or c["Labels"]["trainyard.job_id"] == job_id]

    def container(self, job_id, replica="master-0", *states):
        """The id of a replica's container. Waits until it runs, or is in one of the engine's `states`."""
        def there():
            for found in self.containers(job_id):
                if found["Labels"]["trainyard.replica"] == replica and found["State"] in (states or ("running",)):
                    return found["Id"]
            return None
        return wait_until(there, 30, f"{replica} of {job_id} is {' or '.join(states or ('running',))}")


# A shell command that waits until the test calls Daemon.release(): mostly for a master that must not end before the other
# replicas have printed their lines. The file is not removed: the engine may still be working on it when the script sees it.
UNTIL_RELEASED = "until [ -e /released ]; do sleep 0.05; done"
UNTIL_RELEASED_AGAIN = "until [ -e /released-again ]; do sleep 0.05; done"

PRINT_ENVIRONMENT = 'echo "environment $(base64 /proc/self/environ | tr -d "\\n")"'


def text_of(entry):
    return entry.get("textPayload", entry.get("jsonPayload", {}).get("message"))


def task_of(entry):
    return entry["resource"]["labels"]["task_name"]


# ---- training inputs -------------------------------------------------------------------------------------

def one_replica(*args, image, **more):
    """A job with only a master. The tests' images have no entry point, so args is the command."""
    return dict(region="us-central1", masterConfig={"imageUri": image}, args=list(args), **more)


def script(text, image="trainyard-test:1", **more):
    return one_replica("sh", "-c", text, image=image, **more)


MACHINE = "n1-standard-4"


def distributed(master, worker=None, ps=None, evaluator=None, workers=0, ps_count=0, evaluators=0,
                image="trainyard-test:1", **more):
    """A job in which each role runs its own script."""
    training_input = dict(region="us-central1", scaleTier="CUSTOM", masterType=MACHINE,
                          masterConfig=shell_config(image, master), **more)
    for role, count, text in (("worker", workers, worker), ("parameterServer", ps_count, ps),
                              ("evaluator", evaluators, evaluator)):
        if count:
            training_input[role + "Count"] = str(count)
            training_input[role + "Type"] = MACHINE
            training_input[role + "Config"] = shell_config(image, text)
    return training_input


def with_gpus(training_input, count, role="master", accelerator="NVIDIA_TESLA_K80", machine="n1-standard-8"):
    """The same job with `count` GPUs for each replica of a role."""
    training_input.update({"scaleTier": "CUSTOM", role + "Type": machine})
    training_input[role + "Config"]["acceleratorConfig"] = {"type": accelerator, "count": str(count)}
    return training_input


def shell_config(image, text):
    return {"imageUri": image, "containerCommand": ["sh", "-c"], "containerArgs": [text]}
