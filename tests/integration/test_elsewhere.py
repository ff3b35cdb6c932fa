# SPDX-License-Identifier: Apache-2.0
"""Daemons of one instance that can detect each other only through the engine, because they are in different network
namespaces or containers. tests/integration/test_far_networks.py does this over TCP."""
import pytest

from support.contained import Contained
from support.daemon import UNTIL_RELEASED, script
from support.verbs import clean_apart
from support.wait import wait_until

REFUSED = "another daemon of instance"
STATE = "/var/lib/trainyard"


@pytest.mark.long
def test_an_idle_daemon_is_seen_from_another_network(new_daemon, tmp_path):
    """Fails with: watch_data() that makes no marker: `clean` removed a live daemon's things; elsewhere_leave() left out."""
    daemon = new_daemon("--offline").start()
    wait_until(lambda: daemon.engine.marker(daemon.read_instance()), 30, "a marker")
    done = clean_apart(daemon, tmp_path)
    assert done.returncode == 1 and REFUSED in done.stderr, done
    daemon.run(script("echo goes on"))
    daemon.stop()
    assert daemon.engine.marker(daemon.read_instance()) is None


@pytest.mark.long
def test_the_marker_of_a_daemon_that_was_killed_is_in_nobodys_way(new_daemon, tmp_path):
    """Fails with: elsewhere_check() that takes any marker for a daemon that is alive."""
    daemon = new_daemon("--offline").start()
    job = daemon.create(script(UNTIL_RELEASED))
    daemon.container(job)
    daemon.kill9()
    assert daemon.engine.marker(daemon.read_instance())
    done = clean_apart(daemon, tmp_path)
    assert done.returncode == 0 and "removed container" in done.stdout, done
    assert daemon.engine.marker(daemon.read_instance()) is None


@pytest.fixture
def pair(engine, tmp_path):
    """Two containers of the image; the volume of the second is a copy of the first one's."""
    daemons = []
    try:
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            daemons.append(Contained(tmp_path / name, engine, "--offline"))
        yield daemons
    finally:
        for daemon in daemons:
            for container in daemon.containers() if daemon.id else ():
                engine.remove(container["Id"])
            daemon.delete()


@pytest.mark.long
def test_a_copied_volume_is_served_by_one_container_at_a_time(pair, engine):
    """Fails with: elsewhere_look() that looks at nothing: both took the job over."""
    first, second = pair
    first.start()
    job = first.create(script(f"echo begun; {UNTIL_RELEASED}"))
    first.wait_lines(job)
    second.project = first.project
    second.make()
    copied = engine.call("GET", f"/containers/{first.id}/archive?path={STATE}/.")
    engine.call("PUT", f"/containers/{second.id}/archive?path={STATE}", copied, "application/x-tar")
    engine.call("POST", f"/containers/{second.id}/start")
    wait_until(lambda: REFUSED in second.log(), 60, second.log)
    assert first.job(job)["state"] == "RUNNING" and len(first.joined()) == 1
    first.stop()
    wait_until(lambda: "engine-up" in second.log(), 60, second.log)
    second.start()  # it is running already; start() waits until it is ready
    second.until(job, "RUNNING")
    second.release(job)
    assert second.until(job, "SUCCEEDED", "FAILED")["state"] == "SUCCEEDED", second.log()
