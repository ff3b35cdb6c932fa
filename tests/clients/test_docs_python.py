# SPDX-License-Identifier: Apache-2.0
"""The Python blocks of README.md and docs/getting-started.md, with Google's libraries."""
import shlex

import pytest

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
