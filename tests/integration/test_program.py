# SPDX-License-Identifier: Apache-2.0
"""The program itself: its commands, options, exit codes, signals and state directory."""
import ast
import os
import pathlib
import re
import resource
import signal
import socket
import subprocess

import pytest

from support.daemon import (ROOT, UNTIL_RELEASED, UNTIL_RELEASED_AGAIN, distributed, plain_program, program, script)
from support.wait import wait_until


def run(*words, env=None, timeout=30):
    return subprocess.run([program(), *words], capture_output=True, text=True, timeout=timeout,
                          env=dict(os.environ, **(env or {})))


# functions of the tests whose arguments are a command
RUNNERS = {"verb", "on_terminal", "started", "run", "user", "client", "words", "shell"}


def commands_run(path):
    """The first argument of each call of RUNNERS in a test file, and the word after each program()."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RUNNERS:
            given = node.args
        elif isinstance(node, ast.List) and node.elts and "program" in ast.dump(node.elts[0]):
            given = node.elts
        else:
            continue
        yield from [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)][:1]


def test_each_command_is_run_by_a_test():
    """Fails with: a row of another name in verb_rows.c."""
    verbs = set(re.findall(r"^  ([a-z]+)  +[a-z]", run("help").stdout.split("Each command")[0], re.M))
    assert len(verbs) > 30 and {"serve", "logs", "import"} <= verbs
    tested = {word for path in (ROOT / "tests/integration").glob("test_*.py") for word in commands_run(path)}
    assert sorted(verbs - tested) == []


def test_version_names_the_program():
    result = run("version")
    assert result.returncode == 0 and re.match(r"trainyard \d+\.\d+", result.stdout)


def test_help_lists_every_option():
    result = run("serve", "--help")
    assert result.returncode == 0
    for option in ("--listen", "--state-dir", "--engine", "--config", "--project"):
        assert option in result.stdout


def test_the_manual_and_the_page_of_options_are_as_the_tables_are(tmp_path):
    """Fails with: a help changed in daemon/config_items.c or daemon/cli/verb_rows.c without `make reference`."""
    tables = subprocess.run([pathlib.Path(program()).parent / "deploy/build-aux/print_tables"], capture_output=True, check=True).stdout
    checked = subprocess.run([ROOT / "deploy/build-aux/reference.py", "--check", ROOT], input=tables, capture_output=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("words", [[], ["frobnicate"], ["serve", "--listen", "nowhere"], ["serve", "--no-such-option"],
                                   ["serve", "--engine", "http://127.0.0.1:1"], ["serve", "--config", "/no/such/file"],
                                   ["serve", "--stop-grace", "soon"], ["env", "--shell", "csh"], ["version", "more"]])
def test_wrong_usage_is_one_line_and_exit_code_2(words, tmp_path):
    result = run(*words, env={"XDG_STATE_HOME": str(tmp_path), "TRAINYARD_STATE_DIR": str(tmp_path)})
    assert result.returncode == 2 and result.stdout == "", result
    assert result.stderr.count("\n") == 1 and result.stderr.startswith("trainyard"), result.stderr


def test_options_come_from_the_environment_and_a_file_too(tmp_path):
    config = tmp_path / "config"
    config.write_text("# a comment\nproject = from-file\nregion = europe-west4\n")
    result = run("env", "--config", str(config), "--listen", "127.0.0.1:9", env={"TRAINYARD_PROJECT": "from-environment"})
    assert "export CLOUDSDK_CORE_PROJECT=from-environment\n" in result.stdout
    assert "export CLOUDSDK_COMPUTE_REGION=europe-west4\n" in result.stdout
    config.write_text("nonsense = 1\n")
    result = run("env", "--config", str(config))
    assert result.returncode == 2 and str(config) in result.stderr and "nonsense" in result.stderr


def test_env_points_clients_at_a_running_daemon(new_daemon):
    daemon = new_daemon().start()
    result = run("env", "--state-dir", str(daemon.state_dir), "--project", "some-project")
    shell = subprocess.run(["sh", "-c", 'eval "$1"; env', "sh", result.stdout], capture_output=True, text=True, check=True)
    for line in (f"CLOUDSDK_API_ENDPOINT_OVERRIDES_ML={daemon.base}/", f"CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING={daemon.base}/",
                 "CLOUDSDK_CORE_PROJECT=some-project", "CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true"):
        assert line + "\n" in shell.stdout, shell.stdout


def test_two_daemons_never_share_a_state_directory(new_daemon, engine):
    first = new_daemon().start()
    second = subprocess.run([program(), "serve", "--listen", "127.0.0.1:0", "--state-dir", str(first.state_dir),
                             "--engine", engine.host], capture_output=True, text=True, timeout=30)
    assert second.returncode == 125 and second.stdout == ""
    last = second.stderr.strip().splitlines()[-1]
    assert str(first.state_dir) in last, second.stderr
    assert first.get("/healthz").status == 200


def test_a_taken_port_is_told(tmp_path, engine):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run("serve", "--listen", f"127.0.0.1:{port}", "--state-dir", str(tmp_path), "--engine", engine.host)
    assert result.returncode == 125 and str(port) in result.stderr, result


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(new_daemon, how):
    daemon = new_daemon().start()
    daemon.stop(how)


@pytest.mark.long
def test_stopping_leaves_jobs_running_and_the_next_start_adopts_them(new_daemon):
    daemon = new_daemon("--offline").start()
    job_id = daemon.create(script(f"echo before; {UNTIL_RELEASED}; echo meanwhile; {UNTIL_RELEASED_AGAIN}; echo after"))
    container = daemon.container(job_id)
    daemon.wait_lines(job_id)
    daemon.stop()
    assert daemon.engine.inspect(container)["State"]["Running"]
    daemon.release(job_id)
    wait_until(lambda: b"meanwhile" in daemon.engine.call("GET", f"/containers/{container}/logs?stdout=1"), 30)
    daemon.start()
    daemon.release(job_id, after={"master-replica-0": 2}, again=True)
    daemon.until(job_id, "SUCCEEDED")
    assert daemon.lines(job_id) == ["before", "meanwhile", "after"]


def test_stop_jobs_stops_them(new_daemon):
    daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "1").start()
    job_id = daemon.create(script('trap "" TERM; while :; do sleep 0.1; done'))
    daemon.until(job_id, "RUNNING")
    daemon.stop()
    assert daemon.engine.leftovers(daemon.read_instance()) == []


@pytest.mark.long
def test_deleting_the_state_directory_resets_everything(new_daemon):
    daemon = new_daemon("--offline").start()
    daemon.run(script("true"), job_id="the_job")
    daemon.stop()
    subprocess.run(["rm", "-rf", str(daemon.state_dir)], check=True)
    daemon.start()
    assert daemon.get(daemon.jobs_path).json == {}
    daemon.run(script("true"), job_id="the_job")


@pytest.mark.long
def test_containers_of_a_forgotten_state_are_left_to_their_owner(new_daemon):
    """A daemon does not remove containers of another instance."""
    owner, other = new_daemon("--offline").start(), new_daemon("--offline")
    job_id = owner.create(script("while :; do sleep 0.1; done"))
    container = owner.container(job_id)
    other.start()
    other.run(script("true"))
    assert owner.engine.inspect(container)["State"]["Running"]
    owner.cancel(job_id)
    owner.until(job_id, "CANCELLED")


@pytest.mark.long
def test_memory_and_start_are_small(new_daemon):
    daemon = new_daemon(binary=plain_program()).start()
    with open(f"/proc/{daemon.process.pid}/status") as status:
        rss_kb = int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))
    with open(daemon.binary, "rb") as file:
        counts = b"gcov" in file.read()  # and is larger because it counts how often each line runs
    assert rss_kb <= (18 if counts else 16) * 1024, rss_kb


def limited(soft, hard, *words):
    """The command line that runs the program with these limits of open descriptors."""
    return ["sh", "-c", f'ulimit -Sn {soft} && ulimit -Hn {hard} && exec "$@"', "sh", program(), *map(str, words)]


def test_too_low_a_limit_of_descriptors_is_refused(tmp_path, engine):
    """Fails with: descriptors_raise() that takes any limit: it ran until it had none left, and then for ever."""
    done = subprocess.run(limited(64, 64, "serve", "--listen", "127.0.0.1:0", "--state-dir", tmp_path, "--engine", engine.host),
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 125 and done.stdout == "" and list(tmp_path.iterdir()) == [], done
    assert re.fullmatch(r"trainyard: this process may open 64 files at once \(ulimit -Hn\), and serve needs 1024 .*\n", done.stderr), done


@pytest.mark.long
def test_the_least_limit_of_descriptors_is_enough_for_jobs(new_daemon):
    """The soft limit is raised to the hard limit. Fails with: descriptors_raise() without setrlimit()."""
    daemon = new_daemon("--offline")
    command = daemon.command()
    daemon.command = lambda: limited(64, 1024, *command[1:])
    daemon.start()
    assert resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE) == (1024, 1024)
    daemon.run(distributed("true", worker="sleep 600", workers=3))
    daemon.stop()
