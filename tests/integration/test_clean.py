# SPDX-License-Identifier: Apache-2.0
"""`trainyard clean` removes what one instance has left, and nothing else."""
import concurrent.futures
import fcntl
import os
import re
import secrets
import signal
import subprocess
import sys
import termios

import pytest

from support.daemon import plain_program, program, script
from support.engine import IMAGE
from support.gcs import mounts_below, needs_fuse, processes_of, submit_with_gcs
from support.marks import long
from support.wait import wait_until

FOREVER = "while :; do sleep 0.2; done"


def clean(*words, code=0, timeout=60):
    """Runs `trainyard clean`. Returns its stdout, or its stderr if a failure is expected."""
    done = subprocess.run([program(), "clean", *map(str, words)], capture_output=True, text=True, timeout=timeout)
    assert done.returncode == code, done
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done.stderr if code else done.stdout


def of(daemon):
    return ["--state-dir", daemon.state_dir, "--engine", daemon.engine.host]


def named(daemon):
    """The options that name the instance without its state, as if that were lost."""
    return ["--instance", daemon.read_instance(), "--state-dir", daemon.state_dir / "lost", "--engine", daemon.engine.host]


def things(daemon):
    return sorted(name.lstrip("/") for name in daemon.engine.leftovers(daemon.read_instance()))


@pytest.fixture
def running(new_daemon):
    """A daemon with a running job."""
    daemon = new_daemon("--offline", "--stop-grace", "1").start()
    job = daemon.create(script(FOREVER))
    daemon.container(job)
    yield daemon, job
    if daemon.process is not None:
        daemon.kill9()
    clean(*of(daemon))
    assert things(daemon) == []


@pytest.fixture
def foreign(engine):
    """Makes containers that are not trainyard's, as with `docker run`."""
    made = []

    def make(**settings):
        made.append(engine.call("POST", "/containers/create",
                                dict({"Image": IMAGE, "Cmd": ["sh", "-c", FOREVER]}, **settings))["Id"])
        engine.call("POST", f"/containers/{made[-1]}/start")
        return made[-1]
    yield make
    for container in made:
        engine.call("DELETE", f"/containers/{container}?force=1&v=1", ok=(204, 404))


class Lost:
    """The objects in the engine of an instance whose state is lost."""

    def __init__(self, engine):
        self.engine, self.name = engine, "lost" + secrets.token_hex(4)
        self.label = {"trainyard.instance": self.name}
        self.network = engine.call("POST", "/networks/create", {"Name": f"ty-{self.name}-1", "Labels": self.label})["Id"]

    def add(self, index, start=False, **settings):
        body = dict({"Image": IMAGE, "Cmd": ["sh", "-c", FOREVER], "HostConfig": {"NetworkMode": self.network},
                     "Labels": self.label}, **settings)
        made = self.engine.call("POST", f"/containers/create?name=ty-{self.name}-1-worker-{index}-a1", body)["Id"]
        if start:
            self.engine.call("POST", f"/containers/{made}/start")
        return made

    def clean(self, **how):
        return clean("--instance", self.name, "--engine", self.engine.host, "--state-dir", "/nonexistent", **how)


@pytest.fixture
def lost(engine):
    made = Lost(engine)
    yield made
    engine.remove_leftovers(made.name)


def test_a_running_daemons_things_are_refused(running):
    """Fails with: instance_lock_take() left out of wiring_open(): the second was not refused."""
    daemon, job = running
    before = things(daemon)
    assert f"in use by process {daemon.pid}" in clean(*of(daemon), code=1)
    assert "works for instance" in clean(*named(daemon), code=1)
    assert f"in use by process {daemon.pid}" in clean(*of(daemon), "--dry-run", code=1)
    assert things(daemon) == before and daemon.job(job)["state"] == "RUNNING"
    assert re.search(rf"^{daemon.read_instance()}  1 container \(1 running\)  1 network .* its daemon runs$",
                     clean("--list", "--engine", daemon.engine.host), re.MULTILINE)


def test_an_instance_of_which_a_volume_is_left_is_listed(new_daemon):
    """Fails with: list_read() without volumes: `clean --list` did not name what `clean` then removed."""
    daemon = new_daemon("--offline").start()
    wait_until(lambda: daemon.engine.marker(daemon.read_instance()), 30, "a marker")
    daemon.kill9()
    assert re.search(rf"^{daemon.read_instance()}  0 containers \(0 running\)  0 networks  1 volume .* no daemon here$",
                     clean("--list", "--engine", daemon.engine.host), re.MULTILINE)


