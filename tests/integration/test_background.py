# SPDX-License-Identifier: Apache-2.0
"""`trainyard start`, `stop`, `status` and `completion`: the user's daemon without a terminal."""
import contextlib
import http.server
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import types

import pytest

from support.daemon import program
from support.verbs import on_terminal
from support.wait import wait_until


@pytest.fixture
def user(engine, tmp_path):
    """Runs the program as a user whose state is below tmp_path. Daemons that it started are ended."""
    environment = {**os.environ, "DOCKER_HOST": engine.host, "TRAINYARD_STATE_DIR": str(tmp_path / "state"),
                   "TRAINYARD_NETWORKS": "10.249.0.0/20"}
    environment.pop("TRAINYARD_ENDPOINT", None)

    def run(*words, code=0, **more):
        done = subprocess.run([program(), *words], capture_output=True, text=True, timeout=60, env={**environment, **more})
        assert done.returncode == code, done
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
        return done.stderr if code else done.stdout

    run.state, run.environment = tmp_path / "state", environment
    yield run
    run("stop")


def test_a_daemon_is_started_told_of_and_stopped(user):
    """Fails with: state_dir_holder() that is always 0: a second one was tried, and stop found none."""
    assert "no daemon runs" in user("stop")
    assert "no daemon answers" in user("status", "--endpoint", "http://127.0.0.1:1", code=3)
    said = user("start", "--listen", "127.0.0.1:0")
    assert "trainyard runs at http://127.0.0.1:" in said
    assert "already runs at http://127.0.0.1:" in user("start")
    drawn, _ = on_terminal(types.SimpleNamespace(base=""), "start", columns=40, env=user.environment)
    assert "trainyard already runs at\nhttp://" in drawn, drawn
    told = json.loads(user("status", "--wait", "-o", "json"))
    assert told["status"] == "ok" and told["engine"]["reachable"] and told["endpoint"] in said
    # Fails with: a timeout of 0 for the one look: exit code 124.
    assert user("status", "--wait", "--timeout", "0", "-o", "name") == told["endpoint"] + "\n"
    for word in (told["endpoint"], "version ", f"instance {told['instance']}\n", "engine ", "GPUs ", " jobs let in, 0 wait\n", "clock "):
        assert word in user("status"), word
    assert user("why", "@last", code=1) == "trainyard: There is no job yet.\n"
    assert told["queue"]["waitingCount"] == 0 and "policy" in told["gpus"]
    assert user("status", "-o", "name") == told["endpoint"] + "\n"
    assert "has ended" in user("stop")
    assert "no daemon runs" in user("stop")
    assert "stopping" in (user.state / "daemon.log").read_text()


