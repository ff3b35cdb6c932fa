# SPDX-License-Identifier: Apache-2.0
"""Error messages of the program: what happened, where, and what to do."""
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from itertools import starmap

import pytest

from support.daemon import Daemon, program, script
from support.engine import Engine
from support.marks import long
from support.wait import wait_until

USER = 4242
needs_root = pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="to be another user takes root and setpriv")


def run(*words, env=None, before=(), binary=None):
    done = subprocess.run([*before, binary or program(), *map(str, words)], capture_output=True, text=True, timeout=30,
                          env={**os.environ, **(env or {})})
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done


def as_user(*groups):
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", f"--groups={','.join(map(str, groups))}" if groups else
            "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"]


@pytest.fixture
def open_place():
    """A directory that other users can enter, with a copy of the program."""
    with tempfile.TemporaryDirectory(prefix="tym", dir="/tmp") as top:
        os.chmod(top, 0o755)
        shutil.copy(program(), f"{top}/trainyard")
        yield pathlib.Path(top)


# ---- names ----

@pytest.mark.parametrize("words,told", [
    (["serv"], r'unknown command "serv"; did you mean serve\?'),
    (["frobnicate"], r'unknown command "frobnicate"'),
    (["--versoin"], r'unknown option "--versoin"; did you mean --version\?'),
    (["serve", "--gpus", "0,0"], r'--gpus: "0,0" is not auto, none, a number, or ids joined by commas, each of them once'),
    (["--listen", "127.0.0.1:0"], r'"--listen" is an option, where a command is expected: trainyard serve --listen'),
    (["clean", "--forse"], r'unknown option "--forse"; did you mean --force\?'),
    (["env", "--shel", "sh"], r'unknown option "--shel"; did you mean --shell\?'),
    (["clean", "--listen", "x"], r'unknown option "--listen": it is one of serve and env'),
    (["serve", "--log-level", "inf"], r'--log-level: "inf" is not one of error, warning, info, debug; did you mean info\?'),
    (["help", "serv"], r'unknown command "serv"; did you mean serve\?'),
    (["serve", "--max-jobs", "1"], r'unknown option "--max-jobs"; did you mean --max-active-jobs\?'),
    (["rerun"], r'JOB is missing'),
    (["shell"], r'JOB\[/REPLICA\] is missing'),
    (["run", "image", "ls"], r'unexpected argument "ls"; -- comes before the words that are passed on'),
    (["exec", "true"], r'unexpected argument "true"; -- comes before the words that are passed on'),
    (["exec", "--gpus", "2", "pytest", "-q"], r'unexpected argument "pytest"; -- comes before the words that are passed on'),
    (["start", "xyz"], r'unexpected argument "xyz"'),
    (["exec", "--keep-state", "d", "--", "true"], r'unknown option "--keep-state"; did you mean --state-dir\?'),
    (["exec", "--port=0", "--", "true"], r'unknown option "--port"; did you mean --listen\?'),
    (["ps"], r'unknown command "ps"; did you mean jobs\?'),
    (["list"], r'unknown command "list"; did you mean jobs\?'),
    (["run", "--replicas", "2", "image"], r'unknown option "--replicas"; did you mean --workers\?'),
    (["jobs", "--ps"], r'unknown option "--ps"'),
    (["kill", "my_job"], r'unknown command "kill"; did you mean cancel\?'),
    (["jobs", "-o", "yaml"], r'--output: "yaml" is not one of table, json, name'),
    (["fault", "ls", "1"], r'unexpected argument "1"'),
    (["completion", "bahs"], r'"bahs" is not one of bash, zsh, fish; did you mean bash\?'),
    (["fault", "ad"], r'"ad" is not one of add, ls, rm; did you mean add\?'),
    (["clock", "advanc", "1s"], r'"advanc" is not advance; did you mean advance\?'),
    (["clock", "advance"], r'by how much\? clock advance TIME, as in clock advance 2h'),
    (["jobs", "--stat", "RUNNING"], r'unknown option "--stat"; did you mean --state\?'),
    (["jobs", "--state", "RUNING"], r'--state: "RUNING" is not one of .*; did you mean RUNNING\?'),
    (["env", "--shell", "fihs"], r'--shell: "fihs" is not one of sh, fish, github; did you mean fish\?'),
])
def test_what_is_misspelled_is_told_with_what_was_meant(words, told):
    """Fails with: nearest_look_synonyms() left out: `ps` was told of ls. config_read_beside() without passes_on: `exec true` did
    not say that -- is missing. unknown_refuse() without nearest_look(); config_take() that does not hand its names on;
    words_check() without value_check()."""
    done = run(*words)
    assert done.returncode == 2 and done.stdout == "", done
    assert re.fullmatch(rf"trainyard: {told} \(see trainyard (\w+ )?--help\)\n", done.stderr), done.stderr


