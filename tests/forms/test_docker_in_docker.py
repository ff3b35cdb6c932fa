# SPDX-License-Identifier: Apache-2.0
"""An engine in another network, over TCP: as a job of GitLab has it in the service docker:dind, with TLS and without."""
import shutil

import pytest

from support.daemon import Daemon
from support.engine import ensure_test_images
from support.forms import FarGpuEngine

pytestmark = pytest.mark.skipif(not shutil.which("openssl") or not shutil.which("ip"), reason="no openssl, or no ip, in PATH")
FORM_TLS = "TCP with TLS, port 2376"
FORM_PLAIN = "TCP, port 2375"


@pytest.fixture(scope="module", params=[FORM_TLS, FORM_PLAIN])
def daemon(request, tmp_path_factory):
    engine = FarGpuEngine(tls=request.param == FORM_TLS)
    try:
        engine.start()
        ensure_test_images(engine)
        with pytest.MonkeyPatch.context() as patch:
            for name, value in engine.variables.items():
                patch.setenv(name, value)
            with Daemon(tmp_path_factory.mktemp("dind"), engine, "--offline", "--gpus", "2") as found:
                found.form = request.param
                yield found
    finally:
        engine.delete()


def test_what_the_matrix_tells_is_so(daemon, cell):
    cell(daemon.form)
