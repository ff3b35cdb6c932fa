# SPDX-License-Identifier: Apache-2.0
"""deploy/action, used as in docs/ci.md: the shell commands of its steps run here as GitHub's runner would run them. Not run:
the installation of a package (see tests/packages), and the other actions that it uses."""
import os
import re
import shutil
import subprocess

import pytest
import yaml

from support.contained import image_of
from support.daemon import ROOT, program
from support.engine import IMAGE

pytestmark = pytest.mark.long

OPTIONS = "--offline --stop-jobs --stop-grace 1"
TEST = f"""
import os, subprocess
def test_it_trains():
    assert os.environ["STORAGE_EMULATOR_HOST"] == os.environ["TRAINYARD_ENDPOINT"]
    subprocess.run(["trainyard", "run", "--name", "goes-wrong", "-e", "SECRET=of-the-job", "{IMAGE}", "--", "sh", "-c", "echo a line; exit 3"],
                   check=True)
"""


class Runner:
    """A job of a workflow. Variables and outputs that a step writes into the runner's files apply to the later steps."""

    def __init__(self, place, engine):
        self.temp, self.work, self.sudo, own = place / "temp", place / "work", place / "sudo", place / "bin"
        for folder in (self.temp, self.work, own):
            folder.mkdir()
        (own / "trainyard").symlink_to(program())
        for name, text in {"sudo": f'echo "$*" >>{self.sudo}', "pytest": 'exec python3 -B -m pytest -p no:cacheprovider "$@"'}.items():
            (own / name).write_text(f"#!/bin/sh\n{text}\n")
            (own / name).chmod(0o755)
        (self.work / "tests").mkdir()
        (self.work / "tests/test_training.py").write_text(TEST)
        self.path = [str(own), *os.environ["PATH"].split(":")]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TRAINYARD", "PYTEST"))}
        self.variables = kept | {"DOCKER_HOST": engine.host, "RUNNER_TEMP": str(self.temp), "GITHUB_WORKSPACE": str(self.work)}
        self.artifacts = {}

    def shell(self, text, more=()):
        """Runs commands; returns the exit code, what was printed, and the outputs that were set."""
        files = {name: self.temp / name for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH")}
        for path in files.values():
            path.write_text("")
        variables = self.variables | dict(more) | {"PATH": ":".join(self.path)} | {name: str(path) for name, path in files.items()}
        done = subprocess.run(["sh", "-e", "-c", text], cwd=self.work, env=variables, capture_output=True, text=True, timeout=240)
        added, put_out = (dict(line.split("=", 1) for line in files[name].read_text().splitlines()) for name in ("GITHUB_ENV", "GITHUB_OUTPUT"))
        self.variables |= added
        self.path[:0] = files["GITHUB_PATH"].read_text().split()
        return done.returncode, done.stdout + done.stderr, put_out

    def use(self, folder, given):
        """Runs the steps of an action; returns its outputs."""
        action = yaml.safe_load((folder / "action.yml").read_text())
        known = {f"inputs.{name}": about["default"] for name, about in action["inputs"].items()} | {"runner.temp": str(self.temp)}
        assert {f"inputs.{name}" for name in given} <= known.keys()
        known |= {f"inputs.{name}": value for name, value in given.items()}

        def filled(texts):
            return {name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: known[match[1]], text) for name, text in texts.items()}
        for step in action["runs"]["steps"]:
            if "if" in step:
                name, operator, empty = step["if"].split()
                assert operator in ("==", "!=") and empty == "''", step
                if (known[name] == "") != (operator == "=="):
                    continue
            if "uses" in step:
                assert step["uses"] == "actions/upload-artifact@v4", step
                about = filled(step["with"])
                self.artifacts[about["name"]] = about["path"]
                continue
            assert step["shell"] == "sh", step
            code, said, put_out = self.shell(step["run"], filled(step.get("env", {})))
            assert code == 0, f"{step}\n{said}"
            known |= {f"steps.{step.get('id')}.outputs.{name}": value for name, value in put_out.items()}
        return filled({name: about["value"] for name, about in action.get("outputs", {}).items()})

    def follow(self, steps, given):
        """Runs a whole job; returns what its commands printed, and the outputs of its actions."""
        failed, said, outputs = False, "", {}
        for step in steps:
            if failed != (step.get("if") == "failure()"):
                continue
            if "run" in step:
                code, text, _ = self.shell(step["run"])
                failed, said = code != 0, said + text
            elif step["uses"].startswith("./trainyard/"):
                folder = ROOT / step["uses"].removeprefix("./trainyard/")
                outputs |= self.use(folder, given if folder.name == "action" else step.get("with", {}))
        return said, outputs


@pytest.fixture
def runner(engine, tmp_path):
    found = Runner(tmp_path, engine)
    yield found
    for words in ("trainyard stop", f"{program()} clean --state-dir $RUNNER_TEMP/trainyard/state"):
        code, said, _ = found.shell(words)
        assert code == 0, said


def steps_of_the_page():
    block, = re.findall(r"```yaml\n(steps:.*?)```", (ROOT / "docs/ci.md").read_text(), re.DOTALL)
    return yaml.safe_load(block)["steps"]


def logs_are_kept(runner, given):
    said, outputs = runner.follow(steps_of_the_page(), given)
    assert "1 failed" in said and outputs["endpoint"] == runner.variables["TRAINYARD_ENDPOINT"], said
    kept = {path.name: path.read_text() for path in (runner.temp / "trainyard/logs").iterdir()}
    assert runner.artifacts == {"trainyard-logs": str(runner.temp / "trainyard/logs")}
    assert "goes-wrong" in kept["jobs.txt"] and "job-ended" in kept["daemon.log"], kept
    job, = [text for name, text in kept.items() if name.endswith(".log") and name != "daemon.log"]
    assert "a line" in job and "3" in job and "of-the-job" not in "".join(kept.values()), kept


def test_a_package_is_installed_and_serves(runner):
    """Fails with: GITHUB_ENV without what `trainyard env` says; logs of "@last" rather than of each job."""
    given, = [step["with"] for step in steps_of_the_page() if step.get("uses") == "./trainyard/deploy/action"]
    package = runner.work / given["package"]
    package.parent.mkdir()
    package.touch()
    logs_are_kept(runner, given | {"options": OPTIONS})
    assert runner.sudo.read_text().splitlines()[-1] == f"apt-get install -q -y {package}"


@pytest.mark.skipif(not shutil.which("docker"), reason="no docker in PATH")
def test_an_image_serves(runner, engine):
    """The image is loaded from an archive. Fails with: no volume of RUNNER_TEMP: clients had no credentials file; no group: the
    socket refused the connection."""
    name = f"trainyard-action:{os.getpid()}"
    subprocess.run(["docker", "build", "-q", "-t", name, "-"], check=True, text=True, env=runner.variables, capture_output=True,
                   input=f"FROM {image_of(engine)}\nENV ASAN_OPTIONS=detect_leaks=0\n")
    try:
        subprocess.run(["sh", "-c", f"docker save {name} | gzip -1 >{runner.work}/image.tar.gz"], check=True, env=runner.variables)
        logs_are_kept(runner, {"image": "image.tar.gz", "options": OPTIONS})
        assert engine.inspect((runner.temp / "trainyard/container").read_text().strip())["State"]["Running"]
    finally:
        container = runner.temp / "trainyard/container"
        if container.exists():
            engine.call("POST", f"/containers/{container.read_text().strip()}/stop?t=30")
            engine.remove(container.read_text().strip())
            runner.path.pop(0)
            container.unlink()
        engine.remove_image(name)
