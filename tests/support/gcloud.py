# SPDX-License-Identifier: Apache-2.0
"""The real gcloud, pointed at a daemon as `trainyard env` says."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from .daemon import program

GCLOUD = os.environ.get("TRAINYARD_GCLOUD") or shutil.which("gcloud")

needs_gcloud = pytest.mark.skipif(not GCLOUD, reason="no gcloud in PATH, and TRAINYARD_GCLOUD does not name one")


class Gcloud:
    """Runs commands of one daemon; with TRAINYARD_COVERAGE through a recorder."""

    def __init__(self, yard, directory, base):
        lines = subprocess.run([program(), "env", "--state-dir", str(yard.state_dir), "--project", yard.project],
                               check=True, capture_output=True, text=True).stdout
        pointed = {name: value.replace(yard.base, base) for name, value
                   in re.findall(r"^export (\w+)=(.*)$", lines, re.MULTILINE)}
        self.yard, self.base, self.directory = yard, base, directory
        self.environment = os.environ | pointed | dict(
            CLOUDSDK_CONFIG=str(directory), CLOUDSDK_CORE_DISABLE_USAGE_REPORTING="1",
            CLOUDSDK_ML_ENGINE_POLLING_INTERVAL="2", CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK="1", PYTHONUNBUFFERED="1")

    def run(self, *words, expect=0, timeout=180, **environment):
        """`gcloud WORDS`; expects an exit code; returns the finished process."""
        done = subprocess.run([GCLOUD, *words], capture_output=True, text=True, timeout=timeout,
                              env=self.environment | environment, stdin=subprocess.DEVNULL)
        assert expect is None or done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
        return done

    def __call__(self, *words, **more):
        """`gcloud ai-platform jobs WORDS`"""
        return self.run("ai-platform", "jobs", *words, **more)

    def follow(self, *words):
        """`gcloud ai-platform jobs WORDS` that goes on beside the test: its process, and the file that it writes."""
        handle, name = tempfile.mkstemp(dir=self.directory)
        with open(handle, "wb") as out:
            process = subprocess.Popen([GCLOUD, "ai-platform", "jobs", *words], stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, env=self.environment)
        return process, pathlib.Path(name)

    def flags(self, *command):
        """The flags that a command's help lists, but those of every command."""
        text = re.sub(r"\x1b\[[0-9;]*m", "", self.run(*command, "--help").stdout)
        return set(re.findall(r"^ {5}(--[a-z-]+)", text.split("GCLOUD WIDE FLAGS")[0], re.MULTILINE))


@contextlib.contextmanager
def gcloud_for(yard, directory, recording):
    with recording.between("gcloud", yard) if recording.path else contextlib.nullcontext(yard) as address:
        yield Gcloud(yard, directory, address.base)
