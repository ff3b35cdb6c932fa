# SPDX-License-Identifier: Apache-2.0
"""Daemons in which chosen allocations or disk operations fail."""
import os
import pathlib

import pytest

from support import shim
from support.daemon import program
from support.engine import NO_ENGINE
from support.simulation import SimulatedEngine


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return shim.build(tmp_path_factory.mktemp("shim"))


@pytest.fixture(scope="session")
def fake_yard():
    """The daemon with an engine that runs no containers: tests/fault/fake_yard.c."""
    found = pathlib.Path(program()).parent / "tests/fault/fake_yard"
    assert os.access(found, os.X_OK), f"{found} is not built: make tests/fault/fake_yard"
    return str(found)


@pytest.fixture
def faulty(library, fake_yard, tmp_path):
    """Makes such daemons, which the test itself starts, kills and restarts."""
    made = []

    def make(*options, engine=NO_ENGINE, binary=None, **more):
        daemon = shim.FaultyDaemon(library, tmp_path / f"daemon{len(made)}", engine, *options,
                                   project=f"test-{os.getpid()}-{len(made)}", binary=binary or fake_yard, **more)
        made.append(daemon)
        return daemon
    yield make
    for daemon in made:
        daemon.shim.lift()
        if daemon.process is not None:
            daemon.stop()


@pytest.fixture
def simulated(tmp_path):
    engine = SimulatedEngine(tmp_path)
    yield engine
    engine.stop()


@pytest.fixture
def cycles(request):
    return request.config.getoption("--cycles")


@pytest.fixture
def seed(request):
    return request.config.getoption("--seed")
