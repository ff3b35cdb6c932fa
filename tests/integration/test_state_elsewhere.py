# SPDX-License-Identifier: Apache-2.0
"""A state directory that the engine cannot mount, as in a container with a volume of its own."""
import os
import pathlib
import shutil

import pytest

from support.daemon import UNTIL_RELEASED, script
from support.marks import long
from support.tuning import tuning_input
from support.wait import wait_until

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounts of its own take root and unshare")

# Reports a score, and a better one when it is released.
SCORES = ("say() { echo '{\"score\": \"'$1'\", \"global_step\": \"'$2'\", \"timestamp\": 1.5, \"trial\": \"1\"}' "
          ">>$CLOUD_ML_HP_METRIC_FILE; }; say 3 1; echo said; " + UNTIL_RELEASED + "; say 7 2")


def apart(daemon, place):
    """Moves the state directory into a file system of its own; returns the path at which the test sees it."""
    own = f"{place}/own"
    for path in (daemon.state_dir, own):
        os.makedirs(path, exist_ok=True)
    command = daemon.command
    script = f'mount --bind "{own}" "{daemon.state_dir}" && exec "$@"'
    daemon.command = lambda: ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *map(str, command())]
    return own


@pytest.fixture
def there(new_daemon, tmp_path):
    """A daemon, and the real path of its state."""
    daemon = new_daemon("--offline")
    return daemon, apart(daemon, tmp_path)


def test_a_container_gets_copies_where_the_engine_lacks_the_files(there, tmp_path):
    """Fails with: create_give() that puts nothing: the container has no certificates, and no credentials."""
    daemon, own = there
    daemon.start()
    job = daemon.run(script("head -c 27 $SSL_CERT_FILE"))
    assert daemon.lines(job["jobId"]) == ["-----BEGIN CERTIFICATE-----"] and "engine-apart" in daemon.log()
    daemon.stop()
    (tmp_path / "adc.json").write_text('{"type": "authorized_user"}')
    daemon.options += ("--adc", str(tmp_path / "adc.json"))
    daemon.start()
    job = daemon.run(script('echo "has $(cat $GOOGLE_APPLICATION_CREDENTIALS)"'))
    assert daemon.lines(job["jobId"]) == ['has {"type": "authorized_user"}']
    assert os.listdir(daemon.state_dir) == [] and not [name for name in os.listdir(own) if name.startswith("seen-")]


def metrics_at(own):
    for directory, _, names in os.walk(f"{own}/trials"):
        if "output.metrics" in names:
            return pathlib.Path(directory, "output.metrics").read_text()
    return ""


@pytest.mark.long
@pytest.mark.parametrize("killed", [False, long(True)], ids=["", "killed"])
def test_metrics_are_fetched_while_a_trial_runs_and_at_its_end(there, engine, killed):
    """Also by a daemon that adopts the trial. Fails with: fetched() that sets no timer; exit_report(), or for the other one
    exited_add(), without reports_finish()."""
    daemon, own = there
    daemon.start()
    job = daemon.create(tuning_input(SCORES, maxTrials=1))
    wait_until(lambda: '"3"' in metrics_at(own), what="the first score")
    container, = daemon.containers()
    if killed:
        daemon.kill9()
    engine.put_file(container["Id"], "/released")
    if killed:
        wait_until(lambda: not engine.inspect(container["Id"])["State"]["Running"], what="the trial's end")
        daemon.start()
    done = daemon.until(job, "SUCCEEDED", "FAILED")
    assert done["trainingOutput"]["trials"][0]["finalMetric"]["objectiveValue"] == 7, done
