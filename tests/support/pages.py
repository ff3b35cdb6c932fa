# SPDX-License-Identifier: Apache-2.0
"""Runs the code blocks of README.md and docs/ as a reader would: with a home directory of its own, and an image named
my-image:1."""
import json
import os
import pathlib
import re
import subprocess

import pytest

from .daemon import ROOT, program
from .engine import turn
from .gcloud import GCLOUD

RUN_PAGES = ["README.md", "docs/getting-started.md"]
TRAINER = "trainyard-test-pages:1"
BLOCK = re.compile(r"(?:^<!-- not run: (?P<reason>[^\n]*) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def ensure_trainer_image(engine):
    """Prints its arguments and succeeds, like a trainer with an entry point."""
    with turn(TRAINER):
        if not engine.has_image(TRAINER):
            engine.import_image(TRAINER, {}, ['ENTRYPOINT ["/bin/echo","trained"]'])
    return TRAINER


def blocks(language, pages=tuple(RUN_PAGES)):
    """A test parameter for each code block of that language. A block that the page marks is skipped, for the reason that the
    page states."""
    found = []
    for page in pages:
        for number, match in enumerate(BLOCK.finditer((ROOT / page).read_text()), 1):
            if match["language"] != language:
                continue
            marks = [pytest.mark.skip(reason=match["reason"])] if match["reason"] else []
            found.append(pytest.param(match["text"], id=f"{pathlib.Path(page).name}-{number}", marks=marks))
    return found


class Reader:
    """A user who types the commands of a page. The daemon is at a free port, which replaces 8090."""

    def __init__(self, home, engine):
        self.home = home
        home.mkdir()
        (home / "trainyard").symlink_to(program())
        (home / "pytest").write_text('#!/bin/sh\nexec python3 -B -m pytest -p no:cacheprovider "$@"\n')
        (home / "pytest").chmod(0o755)
        (home / "test_nothing.py").write_text("def test_nothing():\n    pass\n")
        (home / ".curlrc").write_text("fail\nsilent\nshow-error\n")
        cleared = ("TRAINYARD_ENDPOINT", "TRAINYARD", "PYTEST_ADDOPTS", "PYTEST_CURRENT_TEST")
        self.environment = {name: value for name, value in os.environ.items() if name not in cleared} | {
            "HOME": str(home), "PATH": f"{home}:{os.environ['PATH']}", "DOCKER_HOST": engine.host,
            "TRAINYARD_LISTEN": "127.0.0.1:0", "TRAINYARD_STATE_DIR": str(home / ".local/state/trainyard"),
            "TRAINYARD_OFFLINE": "true", "TRAINYARD_STOP_JOBS": "true", "TRAINYARD_STOP_GRACE": "1",
            "TRAINYARD_IMAGE_MAP": f"my-image:1={ensure_trainer_image(engine)}",
            "CLOUDSDK_CONFIG": str(home / "gcloud"), "CLOUDSDK_ML_ENGINE_POLLING_INTERVAL": "2",
            "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "1", "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "1"}

    def type(self, text, **more):
        """Runs the text and returns the output. Each line must succeed. `more`: variables."""
        done = subprocess.run(["sh", "-e", "-c", text], cwd=self.home, env=self.environment | more, capture_output=True, text=True,
                              timeout=240, stdin=subprocess.DEVNULL)
        assert done.returncode == 0, f"{text}\nexit code {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def follow(self, text):
        """Runs a block of a page while a daemon runs, unless the block is about a daemon that has ended."""
        # Blocks that would leave something on the machine or in the engine must not run, even if their mark was forgotten.
        assert not re.search(r"\b(sudo|docker|podman|apt|systemctl)\b", text), f"mark it as not run: {text}"
        if "gcloud" in text and not GCLOUD:
            pytest.skip("no gcloud in PATH, and TRAINYARD_GCLOUD does not name one")
        self.type("trainyard stop" if "trainyard clean" in text else "trainyard start")
        return self.type(self.here(text))

    def here(self, text):
        """Replaces the page's address by the daemon's."""
        if "127.0.0.1:8090" not in text:
            return text
        base = json.loads(self.type("trainyard status -o json"))["endpoint"]
        return text.replace("http://127.0.0.1:8090", base)

    def leave(self):
        self.type("trainyard stop; trainyard clean")