def test_a_daemon_that_does_not_start_says_why(user):
    """Fails with: log_show() left out: the reason was in the file alone."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        assert address in user("start", "--listen", address, code=125)
    assert "/nonexistent" in user("start", "--listen", "127.0.0.1:0", "--wheels", "/nonexistent", code=2)
    assert "--listn" in user("start", "--listn", "x", code=2)


class Answers(http.server.BaseHTTPRequestHandler):
    """A server of another program: records the Authorization header, and gives each path a prepared answer."""
    def do_GET(self):
        self.server.seen.append(self.headers.get("Authorization"))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(self.server.answers.get(self.path, {})).encode())

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def answering(answers, port=0):
    with http.server.HTTPServer(("127.0.0.1", port), Answers) as server:
        server.seen, server.answers = [], answers
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def token(tmp_path):
    path = tmp_path / "token"
    path.write_text("secret-of-this-daemon\n")
    path.chmod(0o600)
    return str(path)


def test_a_token_goes_to_its_own_daemon_alone(user, token):
    """Fails with: client_of() that takes the written token for any endpoint; that takes the one of $TRAINYARD_TOKEN_FILE; and
    address_is_live() that is always true: the other server saw it each time."""
    said = user("start", "--listen", "127.0.0.1:0", "--token-file", token)
    assert json.loads(user("status", "--wait", "-o", "json"))["engine"]["reachable"]  # uses the token that start stored
    with answering({}) as other:
        elsewhere = f"http://127.0.0.1:{other.server_port}"
        assert "is not trainyard" in user("status", "--endpoint", elsewhere, code=1)
        assert "is not trainyard" in user("status", "--endpoint", elsewhere, code=1, TRAINYARD_TOKEN_FILE=token)
    assert other.seen == [None, None]
    pid, port = re.search(r":(\d+) \(process (\d+)", said).group(2, 1)
    os.kill(int(pid), signal.SIGKILL)  # the address file is not removed
    wait_until(lambda: "no daemon runs" in user("stop"))
    with answering({}, int(port)) as other:
        assert "no daemon runs on" in user("status", code=3)
    assert not other.seen


def test_the_address_of_a_killed_daemon_leads_to_no_other_program(user, token):
    """Fails with: client_of() that takes an outdated address; and the default one with --token-file: the other program got the
    request."""
    pid, port = re.search(r":(\d+) \(process (\d+)", user("start", "--listen", "127.0.0.1:0")).group(2, 1)
    os.kill(int(pid), signal.SIGKILL)  # the address file is not removed
    wait_until(lambda: "no daemon runs" in user("stop"))
    with answering({}, int(port)) as other:
        for words in ["jobs"], ["reset", "--yes"], ["logs", "@last"], ["ls"], ["ui", "--print"]:
            said = user(*words, code=3)
            assert f'no daemon runs on {user.state}: start one with "trainyard start", or give --endpoint' in said, words
            assert "no daemon runs on" in user(*words, "--state-dir", str(user.state), "--token-file", token, code=3)
        assert f":{port}" not in user("env", "--shell", "sh")
    assert not other.seen
    user("start", "--listen", "127.0.0.1:0")
    assert "NAME" not in user("jobs", "-o", "name")


@pytest.mark.long
def test_a_token_that_is_wrong_is_told(user, token, tmp_path):
    """Fails with: status_show() that asks for the clock and looks at no outcome: the exit code was 0."""
    user("start", "--listen", "127.0.0.1:0", "--token-file", token)
    (tmp_path / "wrong").write_text("another-token-altogether\n")
    assert "does not accept this token" in user("status", "--token-file", str(tmp_path / "wrong"), code=1)
    endpoint = json.loads(user("status", "-o", "json"))["endpoint"]
    assert "--token-file" in user("status", "--endpoint", endpoint, TRAINYARD_STATE_DIR=str(tmp_path / "other"))


def test_a_token_that_is_missing_is_told(user, token, tmp_path):
    """Fails with: http_failure() with the daemon's message, which is the cloud's: it told of OAuth."""
    user("start", "--listen", "127.0.0.1:0", "--token-file", token)
    endpoint = json.loads(user("status", "-o", "json"))["endpoint"]
    other = str(tmp_path / "other")
    assert f"{endpoint} asks for a token: give it with --token-file" in user("jobs", "--endpoint", endpoint, code=1, TRAINYARD_STATE_DIR=other)
    (tmp_path / "wrong").write_text("another-token-altogether\n")
    assert "does not accept this token" in user("jobs", "--token-file", str(tmp_path / "wrong"), code=1)


def test_a_state_directory_without_a_daemon_is_not_another_daemon(user, tmp_path):
    """Fails with: client_of() that takes the default address: the daemon there got what was meant for the named one, `reset --yes`
    too."""
    none = tmp_path / "none"
    (tmp_path / "config").write_text(f"state-dir = {none}\n")
    for words in (["reset", "--yes", "--state-dir", str(none)], ["jobs", "--config", str(tmp_path / "config")],
                  ["status", "--state-dir", str(none)]):
        assert f"no daemon runs on {none}: start one with" in user(*words, code=3, TRAINYARD_STATE_DIR="")
    user("start", "--listen", "127.0.0.1:0", "--state-dir", str(none))
    user("reset", "--yes", "--state-dir", str(none))
    user("stop", "--state-dir", str(none))


def test_all_pages_of_jobs_are_printed(user):
    """Fails with: jobs_ask() that ends after one page: the second job was missing. With the token left as it is: the page asked for
    was none. More than one page of those that have ended: the fourth came without --all."""
    def page(size, filter, token):
        return f"/_trainyard/v1/jobs?prettyPrint=false&pageSize={size}&filter={filter}&pageToken={token}&project="

    def job(name, time):
        return {"name": name, "createTime": f"2026-01-0{time}T00:00:00Z"}

    ended = "%28state%3DSUCCEEDED%20OR%20state%3DFAILED%20OR%20state%3DCANCELLED%29"
    with answering({page(1000, "", ""): {"jobs": [job("one", 9)], "nextPageToken": "a/b"},
                    page(1000, "", "a%2Fb"): {"jobs": [job("two", 8)]},
                    page(1000, "NOT%20" + ended, ""): {"jobs": [job("one", 9)], "nextPageToken": "a/b"},
                    page(1000, "NOT%20" + ended, "a%2Fb"): {"jobs": [job("two", 5)]},
                    page(20, ended, ""): {"jobs": [job("three", 7)], "nextPageToken": "c"},
                    page(20, ended, "c"): {"jobs": [job("four", 6)]}}) as other:
        at = ["--endpoint", f"http://127.0.0.1:{other.server_port}", "-o", "name"]
        assert user("jobs", "--all", *at) == "one\ntwo\n"
        assert user("jobs", *at) == "one\nthree\ntwo\n"


def test_other_servers_are_told_from_a_daemon(user):
    """Fails with: clock_ask() that is content with any status; line_print() without text_make_harmless()."""
    with answering({"/healthz": {"status": "ok"}}) as other:
        assert "is not trainyard" in user("status", "--endpoint", f"http://127.0.0.1:{other.server_port}", code=1)
    with answering({"/healthz": {"status": "degraded", "reason": "\x1b[2J\u009b2J", "version": "1\n2"},
                    "/_trainyard/v1/clock": {"now": "\x1b]0;x\x07"}}) as other:
        said = user("status", "--endpoint", f"http://127.0.0.1:{other.server_port}")
    assert "[2J" in said and not set("\x1b\x07\u009b") & set(said) and len(said.splitlines()) == 4


def test_a_wait_has_an_end(user):
    """Fails with: status_main() without its time: it looked for ever; without client_limit(): a silent server kept it; and with
    a time but without --wait it looked again and again."""
    for most in ("0.3s", "0"):
        assert "no daemon answers" in user("status", "--wait", "--timeout", most, "--endpoint", "http://127.0.0.1:1", code=124)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        for more in [], ["--wait"]:
            assert "did not answer in time" in user("status", *more, "--timeout", "0.3s", code=124,
                                                    TRAINYARD_ENDPOINT="http://127.0.0.1:%d" % silent.getsockname()[1])
    began = time.monotonic()
    assert "no daemon answers" in user("status", "--timeout", "20s", "--endpoint", "http://127.0.0.1:1", code=3)
    assert time.monotonic() - began < 15


@pytest.mark.long
def test_a_wait_finds_the_daemon_that_starts_meanwhile(user):
    """Fails with: status_main() that asks once where the daemon serves: it waited where the last one did."""
    with socket.create_server(("127.0.0.1", 0)) as before:
        user.state.mkdir(mode=0o700)
        (user.state / "address").write_text("http://127.0.0.1:%d\n" % before.getsockname()[1])  # of a daemon that wrote no process
        waiting = subprocess.Popen([program(), "status", "--wait", "-o", "name"], stdout=subprocess.PIPE, text=True, env=user.environment)
        before.settimeout(30)
        before.accept()[0].close()
    user("start", "--listen", "127.0.0.1:0")
    assert waiting.communicate(timeout=90)[0] == user("status", "-o", "name")
    assert waiting.returncode == 0


def test_a_state_directory_names_its_daemon(user, tmp_path):
    """Fails with: client_of() without --state-dir; with it but after $TRAINYARD_ENDPOINT."""
    user("start", "--listen", "127.0.0.1:0")
    endpoint = user("status", "-o", "name")
    (tmp_path / "conf").write_text(f"state-dir = {user.state}\n")
    for named in ["--state-dir", str(user.state)], ["--config", str(tmp_path / "conf")]:
        assert endpoint == user("status", "-o", "name", *named, TRAINYARD_STATE_DIR="", TRAINYARD_ENDPOINT="http://127.0.0.1:1")


def test_two_starts_at_once_are_one(user):
    """Fails with: other_wait() left out: the second one said that the directory is in use, with 125."""
    words = [program(), "start", "--listen", "127.0.0.1:0"]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=user.environment) for _ in range(2)]
    said = [process.communicate(timeout=60)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    addresses = {re.search(r"http://\S+ \(process \d+", text).group() for text in said}
    assert len(addresses) == 1 and sum("already" in text for text in said) == 1


def test_a_daemon_has_nothing_of_the_terminal_it_was_started_from(user):
    """Fails with: closefrom() left out of daemon_child_begin(): the pipe stayed open. descriptors_fill() left out: the log's
    number was 0, and it was lost."""
    ours, its = os.pipe()
    done = subprocess.run(["sh", "-c", '"$0" start --listen 127.0.0.1:0 <&- >&-', program()], pass_fds=[its], timeout=60,
                          env=user.environment, stderr=subprocess.PIPE, text=True)
    os.close(its)
    assert done.returncode == 1  # its output could not be written
    assert select.select([ours], [], [], 10)[0] and os.read(ours, 1) == b""
    os.close(ours)
    pid = int((user.state / "lock").read_text())
    with open(f"/proc/{pid}/comm") as comm:
        assert comm.read() == "trainyard\n"
    assert os.getsid(pid) == pid
    user("stop")
    assert "stopping" in (user.state / "daemon.log").read_text()


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="to be another user takes root and setpriv")
def test_what_cannot_be_seen_is_told(user, tmp_path):
    """Fails with: state_dir_holder() that takes each failure to open the lock for no daemon."""
    top = pathlib.Path(tempfile.mkdtemp(prefix="tyu", dir="/tmp"))
    top.chmod(0o755)
    shutil.copy(program(), top / "trainyard")
    (top / "state").mkdir(mode=0o700)
    try:
        for verb in "stop", "start":
            done = subprocess.run(["setpriv", "--reuid=4242", "--regid=4242", "--clear-groups", top / "trainyard", verb,
                                   "--state-dir", top / "state"], capture_output=True, text=True, timeout=60)
            assert "Permission denied" in done.stderr and done.returncode == (1 if verb == "stop" else 125), done
    finally:
        shutil.rmtree(top)


def completed_by_bash(script, *typed):
    code = (f"{script}\nCOMP_WORDS=(trainyard {' '.join(typed)} '')\nCOMP_CWORD={len(typed) + 1}\n_trainyard\n"
            "echo ${COMPREPLY[@]}")
    return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()


def test_completions_are_what_the_verbs_take(user):
    """Completion in bash itself. Fails with: options_each() without the configuration's; bash_values() left out; the search for
    -- left out."""
    script = user("completion", "bash")

    def words(*typed):
        return completed_by_bash(script, *typed)

    assert {"exec", "start", "stop", "status", "serve", "help"} <= set(words()) == set(words("help"))
    assert not words("help", "jobs")
    assert "--accelerators" in words("serve") and "--shell" in words("env") and "--endpoint" in words("status")
    assert words("completion")[:3] == ["bash", "zsh", "fish"] and words("status", "-o") == ["table", "json", "name"]
    assert words("env", "--shell") == words("env", "--shell", "=") == ["sh", "fish", "github"]
    assert words("serve", "--log-level") == ["error", "warning", "info", "debug"] and words("serve", "--wheels") == []
    assert "cat" in words("exec", "--") and words("exec", "--", "cat") == []
    assert "unknown" not in user("completion", "csh", code=2)


@pytest.mark.parametrize("shell, code", [
    ("zsh", 'source =(trainyard completion zsh) && [[ ${_comps[trainyard]} == *_trainyard* ]] && echo "sh fish github"'),
    ("fish", "trainyard completion fish | source; complete -C 'trainyard env --shell ' | cut -f1")])
def test_other_shells_take_the_completions(user, shell, code):
    """Fails with: zsh_write() without compinit: "command not found: compdef". fish_word() without values: files."""
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not there")
    path = f"{os.path.dirname(program())}:{os.environ['PATH']}"
    options = ["-f"] if shell == "zsh" else ["--no-config"]
    done = subprocess.run([shell, *options, "-c", code], capture_output=True, text=True, timeout=60,
                          env={**user.environment, "PATH": path})
    assert sorted(done.stdout.split()) == ["fish", "github", "sh"] and not done.stderr, done


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not there")
def test_zsh_completes_what_is_typed(user):
    """In an interactive zsh. Fails with: bash_write() without first: zsh, which leaves --name=value one word, completed no
    value."""
    path = f"{os.path.dirname(program())}:{os.environ['PATH']}"
    pid, fd = pty.fork()
    if pid == 0:
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**user.environment, "PATH": path, "TERM": "xterm", "PS1": "% "})

    def typed(keys, shown):
        os.write(fd, keys.encode())
        said, end = "", time.monotonic() + 30
        while shown not in said:
            assert select.select([fd], [], [], max(0, end - time.monotonic()))[0], (keys, said)
            said += os.read(fd, 65536).decode(errors="replace")
        return said

    try:
        typed("autoload -U compinit; compinit -u -D; source =(trainyard completion zsh); echo ta''ken\n", "taken")
        for keys, shown in [("trainyard desc\t", "describe"), ("trainyard help desc\t", "describe"), ("trainyard env --she\t", "--shell"),
                            ("trainyard env --shell gi\t", "github"), ("trainyard serve --log-level=wa\t", "warning"),
                            ("trainyard exec -- trainya\t", "trainyard exec -- trainyard")]:
            assert "\a" not in typed("\x15" + keys, shown), keys
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(fd)


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not there")
def test_fish_completes_another_command_behind_two_dashes(user, tmp_path):
    """Fails with: __trainyard_behind left out: no command was offered. __trainyard_verb that takes any word, or does not look for
    --: words of completion were offered to the other program."""
    (tmp_path / "a-file").touch()
    path = f"{os.path.dirname(program())}:{os.environ['PATH']}"

    def words(typed):
        done = subprocess.run(["fish", "--no-config", "-c", f"trainyard completion fish | source; complete -C \"{typed}\" | cut -f1"],
                              capture_output=True, text=True, timeout=60, env={**user.environment, "PATH": path}, cwd=tmp_path)
        assert not done.stderr, done
        return done.stdout.split()

    assert {"status", "serve"} <= set(words("trainyard s")) and "--endpoint" in words("trainyard status --end")
    assert words("trainyard help s") == words("trainyard s") and "help" in words("trainyard h")
    assert words("trainyard completion ") == ["bash", "fish", "zsh"]
    assert "cat" in words("trainyard exec -- ca") and "cat" in words("trainyard exec --grpc 127.0.0.1:0 -- ca")
    assert words("trainyard exec -- cat 'a b' a-") == ["a-file"]
    assert words("trainyard exec -- trainyard completion ") == ["bash", "fish", "zsh"]
    assert words("trainyard completion -- cat a") == words("trainyard exec completion a-") == ["a-file"]
    assert "zsh" not in words("trainyard completion -- cat ") + words("trainyard exec -- cat completion ")


def test_help_tells_the_defaults_that_hold(user):
    """Fails with: config_help_write() without the lists: exec told of port 8090."""
    told = " ".join(user("exec", "--help").split())
    assert "(default 127.0.0.1:0)" in told and "8090" not in told and "debug (default warning)" in told
    assert "(default 127.0.0.1:8090)" in " ".join(user("serve", "--help").split())


def test_exit_codes_are_one_table(user):
    told = dict(re.findall(r"^  (\d+) +(.+)$", user("--help").split("Exit codes\n")[1], re.MULTILINE))
    manual = (pathlib.Path(__file__).parents[2] / "deploy/man/trainyard.1").read_text()
    rows = dict(re.findall(r"^\.It (\d+)\n(.+)$", manual.split(".Sh EXIT STATUS")[1].split(".El")[0], re.MULTILINE))
    assert told == rows and list(told) == ["0", "1", "2", "3", "4", "124", "125", "130"]


def test_help_fits_80_columns_and_has_groups(user):
    """tests/unit/daemon/cli/test_invocation.c looks at the help of each command."""
    told = user("--help")
    heads = [row for row in told.splitlines()[1:] if row and row[0] != " "]
    assert heads == ["The daemon", "Jobs", "Queue", "Cloud Storage", "Tests and state", "This machine",
                     "Each command has its own --help.", "Exit codes"]
    assert not [row for row in told.splitlines() if len(row) > 80]
    told = user("serve", "--help")
    heads = [row for row in told.splitlines()[6:] if row and row[0].isupper()]
    assert heads[:3] == ["Where it serves", "State and engine", "Project"] and "\n\n\n" not in told
    assert "Where it serves" not in user("stop", "--help")
    assert "\n\nWhere it serves\n" in user("exec", "--help") and "\n\n\n" not in user("exec", "--help")


def test_a_daemon_that_wrote_no_process_down_runs_already(user):
    """Fails with: other_wait() that wants the process in the file: it waited for two minutes, and said that the directory is
    taken."""
    user("start", "--listen", "127.0.0.1:0")
    address = user.state / "address"
    url = address.read_text().splitlines()[0]
    address.write_text(url + "\n")
    assert f"already runs at {url} (process " in user("start")
