# SPDX-License-Identifier: Apache-2.0
"""`trainyard ui`: which link it opens or prints. tests/console tests the page itself."""
import http.server
import json
import os
import subprocess
import threading

import pytest

from support.daemon import program, script
from support.verbs import environment, verb

TOP = "/_trainyard/console/"
TOKEN = "a+token/of-some_length=="


def ui(daemon, tmp_path, *words, opener="echo \"$@\" > opened", display=":0", token=None):
    """Runs the command; returns what it prints, its exit code, and the link that it gave to xdg-open (None: xdg-open was not
    run)."""
    place = tmp_path / "bin"
    place.mkdir(exist_ok=True)
    if opener:
        (place / "xdg-open").write_text(f"#!/bin/sh\ncd '{tmp_path}' && {opener}\n")
        (place / "xdg-open").chmod(0o755)
    quiet = {name: value for name, value in environment(daemon).items() if name not in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")}
    done = subprocess.run([program(), "ui", *words], capture_output=True, text=True, timeout=60,
                          env={**quiet, "PATH": str(place) if not opener else f"{place}:{os.environ['PATH']}", **({"DISPLAY": display} if display else {}),
                               **({"TRAINYARD_TOKEN": token} if token else {})})
    opened = tmp_path / "opened"
    return done.stdout + done.stderr, done.returncode, opened.read_text().strip() if opened.exists() else None


@pytest.fixture
def locked(new_daemon, tmp_path):
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(0o600)
    daemon = new_daemon("--offline", "--token-file", str(path))
    daemon.token = TOKEN
    return daemon.start()


def test_the_browser_is_asked_to_open_the_console_or_a_job(yard, tmp_path):
    assert ui(yard, tmp_path) == (f"The browser is asked to show {yard.base}{TOP}\n", 0, yard.base + TOP)
    job = yard.create(script("exit 0"))
    yard.until(job, "SUCCEEDED")
    assert ui(yard, tmp_path, "@last")[2] == f"{yard.base}{TOP}jobs/{yard.project}/{job}"
    # Fails with: job_write() without its line of the console.
    page = f"{yard.base}{TOP}jobs/{yard.project}/{job}"
    assert page in verb(yard, "describe", job) and json.loads(verb(yard, "describe", job, "-o", "json"))["console"] == page
    assert "No job" in verb(yard, "ui", "nosuchjob", code=1)


# Fails with: link_open() that says true of each program that was started.
@pytest.mark.parametrize("how", [{"display": None}, {"opener": "exit 3"}, {"opener": None}], ids=str)
def test_where_there_is_no_browser_the_link_is_printed(yard, tmp_path, how):
    assert ui(yard, tmp_path, **how) == (f"{yard.base}{TOP}\n", 0, None)


def test_print_opens_nothing(yard, tmp_path):
    assert ui(yard, tmp_path, "--print") == (f"{yard.base}{TOP}\n", 0, None)


# Fails with: link_show() that opens what it prints: other users read command lines.
def test_what_is_opened_has_a_ticket_and_what_is_printed_the_token(locked, tmp_path):
    told, code, opened = ui(locked, tmp_path, token=TOKEN)
    assert code == 0 and told == f"The browser is asked to show {locked.base}{TOP}\n", told
    page, _, ticket = opened.partition("#ticket=")
    assert page == locked.base + TOP and TOKEN not in opened
    assert ui(locked, tmp_path, "--print", token=TOKEN)[0] == f"{locked.base}{TOP}#token=a%2Btoken%2Fof-some_length%3D%3D\n"
    locked.token = None
    session = TOP + "session"
    assert "proof" in locked.request("POST", session, headers={"X-Trainyard-Ticket": ticket}).json
    assert locked.request("POST", session, headers={"X-Trainyard-Ticket": ticket}).status == 401


def test_failures_are_told(locked, tmp_path, new_daemon):
    told, code, opened = ui(locked, tmp_path, token="another-token-of-some-length")
    assert code == 1 and "does not accept this token" in told and opened is None
    base = locked.base
    locked.stop()
    done = subprocess.run([program(), "ui", "--endpoint", base], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and "no daemon answers" in done.stderr
    done = subprocess.run([program(), "ui", "--endpoint", "unix:/nowhere"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "a browser cannot open" in done.stderr and done.stderr.count("\n") == 1


class WithoutConsole(http.server.BaseHTTPRequestHandler):
    """Answers like a program that was built with ./configure --without-console."""
    def do_POST(self):
        body = b'{"error": {"code": 404, "message": "Method not found: POST /_trainyard/console/ticket.", "status": "NOT_FOUND"}}'
        self.send_response(404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_daemon_without_the_console_is_told_of():
    server = http.server.HTTPServer(("127.0.0.1", 0), WithoutConsole)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    done = subprocess.run([program(), "ui", "--endpoint", f"http://127.0.0.1:{server.server_port}"], capture_output=True, text=True, timeout=60)
    thread.join()
    server.server_close()
    assert done.returncode == 1 and "was built without the console" in done.stderr
