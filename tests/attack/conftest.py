# SPDX-License-Identifier: Apache-2.0
"""One daemon for all attacks, without an engine: what is created stays queued, so that its state stands still."""
import os

import pytest

from support.attack import settle
from support.daemon import Daemon
from support.engine import Engine

TOKEN = "attack-token-0123456789"


@pytest.fixture(scope="session")
def idle_engine(tmp_path_factory):
    return Engine(str(tmp_path_factory.mktemp("engine") / "none.sock"))


@pytest.fixture(scope="session")
def yard(idle_engine, tmp_path_factory):
    before = os.umask(0)  # what the daemon makes is private by itself
    daemon = Daemon(tmp_path_factory.mktemp("attack"), idle_engine, "--offline", "--log-level", "debug", "--grpc",
                    "127.0.0.1:0").start()
    os.umask(before)
    daemon.post("/storage/v1/b", dict(name="attacked"), project=daemon.project)
    settle(daemon)
    yield daemon
    daemon.stop()


@pytest.fixture(scope="session")
def locked(idle_engine, tmp_path_factory):
    """The same behind a token, with gRPC, and on all addresses."""
    directory = tmp_path_factory.mktemp("locked")
    path = directory / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    daemon = Daemon(directory, idle_engine, "--offline", "--log-level", "debug", "--token-file", str(path), "--listen",
                    "0.0.0.0:0", "--grpc", "0.0.0.0:0")
    daemon.token = TOKEN
    daemon.start()
    yield daemon
    daemon.stop()
