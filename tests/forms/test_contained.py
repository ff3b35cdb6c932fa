# SPDX-License-Identifier: Apache-2.0
"""The image, in a container with a published port and another container in its network, as in deploy/compose.yaml. See also
tests/integration/test_contained.py."""
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
