# SPDX-License-Identifier: Apache-2.0
"""A real Chromium shows the console of a real daemon with real jobs. Screenshots are kept as artefacts."""
import json
import os

import pytest

from support.browser import Browser, chromium
from support.console import networks_that_come_and_go


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not chromium():
        pytest.skip("there is no chromium")
    with Browser(tmp_path_factory.mktemp("browser")) as found:
        found.look(1280, 800)
        yield found


@pytest.fixture(autouse=True)
def nothing_is_complained_of(request):
    """Fails a test in which a script failed, or in which the page loaded something from another host or against its own
    policy."""
    if "browser" not in request.fixturenames:
        yield
        return
    found = request.getfixturevalue("browser")
    found.open("about:blank")
    found.events = []
    yield
    # The page polls while its daemon ends and while the engine makes networks. A 400 is the answer to a text that is not a
    # job.
    expected = ("404", "401", "status of 400", "ERR_CONNECTION_REFUSED", "ERR_NETWORK_CHANGED", "ERR_CONNECTION_ABORTED")
    assert [each for each in found.complaints() if not any(words in json.dumps(each) for words in expected)] == []


@pytest.fixture(scope="module", autouse=os.environ.get("TRAINYARD_NETWORKS_CHANGE") == "1")
def changing_networks(engine):
    """With TRAINYARD_NETWORKS_CHANGE=1, networks are made and removed while these tests run."""
    with networks_that_come_and_go(engine):
        yield
