# SPDX-License-Identifier: Apache-2.0
"""A daemon whose user is not root, but may use the engine's socket. All features work except those that need root, and the
log reports these."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from support.attack import files_below
from support.custom_jobs import CustomJobs, pool
from support.daemon import UNTIL_RELEASED, Daemon, distributed, program, script
from support.storage import passing_over
from support.tuning import REPORTING, X, tuning_input
from support.wait import wait_until
from test_web_shell import Output, UNTIL_CANCELLED, shells, type_into

USER = 4242  # a user id without a name, as systemd's dynamic users have at first

pytestmark = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"),
                                reason="to be another user takes root and setpriv")


class UserDaemon(Daemon):
    """`trainyard serve` as a user with a home directory and the group of the engine's socket only."""

    def __init__(self, home, engine, name):
        super().__init__(home / name, engine, "--offline", "--stop-grace", "2", project=f"{name}-{os.getpid()}",
                         state_dir=home / name / "state", binary=str(home.parent / "trainyard"))
        os.chown(self.directory, USER, USER)

    def as_user(self, *command):
        group = os.stat(self.engine.path).st_gid
        return ["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={group}", "--inh-caps=-all",
                "--bounding-set=-all", *command]

    def command(self):
        return self.as_user(*super().command())


@pytest.fixture(scope="module")
def home():
    """That user's home directory, with a copy of the program: the user cannot enter the tests' own directories."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="tyu", dir="/tmp"))
    shutil.copy(program(), top / "trainyard")
    (top / "home").mkdir()
    os.chown(top / "home", USER, USER)
    top.chmod(0o755)
    yield top / "home"
    shutil.rmtree(top)


@pytest.fixture(scope="module")
def user_yard(engine, home):
    daemon = UserDaemon(home, engine, "user")
    daemon.start()
    yield daemon
    daemon.stop()
    engine.check_nothing_left(daemon.read_instance())


def below(directory):
    return files_below(directory)


def owners(directory):
    found = set()
    for path in [directory, *below(directory)]:
        with passing_over():
            found.add(path.lstat().st_uid)
    return found


@pytest.mark.long
def test_a_trial_leaves_nothing_that_only_root_could_remove(user_yard):
    """Programs are root in their containers, and may leave files of any owner in the directory for reports."""
    # Fails with: trial_directory_make() without directory_open_below()
    job = user_yard.run(tuning_input("umask 022; mkdir -p /var/hypertune/a/b; echo x >/var/hypertune/a/b/c; " + REPORTING, X,
                                     maxTrials=2))
    assert job["trainingOutput"]["completedTrialCount"] == "2", job
    assert below(user_yard.state_dir / "trials") == [] and "metrics-left" not in user_yard.log()


def test_what_only_root_can_remove_is_removed_by_cleaning_as_root(home, engine):
    """A program may set any mode on its directories."""
    # Fails with: state_clean() without trials_clean()
    daemon = UserDaemon(home, engine, "killed").start()
    daemon.create(tuning_input("mkdir -m 755 /var/hypertune/a; echo x >/var/hypertune/a/b; sleep 600", X))
    trials = daemon.state_dir / "trials"
    wait_until(lambda: list(trials.glob("*/a/b")), 30, "it has written")
    daemon.kill9()
    clean = [daemon.binary, "clean", "--state-dir", str(daemon.state_dir), "--engine", engine.host]
    done = subprocess.run(daemon.as_user(*clean), capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and f"cannot remove directory {trials}/" in done.stderr, done
    wanted = subprocess.run([*clean, "--dry-run"], capture_output=True, text=True, timeout=60)
    assert f"would remove directory {trials}/" in wanted.stdout and below(trials) != []
    done = subprocess.run(clean, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and f"removed directory {trials}/" in done.stdout, done
    assert below(trials) == [] and owners(daemon.state_dir) == {USER}
    engine.check_nothing_left(daemon.read_instance())


@pytest.mark.long
def test_a_distributed_job_has_its_peers_storage_metadata_and_log(user_yard):
    answer = user_yard.request("POST", "/upload/storage/v1/b/other/o?uploadType=media&name=in", b"from outside",
                               {"Content-Type": "text/plain"})
    assert answer.status == 200, answer
    ask = "wget -qO- --header 'Metadata-Flavor: Google' http://$GCE_METADATA_HOST/computeMetadata/v1/project/project-id; echo;"
    read = "wget -qO- $STORAGE_EMULATOR_HOST/download/storage/v1/b/other/o/in?alt=media; echo;"
    write = "wget -qO /dev/null --post-data out $STORAGE_EMULATOR_HOST'/upload/storage/v1/b/other/o?uploadType=media&name=out';"
    job = user_yard.create(distributed(ask + read + write + UNTIL_RELEASED, worker="echo up; sleep 600", workers=1))
    assert user_yard.wait_lines(job, count=2) == [user_yard.project, "from outside"]
    assert user_yard.wait_lines(job, "worker-replica-0") == ["up"]
    user_yard.release(job)
    user_yard.until(job, "SUCCEEDED")
    assert (user_yard.state_dir / "gs/other/out").read_bytes() == b"out"
    # This needs root or a capability; its lack is logged.
    assert "port-443-missing" in user_yard.log()


def test_a_custom_job_is_told_its_output_directory_and_is_cancelled(user_yard):
    custom = CustomJobs(user_yard)
    job = custom.create(pool("echo $AIP_MODEL_DIR; sleep 600"), baseOutputDirectory={"outputUriPrefix": "gs://other/base"})
    assert custom.wait_lines(job, "workerpool0-0") == ["gs://other/base/model/"]
    custom.cancel(job)
    custom.until(job, "JOB_STATE_CANCELLED")


@pytest.mark.long
def test_a_job_without_its_files_says_why(user_yard):
    """Mounting needs root, or a fusermount3 with that right."""
    custom = CustomJobs(user_yard)
    job, _ = custom.run(pool("mkdir /gcs/files || echo none"))
    differences = user_yard.get(f"/_trainyard{custom.path}/{job}/report").json["differences"]
    texts = [d["text"] for d in differences if d["code"] == "gcs-missing"]
    if "none" in user_yard.lines(job, "workerpool0-0"):
        # Fails with: told no more than that it "cannot be mounted at" its place
        assert len(texts) == 1 and ("/dev/fuse: " in texts[0] or "fusermount3" in texts[0]), texts
        assert [text for severity, text in user_yard.service_lines(job) if severity == "WARNING"] == texts
    else:
        assert texts == []


@pytest.mark.long
def test_a_shell_in_a_replica(user_yard):
    job = user_yard.create(script(UNTIL_CANCELLED, enableWebAccess=True))
    user_yard.until(job, "RUNNING")
    uri = shells(user_yard, job)["master-replica-0"]
    output = Output(user_yard, uri, "mine")
    type_into(user_yard, uri, "mine", "echo $((6*7)) there; exit\n")
    output.until(b"42 there")
    output.close()
    user_yard.cancel(job)
    user_yard.until(job, "CANCELLED")


def test_all_of_the_state_is_its_users_alone(user_yard):
    assert len(below(user_yard.state_dir)) > 10 and owners(user_yard.state_dir) == {USER}
    assert user_yard.state_dir.stat().st_mode & 0o7777 == 0o700
