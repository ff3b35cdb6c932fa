# SPDX-License-Identifier: Apache-2.0
"""Engines of a user other than root, and the daemon as the same user: no option is needed for that."""
import pytest

from support.engine import ensure_test_images
from support.rootless import RootlessDaemon, rootless_docker_start, rootless_podman_start

pytestmark = pytest.mark.long
FORM_DOCKER = "Docker Engine, rootless"
FORM_PODMAN = "Podman, rootless"


@pytest.fixture(scope="module", params=[FORM_DOCKER, FORM_PODMAN])
def daemon(request):
    engine, problem = rootless_docker_start() if request.param == FORM_DOCKER else rootless_podman_start()
    if not engine:
        pytest.skip(problem)
    try:
        ensure_test_images(engine)
        with RootlessDaemon(engine, "--offline", "--gpus", "2") as found:
            found.form = request.param
            yield found
    finally:
        engine.delete()


def test_what_the_matrix_tells_is_so(daemon, cell):
    cell(daemon.form)