def test_one_instance_goes_and_the_other_stays(running, new_daemon):
    """Two daemons were killed while a job ran. Fails with: others_drop() left out, with a filter that lets all through: the
    other's container was removed too."""
    daemon, job = running
    other = new_daemon("--offline").start()
    other_job = other.create(script(FOREVER))
    other.container(other_job)
    daemon.kill9()
    other.kill9()
    mine, its = things(daemon), things(other)
    assert "no daemon here" in clean("--list", "--engine", daemon.engine.host)
    would = clean(*of(daemon), "--dry-run")
    assert things(daemon) == mine and would.splitlines()[0] == f"would remove container {mine[1]} of job {job}"
    assert [line.split()[:4] for line in would.splitlines()] == [
        ["would", "remove", "container", mine[1]], ["would", "remove", "network", mine[0]],
        ["would", "remove", "volume", f"ty-{daemon.read_instance()}-daemon"],
        ["would", "remove", "file", str(daemon.state_dir / "address")],
        ["would", "remove", "file", str(daemon.state_dir / "gcs.socket")]]
    assert clean(*of(daemon)) == would.replace("would remove", "removed")
    assert things(daemon) == [] and things(other) == its
    assert clean(*of(daemon)) == f"nothing is left of instance {daemon.read_instance()}\n"
    assert clean(*named(other)).count("removed") == 3
    assert things(other) == []


@pytest.mark.long
def test_a_job_that_ran_is_tried_again(running):
    """The next daemon on the same state directory retries the job. Fails with: signposts_clean() that removes nothing."""
    daemon, job = running
    daemon.until(job, "RUNNING")  # the store must have RUNNING: an attempt that is not known to have run does not count as lost
    daemon.kill9()
    clean(*of(daemon))
    assert not (daemon.state_dir / "address").exists()
    daemon.start()
    wait_until(lambda: daemon.containers(job), 30, "its next attempt")
    warnings = wait_until(lambda: [text for severity, text in daemon.service_lines(job) if severity == "WARNING"], 30, "a word of it")
    assert warnings == ["The replica master 0 was lost: its container was stopped or removed from outside. "
                        "The job is tried again (attempt 2)."]


def test_serve_names_what_others_have_left_and_leaves_it(running, new_daemon, lost):
    """Fails with: instance_lock_seen() left out of others_report(): the one whose daemon runs was named too."""
    daemon, _ = running
    lost.add(0)
    later = new_daemon("--offline").start()
    told = wait_until(lambda: [line for line in later.log().splitlines() if lost.name in line], 20, "it is named")
    assert len(told) == 1 and re.search(
        rf'info    orphans-found instance={lost.name} containers=1 running=0 networks=1 '
        rf'hint="trainyard clean --instance {lost.name} removes them"$', told[0])
    assert daemon.read_instance() not in later.log()
    assert len(lost.engine.leftovers(lost.name)) == 2


@pytest.mark.long
def test_a_trial_directory_deeper_than_a_path_is_removed(new_daemon):
    """Fails with: removal by paths: "File name too long", for ever."""
    daemon = new_daemon("--offline").start()
    daemon.kill9()
    trial = daemon.state_dir / "trials/1"
    trial.mkdir(parents=True)
    subprocess.run(["sh", "-c", 'cd "$1"; while [ $((i += 1)) -le 2040 ]; do mkdir a && cd -P a; done', "sh", trial], check=True)
    assert f"removed directory {trial}\n" in clean(*of(daemon))
    assert not trial.exists()


def test_a_copy_of_a_running_daemons_state_is_not_served(running, tmp_path):
    """Two daemons would both control the same containers. Fails with: instance_lock_open() that locks nothing."""
    daemon, _ = running
    copy = tmp_path / "copy"
    subprocess.run(["cp", "-a", daemon.state_dir, copy], check=True)
    done = subprocess.run([program(), "serve", "--listen", "127.0.0.1:0", "--state-dir", copy, "--engine",
                           daemon.engine.host], capture_output=True, text=True, timeout=30)
    assert done.returncode == 125 and f"works for instance {daemon.read_instance()}" in done.stderr, done


