# SPDX-License-Identifier: Apache-2.0
"""`trainyard doctor`: what this machine lacks for jobs, and what to do."""
import json
import os
import socket
import subprocess

import pytest

from support.daemon import program
from support.engine import NO_ENGINE
from support.verbs import on_terminal

CLEAN = ("CLOUDSDK_", "GOOGLE_", "STORAGE_", "TRAINYARD_")
PROXIES = {"http_proxy", "https_proxy", "no_proxy", "all_proxy"}


def environment(**more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(CLEAN) and k.lower() not in PROXIES}
    return {**kept, "TERM": "xterm", **more}


def doctor(*words, code, **more):
    done = subprocess.run([program(), "doctor", *words], capture_output=True, text=True, timeout=60, env=environment(**more))
    assert done.returncode == code, done
    assert "Sanitizer" not in done.stderr, done.stderr
    return done.stdout


def findings(*words, code, **more):
    return {found["check"]: found for found in json.loads(doctor("-o", "json", *words, code=code, **more))}


@pytest.fixture(scope="module")
def options(yard):
    return ["--engine", yard.engine.host, "--state-dir", str(yard.state_dir)]


def test_a_machine_that_has_all_is_good(yard, options):
    """Fails with: engine_ask() that reads no answer of the engine: it was bad."""
    told = findings(*options, code=0)
    assert {found["verdict"] for found in told.values()} <= {"good", "note"}
    assert "Engine" in told["engine"]["text"] and "CPUs" in told["engine"]["text"]
    assert f"serves at {yard.base}" in told["daemon"]["text"]
    assert told["clients"]["verdict"] == "note" and told["clients"]["advice"] == 'eval "$(trainyard env)"'
    pointed = findings(*options, code=0, **yard.client_environment())
    assert pointed["clients"]["verdict"] == "good" and pointed["identity"]["verdict"] == "good", pointed
    assert "mend" not in doctor(*options, code=0)


def test_what_is_wrong_has_an_advice(yard, options, tmp_path):
    told = findings("--engine", NO_ENGINE.host, "--state-dir", str(tmp_path), code=1)
    assert told["engine"]["verdict"] == "bad" and "--engine" in told["engine"]["advice"]
    assert told["daemon"] == {"check": "daemon", "verdict": "note", "text": f"none runs on {tmp_path}", "advice": "trainyard start"}
    elsewhere = findings(*options, code=1, CLOUDSDK_API_ENDPOINT_OVERRIDES_ML="https://ml.googleapis.com/",
                         GOOGLE_APPLICATION_CREDENTIALS="/no/such/file", HTTPS_PROXY="http://proxy:1")
    assert [name for name, found in elsewhere.items() if found["verdict"] == "bad"] == ["clients", "identity", "proxy"]
    assert "ml.googleapis.com" in elsewhere["clients"]["text"] and "no_proxy='127.0.0.1" in elsewhere["proxy"]["advice"]
    assert doctor(*options, "-o", "name", code=1, HTTPS_PROXY="http://proxy:1") == "proxy\n"


def test_another_daemon_that_answers_is_as_good(yard, options, new_daemon):
    """Fails with: url_choose() without TRAINYARD_ENDPOINT: each variable of the second daemon was bad."""
    second = new_daemon(engine=NO_ENGINE).start()
    told = findings(*options, code=0, **{**second.client_environment(), "TRAINYARD_ENDPOINT": second.base})["clients"]
    assert told["verdict"] == "good" and f"are led to {second.base}" in told["text"] and "another daemon" in told["text"], told
    alone = findings(*options, code=0, TRAINYARD_ENDPOINT=second.base)["clients"]
    assert alone["verdict"] == "note" and alone["advice"] == 'eval "$(trainyard env --state-dir DIR)"', alone
    second.stop()
    told = findings(*options, code=1, TRAINYARD_ENDPOINT=second.base)["clients"]
    assert told["verdict"] == "bad" and f"TRAINYARD_ENDPOINT leads to {second.base}" in told["text"] and yard.base in told["advice"], told


def test_a_port_that_is_taken_is_told(yard, tmp_path):
    """Fails with: port_is_free() that asks nothing: serve failed on what doctor called free."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        told = findings("--engine", yard.engine.host, "--state-dir", str(tmp_path), code=1, TRAINYARD_LISTEN=listen)
        assert told["port"]["verdict"] == "bad" and "in use" in told["port"]["text"] and "--listen" in told["port"]["advice"]
    told = findings("--engine", yard.engine.host, "--state-dir", str(tmp_path), code=0, TRAINYARD_LISTEN=listen)
    assert told["port"]["text"] == f"{listen} is free"


def test_it_fits_a_terminal(yard, options):
    drawn, code = on_terminal(yard, "doctor", *options, env={"HTTPS_PROXY": "http://proxy:1", "NO_COLOR": "1"})
    rows = drawn.splitlines()
    assert code == 1 and "thing" in rows[-1] and "to mend." in rows[-1]
    assert all(len(row) <= 80 for row in rows if "/" not in row), drawn
    assert rows[0].startswith("good  engine     ")
