# SPDX-License-Identifier: Apache-2.0
"""The image, in a container of the engine with a published port and a neighbour, as deploy/compose.yaml has it.
tests/integration/test_contained.py has more of it."""
import pytest

from support.forms import ContainedThere
from support.wait import wait_until


@pytest.fixture(scope="module")
def daemon(gpu_engine, tmp_path_factory):
    found = ContainedThere(tmp_path_factory.mktemp("contained"), gpu_engine, "--offline", "--gpus", "2")
    try:
        yield found.start()
        wait_until(lambda: not found.joined(), what="the container is in no job's network")
        found.stop()
    finally:
        found.delete()


def test_what_the_matrix_tells_is_so(cell):
    cell("in its container")