def test_what_is_paused_goes_and_what_it_kept_in_volumes(lost):
    """Fails with: removal_send() without v=1; without force=1."""
    paused = lost.add(0, start=True, Volumes={"/kept": {}})
    volume = lost.engine.inspect(paused)["Mounts"][0]["Name"]
    lost.engine.pause(paused)
    assert lost.clean() == f"removed container ty-{lost.name}-1-worker-0-a1\nremoved network ty-{lost.name}-1\n"
    assert volume not in [v["Name"] for v in lost.engine.volumes()]


def test_a_container_of_somebody_else_keeps_its_network(lost, foreign):
    """Its owner has connected it to a job's network. Fails with: IDLE_ROUNDS taken as endless: `clean` never ended."""
    lost.add(0, start=True)
    guest = foreign()
    lost.engine.call("POST", f"/networks/{lost.network}/connect", {"Container": guest})
    said = lost.clean(code=1)
    assert re.match(rf"trainyard: cannot remove network ty-{lost.name}-1: .*active endpoints.*\n"
                    r"trainyard: 1 of these objects could not be removed\n$", said), said
    state = lost.engine.inspect(guest)
    assert state["State"]["Running"] and f"ty-{lost.name}-1" in state["NetworkSettings"]["Networks"]
    lost.engine.call("DELETE", f"/containers/{guest}?force=1")
    assert lost.clean() == f"removed network ty-{lost.name}-1\n"


def test_a_container_of_an_image_that_was_made_of_ours_is_not_ours(lost, foreign):
    """It has trainyard's labels because its image has them. Fails with: name_is_ours() left out: it was removed."""
    theirs = foreign(Labels=lost.label)
    assert lost.clean() == f"removed network ty-{lost.name}-1\n"
    assert lost.engine.inspect(theirs)["State"]["Running"]


