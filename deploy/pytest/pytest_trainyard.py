# SPDX-License-Identifier: Apache-2.0
"""The fixture `trainyard`: runs Google Cloud training jobs on this machine, for the tests of a session or of a function.

It starts a daemon with `trainyard exec`, whose command waits for the end of a pipe. However pytest ends, the pipe ends too;
then the daemon stops its jobs and removes what it has made. If $TRAINYARD_ENDPOINT names a daemon, as in `trainyard exec --
pytest`, that one is used."""
import json
import os
import select
import shutil
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest

LOG_LINES = 100  # log lines shown for each job of a failed test
START_SECONDS, ENGINE_SECONDS, END_SECONDS = 120, 30, 120
# The command of `trainyard exec`: prints its environment, then waits until the other end of the pipe is closed.
HOLDER = "env -0 && printf '\\0' && exec >&2 && cat >/dev/null"


class TrainyardError(Exception):
    """The daemon refused a call, or a job failed or took too long; has the daemon's message."""


class Job:
    """A job as it was when it was read; job.refresh() reads it again."""

    def __init__(self, yard, told):
        self._yard, self.told = yard, told

    id = property(lambda self: self.told["id"])
    name = property(lambda self: self.told["name"], doc="The name by which its own API knows it.")
    project = property(lambda self: self.told["project"])
    state = property(lambda self: self.told["state"], doc="QUEUED, PREPARING, RUNNING, SUCCEEDED, FAILED, CANCELLING or CANCELLED.")
    reason = property(lambda self: self.told.get("reason", ""), doc="Why it waits or has failed.")
    ended = property(lambda self: self.state in ("SUCCEEDED", "FAILED", "CANCELLED"))

    def refresh(self):
        self.told = self._yard.job(self.id, self.project).told
        return self

    def logs(self, tail=None):
        return self._yard.logs(self, tail)

    def wait(self, timeout=600, state=None):
        """Waits until it has ended, or is in @state. TrainyardError: it ended in another state, or took longer."""
        end = time.monotonic() + timeout
        while not (self.refresh().state == state or self.ended):
            if time.monotonic() > end:
                raise TrainyardError(f"{self} is {self.state} after {timeout} s. {self.reason}")
            time.sleep(0.1)
        if state and self.state != state:
            raise TrainyardError(f"{self} became {self.state}, not {state}. {self.reason}")
        return self

    def cancel(self):
        self._yard.command("cancel", "--project", self.project, self.id)
        return self

    def __str__(self):
        return f"job {self.told.get('displayName') or self.id}"

    def __repr__(self):
        return f"<{self} {self.state}>"


class Object:
    """An object of Cloud Storage, or all objects with a prefix."""

    def __init__(self, yard, url):
        self._yard, self.url = yard, url if url.startswith("gs://") else "gs://" + url
        self.bucket, _, self.name = self.url[5:].partition("/")

    def __str__(self):
        return self.url

    def __truediv__(self, name):
        return Object(self._yard, f"{self.url.rstrip('/')}/{name}")

    def _path(self, media=False):
        return f"/storage/v1/b/{self.bucket}/o/{urllib.parse.quote(self.name, safe='')}" + ("?alt=media" if media else "")

    def read_bytes(self):
        return self._yard.request("GET", self._path(media=True), raw=True)

    def read_text(self):
        return self.read_bytes().decode()

    def write_bytes(self, data):
        name = urllib.parse.quote(self.name, safe="")
        self._yard.request("POST", f"/upload/storage/v1/b/{self.bucket}/o?uploadType=media&name={name}", data)

    def write_text(self, text):
        self.write_bytes(text.encode())

    def exists(self):
        try:
            self._yard.request("GET", self._path())
        except TrainyardError as error:
            if getattr(error, "status", 0) != 404:
                raise
            return False
        return True

    def list(self):
        """The objects whose names begin with this one's, sorted."""
        found, page = [], ""
        while True:
            answer = self._yard.request("GET", f"/storage/v1/b/{self.bucket}/o?prefix={urllib.parse.quote(self.name, safe='')}{page}")
            found += [Object(self._yard, f"gs://{self.bucket}/{item['name']}") for item in answer.get("items", [])]
            if "nextPageToken" not in answer:
                return found
            page = "&pageToken=" + urllib.parse.quote(answer["nextPageToken"], safe="")


