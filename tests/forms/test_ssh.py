# SPDX-License-Identifier: Apache-2.0
"""An engine in another network, reached by ssh. In place of ssh, a program runs the command on this machine."""
import shutil

import pytest

from support.daemon import Daemon
from support.far_engine import SSH_HOST, ssh_make

pytestmark = pytest.mark.skipif(not shutil.which("docker"), reason="no docker, which has dial-stdio, in PATH")


@pytest.fixture(scope="module")
def daemon(gpu_engine, tmp_path_factory):
    place = tmp_path_factory.mktemp("ssh")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in ssh_make(place / "bin", gpu_engine).items():
            patch.setenv(name, value)
        with Daemon(place, gpu_engine, "--offline", "--gpus", "2", "--engine", SSH_HOST) as found:
            yield found


def test_what_the_matrix_tells_is_so(cell):
    cell("ssh")