def test_variables_that_are_not_known_are_warned_of(tmp_path):
    """Each command that reads variables warns once. Fails with: verb_run() or serve_main() without config_unknown_variables();
    exec's row without .logs."""
    env = {"TRAINYARD_LISEN": "127.0.0.1:1"}
    told = "trainyard: warning: the variable TRAINYARD_LISEN is no option, and is ignored; did you mean TRAINYARD_LISTEN?\n"
    for words in ("env", "clean", "stop", "status", "jobs", "cp a b", "doctor"):
        done = run(*words.split(), "--state-dir", tmp_path / "none", env=env)
        assert done.stderr.startswith(told), done
    assert "TRAINYARD_LISEN" not in run("version", env=env).stderr
    assert run("exec", "--", "true", env=env).stderr.count("TRAINYARD_LISEN") == 1
    daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock")))
    command = daemon.command()
    daemon.command = lambda: ["env", "TRAINYARD_LISEN=secret", *command]
    daemon.start()
    daemon.stop()
    assert re.search(r'warning unknown-variable name=TRAINYARD_LISEN hint="it is no option, and is ignored; did you mean '
                     r'TRAINYARD_LISTEN\?"', daemon.log()) and "secret" not in daemon.log(), daemon.log()


@pytest.mark.parametrize("words,told", [
    (["--region", "us-centrall"], ["us-centrall"]), (["--region", "us-centrall", "--validation", "lenient"], []),
    (["--region", "me-west1"], [])])
def test_a_region_where_jobs_are_refused_is_warned_of(tmp_path, words, told):
    """Fails with: serve_main() without region_check(); region_check() that asks neither --validation nor the regions."""
    daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock")), *words).start()
    daemon.stop()
    assert re.findall(r'warning unknown-region region=(\S+) hint=".* without --validation lenient; did you mean us-central1\?"',
                      daemon.log()) == told and daemon.log().count("unknown-region") == len(told), daemon.log()


@pytest.mark.parametrize("host", ["tcp://10.0.0.1:port", "ssh://-me", "http+unix://x", "unix://relative"])
def test_an_engine_that_docker_host_names_in_no_form_of_docker_is_told(host, tmp_path):
    done = run("serve", "--state-dir", tmp_path, env={"DOCKER_HOST": host})
    assert done.returncode == 2 and done.stderr.startswith(
        f'trainyard: DOCKER_HOST or DOCKER_CONTEXT: "{host}" is not unix:///PATH'), done
    assert "give --engine, such as unix:///var/run/docker.sock" in done.stderr


# ---- addresses ----

def serve(tmp_path, *words, **how):
    """Runs `serve` with settings with which it cannot start."""
    done = run("serve", "--state-dir", tmp_path / "state", "--engine", f"unix://{tmp_path}/none.sock", "--log-level", "error",
               *words, **how)
    assert done.returncode in (2, 125) and done.stdout == "", done
    return done.stderr


