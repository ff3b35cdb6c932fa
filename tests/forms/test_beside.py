# SPDX-License-Identifier: Apache-2.0
"""The daemon is root's and beside Docker Engine, both in one network. The engine is a test's own, for it takes requests for GPUs."""
import pytest

from support.forms import Beside


@pytest.fixture(scope="module")
def daemon(gpu_engine, tmp_path_factory):
    with Beside(tmp_path_factory.mktemp("beside"), gpu_engine, "--offline", "--gpus", "2") as found:
        yield found


def test_what_the_matrix_tells_is_so(cell):
    cell("beside Docker Engine, as root")
