# SPDX-License-Identifier: Apache-2.0
"""Runs the Python blocks of README.md and docs/getting-started.md, and the notebook of deploy/examples, with Google's
libraries."""
import os
import shlex

import pytest

from support.daemon import ROOT
from support.engine import IMAGE
from support.pages import Reader, blocks
from support.scripts import PYTHON


@pytest.mark.skipif(not (PYTHON / ".installed").exists(), reason="tests/clients/install has not been run")
@pytest.mark.parametrize("text", blocks("python"))
def test_a_block_of_the_pages_runs(engine, tmp_path, text):
    reader = Reader(tmp_path / "home", engine)
    try:
        reader.type("trainyard start")
        (reader.home / "block.py").write_text(reader.here(text))
        said = reader.type(f'eval "$(trainyard env)"; {shlex.quote(str(PYTHON / "bin/python"))} -B block.py')
        assert "JOB_STATE_SUCCEEDED" in said or "completed" in said, said
    finally:
        reader.leave()


@pytest.mark.long
@pytest.mark.skipif(not (PYTHON / ".installed").exists(), reason="tests/clients/install has not been run")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts /gcs for containers of any user")
def test_the_notebook_runs(engine, tmp_path):
    reader = Reader(tmp_path / "home", engine)
    try:
        reader.type("trainyard start")
        said = reader.type(f'eval "$(trainyard env)"; export TRAINYARD_ENDPOINT={reader.here("http://127.0.0.1:8090")}; '
                           f'IMAGE={IMAGE} {shlex.quote(str(PYTHON / "bin/python"))} -B {ROOT}/deploy/examples/vertex_sdk.py')
        assert "model: rows: 3" in said, said
    finally:
        reader.leave()