class Trainyard:
    """The tests' interface to a daemon."""

    def __init__(self, program, environment):
        self.program, self.environment = program, environment
        self.endpoint = environment["TRAINYARD_ENDPOINT"].rstrip("/")
        self.grpc = environment.get("TRAINYARD_GRPC_ENDPOINT")
        self.project = environment.get("TRAINYARD_PROJECT") or environment.get("CLOUDSDK_CORE_PROJECT") or "local-project"
        self.region = environment.get("TRAINYARD_REGION") or "us-central1"
        self._token, self._faults = None, []
        if environment.get("TRAINYARD_TOKEN_FILE"):
            with open(environment["TRAINYARD_TOKEN_FILE"]) as file:
                self._token = file.read().strip()

    def request(self, method, path, body=None, raw=False, timeout=60):
        """Makes any call of the daemon's API. @body: a dict for JSON, or bytes. A refusal raises TrainyardError with
        .status."""
        headers = {"User-Agent": "pytest-trainyard"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if body is not None:
            headers["Content-Type"] = "application/octet-stream" if isinstance(body, bytes) else "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.endpoint + path, body, headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=timeout) as answer:
                data = answer.read()
        except urllib.error.HTTPError as error:
            words = error.read().decode(errors="replace")
            try:
                words = json.loads(words)["error"]["message"]
            except (ValueError, KeyError, TypeError):
                pass
            refused = TrainyardError(f"{method} {path}: {error.code}: {words}")
            refused.status = error.code
            raise refused from None
        if raw:
            return data
        return json.loads(data) if data.strip() else {}

    def command(self, *words, timeout=600):
        """Runs a command of trainyard on the daemon; returns its output. TrainyardError: its exit code is not 0."""
        done = subprocess.run([self.program, *map(str, words)], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=timeout)
        if done.returncode:
            raise TrainyardError(f"trainyard {words[0]}: exit code {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def run(self, image, *arguments, detach=False, check=True, timeout=600, env=None, **options):
        """Runs @image with @arguments as a job until it ends. @options are those of `trainyard run`: workers=2, gpu="T4:1",
        gs=…, api="ml", package=…, module=… Returns the job. TrainyardError: it was refused, took longer than @timeout
        seconds, or, with @check, failed."""
        words = []
        for name, value in options.items():
            words += [f"--{name.replace('_', '-')}={value}"]
        for name, value in (env or {}).items():
            words += [f"--env={name}={value}"]
        job = self.job(self.command("run", "--detach", "--project", self.project, *words, *([image] if image else []), "--",
                                    *arguments).strip(), self.project)
        if detach:
            return job
        job.wait(timeout)
        if check and job.state != "SUCCEEDED":
            raise TrainyardError(f"{job} is {job.state}. {job.reason}")
        return job

    def job(self, reference, project=None):
        """Finds a job by its id, resource name, display name, the beginning of one of these, or "@last"."""
        query = f"?project={urllib.parse.quote(project)}" if project else ""
        return Job(self, self.request("GET", f"/_trainyard/v1/jobs/{urllib.parse.quote(str(reference), safe='@')}{query}"
                                      if "/" not in str(reference) else
                                      f"/_trainyard/v1/jobs/{str(reference).rsplit('/', 1)[1]}{query}"))

    def jobs(self, filter=""):
        """All jobs, the newest first."""
        found, page = [], ""
        while True:
            answer = self.request("GET", f"/_trainyard/v1/jobs?pageSize=1000&filter={urllib.parse.quote(filter)}{page}")
            found += [Job(self, told) for told in answer.get("jobs", [])]
            if "nextPageToken" not in answer:
                return found
            page = "&pageToken=" + urllib.parse.quote(answer["nextPageToken"], safe="")

    def logs(self, job, tail=None):
        """The lines of a job's log, the service's own among them: [{"time", "severity", "replica", "message"}]."""
        job = job if isinstance(job, Job) else self.job(job)
        query = f"?project={urllib.parse.quote(job.project)}" + (f"&tail={tail}" if tail is not None else "")
        data = self.request("GET", f"/_trainyard/v1/jobs/{urllib.parse.quote(job.id)}:log{query}", raw=True)
        return [json.loads(line) for line in data.decode().splitlines()]

    def gs(self, path):
        """An object: .read_text(), .write_bytes(), .exists(), .list(), and / for one below it; str() is its gs:// URL."""
        return Object(self, str(path))

    def fault(self, kind, **members):
        """Injects a fault (docs/fault-injection.md) until the end of the test; returns its number."""
        rule = self.request("POST", "/_trainyard/v1/faults", {"fault": kind, **members})
        self._faults.append(rule["id"])
        return rule["id"]

    def advance(self, by):
        """Moves the daemon's clock forward by seconds, or by "90s", "7d" and so on."""
        self.command("clock", "advance", by if isinstance(by, str) else f"{by}s")

    def now(self):
        return self.request("GET", "/_trainyard/v1/clock")["now"]

    def _faults_end(self):
        while self._faults:
            try:
                self.request("DELETE", f"/_trainyard/v1/faults/{self._faults.pop()}")
            except TrainyardError:
                pass  # the rule was for one use, and is already gone


# ---- the daemon ----

def _program(config):
    named = config.getini("trainyard_program") or os.environ.get("TRAINYARD") or "trainyard"
    found = shutil.which(named)
    if not found:
        pytest.fail(f"{named} is not found: install trainyard, or name it in trainyard_program of pytest's configuration or in "
                    "$TRAINYARD", pytrace=False)
    return found


def _environment_read(process):
    """Reads the environment that the command of `exec` prints first; None: it ended before."""
    data, end = b"", time.monotonic() + START_SECONDS + 30
    while not data.endswith(b"\0\0"):
        if not select.select([process.stdout], [], [], max(0, end - time.monotonic()))[0]:
            return None
        piece = os.read(process.stdout.fileno(), 65536)
        if not piece:
            return None
        data += piece
    return dict(pair.split("=", 1) for pair in os.fsdecode(data[:-2]).split("\0") if "=" in pair)


def _engine_await(yard):
    end = time.monotonic() + ENGINE_SECONDS
    while True:
        try:
            yard.request("GET", "/readyz")
            return
        except TrainyardError as error:
            if time.monotonic() > end:
                pytest.fail(f"jobs cannot run: {error}", pytrace=False)
        time.sleep(0.05)


def _stop(process):
    process.stdin.close()
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()
        process.wait()
    process.stdout.close()


def _serve(config, directory):
    """Starts a daemon for these tests, and stops it afterwards."""
    program = _program(config)
    log = directory / "trainyard.log"
    words = [program, "exec", f"--start-timeout={START_SECONDS}s", *config.getini("trainyard_options"), "--", "sh", "-c", HOLDER]
    environment = {name: value for name, value in os.environ.items() if name != "TRAINYARD_ENDPOINT"}
    with open(log, "wb") as file:
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file, env=environment,
                                   start_new_session=True)
    told = _environment_read(process)
    if told is None:
        _stop(process)
        pytest.fail(f"trainyard did not start: {log.read_text(errors='replace').strip()}", pytrace=False)
    return Trainyard(program, told), lambda: _stop(process)


def _scope(fixture_name, config):
    return config.getini("trainyard_scope")


@pytest.fixture(scope=_scope)
def trainyard(request, tmp_path_factory):
    """A daemon that runs training jobs. Meanwhile the environment points gcloud and client libraries at it."""
    if os.environ.get("TRAINYARD_ENDPOINT"):
        yard, end = Trainyard(_program(request.config), dict(os.environ)), None
    else:
        yard, end = _serve(request.config, tmp_path_factory.mktemp("trainyard"))
    before = dict(os.environ)
    try:
        _engine_await(yard)
        os.environ.clear()
        os.environ.update(yard.environment)
        yield yard
    finally:
        os.environ.clear()
        os.environ.update(before)
        if end:
            end()


# ---- pytest's hooks ----

_began = pytest.StashKey()


def pytest_addoption(parser):
    parser.addini("trainyard_program", "the program trainyard (default: $TRAINYARD, else the one in the path)")
    parser.addini("trainyard_options", "options of `trainyard exec` (default: --clock=steppable)", "args",
                  default=["--clock=steppable"])
    parser.addini("trainyard_scope", "for what a daemon is: session (default), module, class or function", default="session")


def _yard_of(item):
    return getattr(item, "funcargs", {}).get("trainyard")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    yard = _yard_of(item)
    if isinstance(yard, Trainyard):
        item.stash[_began] = yard.now()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    yard = _yard_of(item)
    if not isinstance(yard, Trainyard) or report.when != "call":
        return
    yard._faults_end()
    if not report.failed or _began not in item.stash:
        return
    try:
        for job in reversed(yard.jobs(f'createTime>="{item.stash[_began]}"')):
            lines = "\n".join(f"{line.get('replica', '')}: {line.get('message', json.dumps(line.get('fields')))}"
                              for line in job.logs(tail=LOG_LINES))
            report.sections.append((f"trainyard {job}, {job.state}", "\n".join(filter(None, [job.reason, lines]))))
    except (TrainyardError, OSError) as error:
        report.sections.append(("trainyard", f"the jobs' logs cannot be read: {error}"))
