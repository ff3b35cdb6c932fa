# SPDX-License-Identifier: Apache-2.0
"""One daemon for all attacks. It has no engine, so created jobs stay queued and their state does not change by itself."""
import os

import pytest

from support.attack import settle
from support.daemon import Daemon
from support.engine import Engine

TOKEN = "attack-token-0123456789"
DOORS = ("tcp", "unix")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Without --long, each attack is made over TCP, and only the first two values of its parameter are also tried at the
    unix socket."""
    tried = {}
    for item in items:
        params = getattr(item, "callspec", None) and item.callspec.params or {}
        if "unix" in (params.get("yard"), params.get("locked")):
            tried[item.function] = tried.get(item.function, 0) + 1
            if tried[item.function] > 2:
                item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def idle_engine(tmp_path_factory):
    return Engine(str(tmp_path_factory.mktemp("engine") / "none.sock"))


def listen_at(door, directory, address):
    """The value of --listen for a daemon whose endpoint is "tcp" or "unix"."""
    return address if door == "tcp" else f"unix:{directory}/socket"


@pytest.fixture(scope="session")
def yards(idle_engine, tmp_path_factory):
    """One daemon for each kind of endpoint: {"tcp": daemon, "unix": daemon}."""
    found, before = {}, os.umask(0)  # the daemon must keep its files private even if the umask does not
    for door in DOORS:
        directory = tmp_path_factory.mktemp("attack")
        found[door] = Daemon(directory, idle_engine, "--offline", "--log-level", "debug", "--grpc", "127.0.0.1:0",
                             "--clock", "steppable", listen=listen_at(door, directory, "127.0.0.1:0")).start()
    os.umask(before)
    for daemon in found.values():
        assert daemon.post("/storage/v1/b", dict(name="attacked"), project=daemon.project).status == 200
        settle(daemon)
    yield found
    for daemon in found.values():
        daemon.stop()


@pytest.fixture(scope="session", params=DOORS)
def yard(yards, request):
    return yards[request.param]


@pytest.fixture(scope="session")
def tcp_yard(yards):
    """For attacks whose result does not depend on the kind of endpoint."""
    return yards["tcp"]


@pytest.fixture(scope="session")
def locked_yards(idle_engine, tmp_path_factory):
    """Like yards, but with a token, with gRPC, and listening on all addresses (tcp) or at a unix socket (unix)."""
    found = {}
    for door in DOORS:
        directory = tmp_path_factory.mktemp("locked")
        path = directory / "token"
        path.write_text(TOKEN + "\n")
        path.chmod(0o600)
        found[door] = Daemon(directory, idle_engine, "--offline", "--log-level", "debug", "--token-file", str(path), "--grpc",
                             "0.0.0.0:0", listen=listen_at(door, directory, "0.0.0.0:0"))
        found[door].token = TOKEN
        found[door].start()
    yield found
    for daemon in found.values():
        daemon.stop()


@pytest.fixture(scope="session", params=DOORS)
def locked(locked_yards, request):
    return locked_yards[request.param]