@pytest.mark.parametrize("option", ["--listen", "--grpc"])
@pytest.mark.parametrize("family,address", [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")])
def test_a_port_that_is_taken_is_told_with_its_process(tmp_path, option, family, address):
    """Fails with: wiring.c without listen_explain(); address_clashes() without a listener's wildcard."""
    with socket.create_server((address, 0), family=family) as taken:
        port = taken.getsockname()[1]
        wanted = f"[{address}]:{port}" if family == socket.AF_INET6 else f"127.0.0.1:{port}"
        said = serve(tmp_path, "--listen", "127.0.0.1:0", option, wanted)
    comm = pathlib.Path("/proc/self/comm").read_text().strip()
    assert said == (f"trainyard: {option}: cannot listen on {wanted}: Address already in use: process {os.getpid()} ({comm}) of user "
                    f"{os.geteuid()} has it; {option} 127.0.0.1:0 takes any free port\n")


def test_one_port_for_both_is_told(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "--listen and --grpc want a port each" in serve(tmp_path, "--listen", f"127.0.0.1:{port}", "--grpc", f"127.0.0.1:{port}")


def test_an_address_that_is_not_here_is_told(tmp_path):
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    said = serve(tmp_path, "--listen", "192.0.2.1:0", "--token-file", token)
    assert "192.0.2.1:0: Cannot assign requested address: this machine has no such address" in said, said


@needs_root
def test_a_port_of_roots_is_told(open_place):
    """Fails with: problem_write() without EACCES."""
    limit = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text()
    if int(limit) < 80:
        pytest.skip("every user may listen there")
    os.chmod(open_place, 0o777)
    said = serve(open_place, "--listen", "127.0.0.1:79", before=as_user(), binary=open_place / "trainyard")
    assert "127.0.0.1:79: Permission denied: ports below 1024 are root's" in said and "CAP_NET_BIND_SERVICE" in said, said


@pytest.mark.parametrize("there,told", [
    ("listener", r"process \d+ \(.*\) of user \d+ listens there"), ("file", "there is a file that is no socket"),
    ("nothing", r"/none: No such file or directory: make that directory first")])
def test_a_path_that_cannot_be_listened_at_is_told(tmp_path, there, told):
    """Fails with: path_listener_find() that finds none; above_write() that looks at nothing."""
    path = tmp_path / ("none/s" if there == "nothing" else "s")
    if there == "file":
        path.write_text("mine")
    with socket.socket(socket.AF_UNIX) as other:
        if there == "listener":
            other.bind(str(path))
            other.listen()
        said = serve(tmp_path, "--listen", f"unix:{path}")
    assert re.search(rf"--listen: cannot listen on {path}: {told}" if there != "nothing" else told, said), said


def test_env_warns_of_an_address_where_nothing_answers(tmp_path):
    """A killed daemon has no address any more; nothing answers at one that is given. Fails with: env_main() without
    silence_warn()."""
    daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock"))).start()
    assert run("env", "--state-dir", daemon.state_dir).stderr == ""
    daemon.kill9()
    done = run("env", "--state-dir", daemon.state_dir)
    assert done.returncode == 0 and daemon.base not in done.stdout, done
    done = run("env", "--listen", f"127.0.0.1:{daemon.port}", "--state-dir", tmp_path / "none")
    assert done.returncode == 0 and f"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML={daemon.base}/" in done.stdout, done
    assert re.fullmatch(rf"trainyard: warning: nothing answers at {daemon.base}: start trainyard serve, or give .*\n", done.stderr)
    assert run("env", "--unset", "--state-dir", daemon.state_dir).stderr == ""


# ---- the state ----

def used_state(tmp_path):
    """A state directory that a daemon has used, with an object."""
    daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock"))).start()
    answer = daemon.request("POST", "/upload/storage/v1/b/own/o?uploadType=media&name=o", b"data", {"Content-Type": "text/plain"})
    assert answer.status == 200, answer
    daemon.stop()
    return daemon


@pytest.mark.parametrize("below,told", [
    ("file", "the state directory {} is a file: choose another with --state-dir"),
    ("file/x", "cannot make the state directory {}: Not a directory; --state-dir names another place, where this user may write")])
def test_a_state_directory_that_can_be_none_is_told(tmp_path, below, told):
    """Fails with: state_dir_make() that takes a file for it: "cannot read …/clock: Not a directory"."""
    (tmp_path / "file").write_text("mine")
    assert serve(tmp_path, "--state-dir", tmp_path / below) == f"trainyard: {told.format(tmp_path / below)}\n"


def test_a_state_directory_in_use_is_told_with_its_process(tmp_path):
    daemon = used_state(tmp_path).start()
    assert f"state is in use by process {daemon.pid}: stop that first, or give another --state-dir\n" in serve(tmp_path)
    daemon.stop()


@needs_root
@pytest.mark.parametrize("made", [False, True])
def test_a_state_directory_that_may_not_be_written_is_told(open_place, made):
    place = open_place / "state"
    if made:
        place.mkdir()
        place.chmod(0o755)
    said = serve(open_place, before=as_user(), binary=open_place / "trainyard")
    assert re.search(r"cannot open \S+/state/lock: Permission denied; the state directory has to be this user's, and writable\n"
                     if made else r"cannot make the state directory \S+/state: Permission denied; --state-dir names another", said), said


@pytest.mark.parametrize("words,told", [
    (["--stop-grace", "10s"], '--stop-grace: "10s" is not a number from 0 to 86400; it counts seconds, and takes no unit'),
    (["--max-memory", "4G"], '--max-memory: "4G" is not a number from 0 to 1000000000; it counts MiB, and takes no unit'),
    (["--max-containers", "many"], '--max-containers: "many" is not a number from 1 to 10000'),
    (["--config", "/no/such"], "the configuration file /no/such cannot be read: No such file or directory"),
    (["--config", "/tmp"], "the configuration file /tmp cannot be read: Is a directory"),
])
def test_a_value_that_cannot_be_is_told(tmp_path, words, told):
    assert serve(tmp_path, *words) == f"trainyard: {told} (see trainyard serve --help)\n"


@pytest.mark.parametrize("name, page", [("state.db", "all"), ("logs.db", "inner"), ("storage.db", "all"), *starmap(long, [
    ("state.db", "inner"), ("logs.db", "all"), ("storage.db", "inner")])])
def test_a_damaged_database_is_told_with_how_to_go_on_without_it(tmp_path, name, page):
    """The advice works. Fails with: database_error() without file_refuse(): "PRAGMA journal_mode = WAL; …" was said."""
    daemon = used_state(tmp_path)
    path = daemon.state_dir / name
    with open(path, "r+b") as file:
        if page == "inner":
            file.seek(100)
        file.write(b"no database " * 1000)
    words = "database disk image is malformed" if page == "inner" else "file is not a database"
    if name == "storage.db":  # storage.db is opened only when it is used
        daemon.start()
        said = daemon.log()
        daemon.stop()
    else:
        said = serve(tmp_path)
        assert said.count("\n") == 1
    assert f"{path} is damaged ({words}): " in said and "PRAGMA" not in said, said
    assert f"move it, with {name}-wal and {name}-shm where they are there, out of the directory, to go on without" in said
    for file in daemon.state_dir.glob(name + "*"):
        file.rename(tmp_path / file.name)
    daemon.start()
    assert daemon.get("/storage/v1/b", project=daemon.project).status == 200
    daemon.stop()
    shutil.rmtree(daemon.state_dir)  # the damaged part is one that no row refers to


def test_a_newer_state_is_told(tmp_path):
    daemon = used_state(tmp_path)
    with contextlib.closing(sqlite3.connect(daemon.state_dir / "state.db")) as state:
        state.execute("PRAGMA user_version = 999")
    assert re.search(r"state\.db was written by a newer trainyard \(schema 999, .*\): use that one, or give another --state-dir\n",
                     serve(tmp_path))


@needs_root
def test_a_full_disk_is_told_with_its_file_system(tmp_path):
    """The message is in the failing call's answer, and at the next start. Fails with: file_refuse() that does not ask
    disk_full_write()."""
    place = tmp_path / "disk"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    try:
        daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock")), state_dir=place / "state").start()
        with open(place / "filler", "wb", buffering=0) as filler, contextlib.suppress(OSError):
            while filler.write(bytes(4096)):
                pass
        told = rf"the file system at {place} is full: \d+ (bytes|KiB) are left for {place}/\w+/state.db; free 16 MiB at least"
        answer = daemon.post(daemon.jobs_path, {"jobId": "full", "trainingInput": script("true")})
        assert answer.status == 503 and re.fullmatch(f"No space left on device: {told}", answer.error["message"]), answer
        daemon.stop()
        assert re.fullmatch(f"trainyard: cannot open {place}/other/state.db: No space left on device: {told}\n",
                            serve(tmp_path, "--state-dir", place / "other").splitlines(True)[-1])
        assert not list((place / "other").glob("*.new*")), "an unfinished database takes the room"
    finally:
        subprocess.run(["umount", "-l", place], check=True)


def test_files_that_may_not_grow_are_told(tmp_path):
    """Fails with: serve_main() that is ended by SIGXFSZ."""
    said = serve(tmp_path, before=["sh", "-c", 'ulimit -f 1; exec "$@"', "sh"])
    assert re.search(r"cannot open .*/state.db: (File too large|No space left on device): there is no room for .*/state.db, although the file system at "
                     r"/\S* has .* left: look for a quota, or a limit of the size of files \(ulimit -f\)\n", said), said


# ---- the engine ----

def test_an_engine_that_is_not_there_is_told_beside_the_ready_line(tmp_path):
    """Fails with: ready_report() without docker_reach(); health_get() that does not look at the reason."""
    daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock")), "--log-level", "error").start()
    try:
        health = daemon.get("/healthz")
        assert health.status == 200 and health.json["status"] == "degraded", health
        reason = f"{tmp_path}/none.sock: No such file or directory"
        wait_until(lambda: reason in daemon.get("/healthz").json["reason"], what="it has asked the engine")
        assert re.fullmatch(rf"trainyard: cannot reach the engine at unix://{tmp_path}/none.sock: No such file or directory: "
                            r".*systemctl start docker.*--engine.* Jobs wait until it is there.\n", daemon.log()), daemon.log()
    finally:
        daemon.stop()


def test_a_log_in_json_stays_one(tmp_path):
    """Fails with: silence_report() that does not ask for the format."""
    daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock")), "--log-format", "json").start()
    daemon.stop()
    events = [json.loads(line) for line in daemon.log().splitlines()]
    assert "cannot reach the engine" in str([event for event in events if "engine-unreachable" in str(event)]), events


def test_with_an_engine_there_is_nothing_to_tell(new_daemon):
    daemon = new_daemon().start()
    assert "cannot reach" not in daemon.log()


def test_an_engine_that_does_not_run_is_told_and_where_another_is(tmp_path):
    """Fails with: others_write() that looks nowhere."""
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / "dead.sock"))
    dead.close()
    with socket.socket(socket.AF_UNIX) as rootless, socket.socket(socket.AF_UNIX) as podman:
        rootless.bind(str(tmp_path / "docker.sock"))
        rootless.listen()
        (tmp_path / "podman").mkdir()
        podman.bind(str(tmp_path / "podman/podman.sock"))
        podman.listen()
        done = run("clean", "--list", "--engine", f"unix://{tmp_path}/dead.sock", env={"XDG_RUNTIME_DIR": str(tmp_path)})
    assert done.returncode == 1 and "Connection refused: no engine runs there" in done.stderr, done
    for path in ("docker.sock", "podman/podman.sock"):
        assert f"one answers at --engine unix://{tmp_path}/{path}" in done.stderr, done


@needs_root
@pytest.mark.parametrize("group,words", [(7, r"`usermod -aG lp 4242`"), (0, r"dockerd --group docker.*`usermod -aG docker 4242`")])
def test_no_permission_at_the_engines_socket_is_told_with_the_group(open_place, group, words):
    """Fails with: help_write() without EACCES."""
    path = open_place / "engine.sock"
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind(str(path))
        engine.listen()
        os.chmod(path, 0o660)
        os.chown(path, 0, group)
        done = run("clean", "--list", "--engine", f"unix://{path}", before=as_user(), binary=open_place / "trainyard")
    assert done.returncode == 1 and re.search(rf"{path}: Permission denied: user 4242 .*{words}", done.stderr), done


# ---- faults ----

KINDS = "preempt, oom, exit, crash, stop, stockout, imagePull, quota, httpStatus, timeout, slowNetwork, cutNetwork"


# Fails with: cutNetwork left out of the help of the command; a row of the page left out.
def test_each_kind_is_in_the_help_and_on_the_page():
    assert KINDS in " ".join(run("fault", "--help").stdout.split())
    page = (pathlib.Path(__file__).parents[2] / "docs/fault-injection.md").read_text()
    rows = re.findall(r"^\| `(\w+)` \|", page.split("## Which jobs")[0], re.MULTILINE)
    assert sorted(rows) == sorted(["fault", *KINDS.split(", ")])  # the table's head and its rows


@pytest.mark.parametrize("rule,told", [
    ({"fault": "preemt"}, rf"Invalid value at 'fault' \(.*Fault.Kind\), \"preemt\": there are {KINDS}; did you mean preempt\?"),
    ({"fault": "explode"}, rf".*\"explode\": there are {KINDS}"),
    ({"fault": 99}, rf".*, 99: there are {KINDS}"),
    ({"fault": "exit", "exitcode": 3}, r".*Unknown name \"exitcode\": Cannot find field: there are fault, project, job, .*, "
                                       r"probability; did you mean exitCode\?"),
    ({"fault": "timeout", "method": "ml.projects.job.create"}, r".*trainyard has no method with the name \"ml.projects.job.create\"; "
                                                               r"did you mean ml.projects.jobs.create\?"),
])
def test_a_rule_of_a_fault_that_is_misspelled_is_told_what_there_is(tmp_path, rule, told):
    """A misspelled rule in a call, and in a file. Fails with: fault_message and its kind without is_own; method_refuse() that
    looks at no name."""
    path = tmp_path / "faults.json"
    path.write_text(json.dumps([rule]))
    assert re.search(rf"--faults: {path}: rule 1: {told}\n", serve(tmp_path, "--faults", path))
    daemon = Daemon(tmp_path, Engine(str(tmp_path / "none.sock"))).start()
    answer = daemon.post("/_trainyard/v1/faults", rule)
    daemon.stop()
    assert answer.status == 400 and re.fullmatch(told, answer.error["message"]), answer
