# SPDX-License-Identifier: Apache-2.0
"""The daemon runs as root beside Docker Engine, in the same network. The engine is a private one, because it must accept
requests for GPUs."""
import pytest

from support.forms import Beside


@pytest.fixture(scope="module")
def daemon(gpu_engine, tmp_path_factory):
    with Beside(tmp_path_factory.mktemp("beside"), gpu_engine, "--offline", "--gpus", "2") as found:
        yield found


def test_what_the_matrix_tells_is_so(cell):
    cell("beside Docker Engine, as root")