def interruptible():
    """Programs that a shell starts in the background ignore SIGINT; this undoes that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def waiting_bytes(pipe):
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_many_things_and_an_interruption(lost, request):
    """What the interrupted run did not remove, the next one does. Fails with: thing_report() without fflush(): the first printed
    nothing."""
    count = 30 * request.config.getoption("--cycles")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(lost.add, range(count)))
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)
    os.write(write, b"." * 3900)  # the pipe has room for a few lines only, so the command is interrupted before its end
    with subprocess.Popen([program(), "clean", "--instance", lost.name, "--engine", lost.engine.host,
                           "--state-dir", "/nonexistent"], stdout=write, preexec_fn=interruptible) as first, \
            open(read, encoding="ascii") as output:
        os.close(write)
        wait_until(lambda: waiting_bytes(read) > 3900, 30, "some are gone, and told")
        first.send_signal(signal.SIGINT)
        assert first.wait(30) == -signal.SIGINT
        said = output.read().lstrip(".").splitlines(True)
    assert said and lost.engine.leftovers(lost.name)
    said += lost.clean(timeout=600).splitlines(True)
    assert lost.engine.leftovers(lost.name) == []
    # The object that the engine was removing at the interruption is reported by neither run.
    assert len(set(said)) == len(said) and all(re.match(r"removed (container|network) ty-lost", line) for line in said)


@needs_fuse
@pytest.mark.parametrize("server", [long("lives"), long("stopped"), "killed"])
def test_the_files_of_jobs_go(new_daemon, server, tmp_path):
    """The path has a space; the process that serves files lives, hangs, or was killed before. Fails with: process_end() without
    SIGKILL: a stopped process and its mount remained."""
    daemon = new_daemon("--offline", "--stop-grace", "1", state_dir=tmp_path / "two words")
    job, = submit_with_gcs(daemon, script(f"cd /gcs; {FOREVER}"))
    daemon.container(job)
    process, = processes_of(daemon.state_dir)
    if server == "stopped":
        os.kill(process, signal.SIGSTOP)
    daemon.kill9()
    if server == "killed":
        os.kill(process, signal.SIGKILL)
    said = clean(*of(daemon))
    assert things(daemon) == [] and processes_of(daemon.state_dir) == []
    assert not (daemon.state_dir / "mount/gcs").exists() and mounts_below(daemon.state_dir) == []
    assert said.count("removed container") == said.count("removed network") == 1
    # A stopped process has to be killed. A live one may end by itself before it is told to.
    assert (f"removed process {process}\n" in said) or server != "stopped", said


@pytest.mark.long
def test_without_an_engine_it_says_so(running):
    """Fails with: listed() that takes an engine that does not answer for one that has nothing."""
    daemon, _ = running
    daemon.kill9()
    said = clean("--state-dir", daemon.state_dir, "--engine", "unix:///nonexistent/docker.sock", code=1)
    assert re.match(r"trainyard: .*/nonexistent/docker.sock.*\n$", said), said


@pytest.mark.long
@pytest.mark.parametrize("words", [[], long(["--dry-run"])], ids=["removing", "looking"])
def test_trials_that_cannot_be_listed_are_not_taken_for_none(new_daemon, words):
    """Fails with: trials_clean() went on where opendir() failed: nothing was left, it said."""
    daemon = new_daemon("--offline").start()
    daemon.kill9()
    trials = daemon.state_dir / "trials"
    trials.write_text("no directory")
    assert clean(*of(daemon), *words, code=1) == (
        f"trainyard: cannot remove directory {trials}: Not a directory\n"
        f"trainyard: not everything of {daemon.state_dir.resolve()} could be removed, as the lines above say\n")
    trials.unlink()
    assert str(trials) not in clean(*of(daemon), *words)


@pytest.mark.long
def test_processes_that_cannot_be_listed_are_not_taken_for_none(new_daemon):
    """Fails with: processes_clear() without sees_itself: nothing was left, it said."""
    daemon = new_daemon("--offline").start()
    daemon.kill9()
    hidden = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    # sanitizers need /proc, so the plain program runs
    done = subprocess.run([*hidden, plain_program(), "clean", *map(str, of(daemon))],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr == (
        "trainyard: cannot remove process that serves /gcs: /proc lists no processes\n"
        f"trainyard: not everything of {daemon.state_dir.resolve()} could be removed, as the lines above say\n"), done
    clean(*of(daemon))


def test_where_no_daemon_has_run_there_is_nothing_to_do_and_nothing_is_made(tmp_path):
    """Fails with: instance_find() that makes the directory."""
    missing = tmp_path / "missing"
    assert clean("--state-dir", missing) == f"nothing is left: no daemon has used {missing}\n"
    assert clean("--state-dir", tmp_path) == f"nothing is left: no daemon has used {tmp_path}\n"
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "state.db").write_bytes(b"no database, " * 1000)
    assert "cannot read" in clean("--state-dir", tmp_path, code=1)


@pytest.mark.parametrize("words", [["--instance", "../x"], ["--instance"], ["--instance", ""], ["--list", "--dry-run"],
                                   ["--list", "--instance", "abc"], ["--port", "1"], ["more"]])
def test_wrong_usage_is_told(words):
    """Fails with: options_read() without instance_valid(); without its refusal of --list with another option."""
    said = clean(*words, code=2)
    assert said.startswith("trainyard: ") and said.endswith("(see trainyard clean --help)\n"), said


@pytest.mark.long
def test_another_instances_name_leaves_the_state_directory_alone(new_daemon):
    """Fails with: instance_find() that takes the state directory whatever instance was named."""
    daemon = new_daemon("--offline").start()
    daemon.kill9()
    trial = daemon.state_dir / "trials/1"
    trial.mkdir(parents=True)
    for words in [], ["--dry-run"]:
        # Fails with: instance_clean() that takes a name without anything for one that was cleaned before.
        said = clean("--instance", "another", *of(daemon), *words, code=1)
        assert said.startswith("trainyard: no instance another: ") and "clean --list" in said, said
    assert trial.exists() and (daemon.state_dir / "address").exists()


@pytest.mark.long
def test_a_copy_of_a_running_daemons_state_cleans_nothing(running, tmp_path):
    """Fails with: instance_hold() that takes the lock of the state directory for enough."""
    daemon, _ = running
    before, copy = things(daemon), tmp_path / "copy"
    subprocess.run(["cp", "-a", daemon.state_dir, copy], check=True)
    assert "works for instance" in clean("--state-dir", copy, "--engine", daemon.engine.host, code=1)
    assert things(daemon) == before
