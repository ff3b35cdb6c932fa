# SPDX-License-Identifier: Apache-2.0
"""`trainyard start`, `stop`, `status` and `completion`: the user's daemon without a terminal."""
import http.server
import json
import os
import socket
import subprocess
import threading

import pytest

from support.daemon import program


@pytest.fixture
def user(engine, tmp_path):
    """Runs the program as a user whose state is below tmp_path; what it started is ended."""
    environment = {**os.environ, "DOCKER_HOST": engine.host, "TRAINYARD_STATE_DIR": str(tmp_path / "state"),
                   "TRAINYARD_NETWORKS": "10.249.0.0/20"}
    environment.pop("TRAINYARD_ENDPOINT", None)

    def run(*words, code=0):
        done = subprocess.run([program(), *words], capture_output=True, text=True, timeout=60, env=environment)
        assert done.returncode == code, done
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
        return done.stderr if code else done.stdout

    run.state = tmp_path / "state"
    yield run
    run("stop")


def test_a_daemon_is_started_told_of_and_stopped(user):
    """Broken: state_dir_holder() that is always 0: a second one was tried, and stop found none."""
    assert "no daemon runs" in user("stop")
    assert "no daemon answers" in user("status", "--endpoint", "http://127.0.0.1:1", code=3)
    said = user("start", "--listen", "127.0.0.1:0")
    assert "trainyard runs at http://127.0.0.1:" in said
    assert "already runs at http://127.0.0.1:" in user("start")
    told = json.loads(user("status", "--wait", "-o", "json"))
    assert told["status"] == "ok" and told["engine"]["reachable"] and told["endpoint"] in said
    assert told["endpoint"] in user("status") and user("status", "-o", "name") == told["endpoint"] + "\n"
    assert "has ended" in user("stop")
    assert "no daemon runs" in user("stop")
    assert "stopping" in (user.state / "daemon.log").read_text()


def test_a_daemon_that_does_not_start_says_why(user):
    """Broken: log_show() left out: the reason was in the file alone."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        assert address in user("start", "--listen", address, code=125)
    assert "/nonexistent" in user("start", "--listen", "127.0.0.1:0", "--wheels", "/nonexistent", code=2)
    assert "--listn" in user("start", "--listn", "x", code=2)


class Answers(http.server.BaseHTTPRequestHandler):
    """Another program's server: notes who authorizes itself."""
    def do_GET(self):
        self.server.seen.append(self.headers.get("Authorization"))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def test_a_token_goes_to_its_own_daemon_alone(user, tmp_path):
    """Broken: daemon_find() that takes the written token for any endpoint: the other server saw it."""
    (tmp_path / "token").write_text("secret-of-this-daemon\n")
    (tmp_path / "token").chmod(0o600)
    user("start", "--listen", "127.0.0.1:0", "--token-file", str(tmp_path / "token"))
    assert json.loads(user("status", "-o", "json"))["engine"]["reachable"]  # by the token that start wrote down
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as other:
        other.seen = []
        threading.Thread(target=other.serve_forever, daemon=True).start()
        assert "is no trainyard" in user("status", "--endpoint", f"http://127.0.0.1:{other.server_port}", code=1)
        other.shutdown()
    assert other.seen == [None]


def test_a_wait_has_an_end(user):
    """Broken: status_main() without its time: it looked for ever."""
    assert "no daemon answers" in user("status", "--wait", "--timeout", "0.3s", "--endpoint", "http://127.0.0.1:1", code=124)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completions_are_what_the_verbs_take(user, shell):
    """In bash itself. Broken: options_each() without the configuration's."""
    script = user("completion", shell).replace("autoload -U +X bashcompinit && bashcompinit\n", "")

    def words(*typed):
        code = f"{script}\nCOMP_WORDS=(trainyard {' '.join(typed)} '')\nCOMP_CWORD={len(typed) + 1}\n_trainyard\necho ${{COMPREPLY[@]}}"
        return subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True).stdout.split()

    assert {"exec", "start", "stop", "status", "serve"} <= set(words())
    assert "--accelerators" in words("serve") and "--shell" in words("env") and "--endpoint" in words("status")
    assert "unknown" not in user("completion", "csh", code=2)
