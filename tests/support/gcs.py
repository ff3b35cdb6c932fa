# SPDX-License-Identifier: Apache-2.0
"""Cloud Storage as files: the serving process alone, and jobs whose plans ask for /gcs."""
import contextlib
import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import urllib.parse

import pytest

from .engine import Engine
from .remains import gcs_processes, mount_points
from .wait import wait_until

needs_fuse = pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"),
                                reason="mounting takes root and /dev/fuse")


def mounts_below(directory):
    return [place for place in mount_points() if place.startswith(str(directory))]


def processes_of(state_dir):
    """The ids of processes that serve files of a state directory."""
    return gcs_processes().get(str(state_dir), [])


SIGN = ".sign-of-tests"  # a name at which the mount has a special file for tests


class Mount:
    """`trainyard gcs-mount` for a daemon's state directory, started as the daemon does it."""

    def __init__(self, daemon, buckets="auto"):
        self.daemon, self.buckets = daemon, buckets
        self.files = daemon.state_dir / "mount" / "gcs" / "gcs"

    def __enter__(self):
        self.process = subprocess.Popen([self.daemon.binary, "gcs-mount", str(self.daemon.state_dir), self.buckets, SIGN],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        assert line == b"ready\n", (line, self.process.communicate())
        return self

    def _settle(self):
        """Waits until pending messages of the kernel are handled. The kernel reports a close after the program has
        continued; when the mount ends, such a message is lost, and libfuse leaks the open file."""
        number = os.minor(os.stat(self.files).st_dev)
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["mount", "-t", "fusectl", "none", place], check=True, timeout=30)
            try:
                waiting = pathlib.Path(place, str(number), "waiting")
                wait_until(lambda: not waiting.exists() or int(waiting.read_text()) == 0, 20, "the kernel's messages are served")
            finally:
                subprocess.run(["umount", place], check=True, timeout=30)

    def __exit__(self, *_):
        with contextlib.suppress(OSError):  # the process has ended
            self._settle()
        _, errors = self.process.communicate(timeout=30)
        assert self.process.returncode == 0, errors
        assert b"Sanitizer" not in errors and b"runtime error" not in errors, errors

    def kill9(self):
        self.process.kill()
        self.process.communicate()


class Bucket:
    """One bucket, accessible by the API and as files."""

    def __init__(self, daemon, name, directory=None):
        self.daemon, self.name, self.directory = daemon, name, directory

    def __truediv__(self, path):
        return self.directory / path

    @staticmethod
    def quoted(name):
        return urllib.parse.quote(name, safe="")

    def put(self, name, data=b""):
        answer = self.daemon.request("POST", f"/upload/storage/v1/b/{self.name}/o", data,
                                     {"Content-Type": "application/octet-stream"}, uploadType="media", name=name)
        assert answer.status == 200, answer
        return answer.json

    def get(self, name):
        """Returns the object's bytes; None: there is no such object."""
        answer = self.daemon.get(f"/storage/v1/b/{self.name}/o/{self.quoted(name)}", alt="media")
        assert answer.status in (200, 404), answer
        return answer.data if answer.status == 200 else None

    def facts(self, name):
        answer = self.daemon.get(f"/storage/v1/b/{self.name}/o/{self.quoted(name)}")
        return answer.json if answer.status == 200 else None

    def delete(self, name):
        assert self.daemon.request("DELETE", f"/storage/v1/b/{self.name}/o/{self.quoted(name)}").status == 204

    def names(self, prefix=""):
        answer = self.daemon.get(f"/storage/v1/b/{self.name}/o", prefix=prefix)
        return [item["name"] for item in answer.json.get("items", [])]


def submit_with_gcs(daemon, *training_inputs):
    """Submits jobs to a daemon that is not running, adds /gcs to their stored plans, and starts the daemon."""
    engine, daemon.engine = daemon.engine, Engine(str(daemon.directory / "no-engine"))
    daemon.start()
    jobs = [daemon.create(training_input) for training_input in training_inputs]
    daemon.stop()
    with contextlib.closing(sqlite3.connect(daemon.state_dir / "state.db")) as state, state:
        for job in jobs:
            (plan,), = state.execute("SELECT plan FROM job WHERE job_id = ?", (job,)).fetchall()
            plan = json.dumps(dict(json.loads(plan), mounts_gcs=True), separators=(",", ":"))
            state.execute("UPDATE job SET plan = ? WHERE job_id = ?", (plan, job))
    daemon.engine = engine
    daemon.start()
    return jobs


def wait_all_gone(daemon):
    wait_until(lambda: not mounts_below(daemon.state_dir) and not processes_of(daemon.state_dir), 20,
               "no mount and no process is left")
    assert not (daemon.state_dir / "mount/gcs").exists()
    log = daemon.state_dir / "gcs.log"
    text = log.read_text() if log.exists() else ""
    assert "Sanitizer" not in text and "runtime error" not in text and "lost" not in text, text
