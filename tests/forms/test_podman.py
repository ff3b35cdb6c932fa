# SPDX-License-Identifier: Apache-2.0
"""Podman as root. See also tests/integration/test_podman.py."""
import pytest

from support.daemon import Daemon
from support.podman import podman_start

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def daemon(tmp_path_factory):
    engine, problem = podman_start()
    if not engine:
        pytest.skip(problem)
    try:
        with Daemon(tmp_path_factory.mktemp("podman"), engine, "--offline", "--gpus", "2") as found:
            yield found
    finally:
        engine.delete()


def test_what_the_matrix_tells_is_so(cell):
    cell("Podman, as root")
