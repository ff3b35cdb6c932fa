# SPDX-License-Identifier: Apache-2.0
"""gcloud as a client of the tests' daemons, and an engine that appears to be on another machine."""
import pytest

from support import far_engine
from support.engine import ensure_test_images
from support.gcloud import gcloud_for
from support.recorder import Recording


@pytest.fixture(scope="session")
def recording():
    found = Recording()
    yield found
    found.save()


@pytest.fixture(scope="module")
def gcloud(yard, recording, tmp_path_factory):
    with gcloud_for(yard, tmp_path_factory.mktemp("gcloud"), recording) as found:
        yield found


@pytest.fixture(scope="module")
def narrow_gcloud(narrow_yard, recording, tmp_path_factory):
    with gcloud_for(narrow_yard, tmp_path_factory.mktemp("gcloud"), recording) as found:
        yield found


@pytest.fixture(scope="module")
def far():
    found = far_engine.FarEngine()
    found.start()
    try:
        ensure_test_images(found)
        yield found
    finally:
        found.delete()
