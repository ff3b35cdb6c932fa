# SPDX-License-Identifier: Apache-2.0
"""The interactive shell of a replica, offered while a job with web access runs: used by HTTP and in a browser."""
import hashlib
import http.client
import pathlib
import shutil
import subprocess
import urllib.parse

import pytest

from support.browser import Browser, chromium
from support.custom_jobs import CustomJobs, pool
from support.daemon import distributed, script
from support.wait import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
UNTIL_CANCELLED = "trap 'exit 0' TERM; sleep 600 & wait"


class Output:
    """The output of a session; the shell lives as long as it is read."""

    def __init__(self, yard, uri, session, **more):
        self.connection = http.client.HTTPConnection("127.0.0.1", yard.port, timeout=30)
        query = urllib.parse.urlencode({"session": session, **more})
        self.connection.request("GET", f"{path_of(uri)}output?{query}")
        self.response = self.connection.getresponse()
        self.seen = b""

    def until(self, text):
        """Reads until `text` was printed."""
        while text not in self.seen:
            data = self.response.read1(4096)
            assert data, f"the shell ended without {text!r}: {self.seen!r}"
            self.seen += data

    def rest(self):
        self.seen += self.response.read()
        return self.seen

    def close(self):
        self.response.close()
        self.connection.close()


def path_of(uri):
    return urllib.parse.urlsplit(uri).path


def shells(yard, job_id):
    return yard.job(job_id).get("trainingOutput", {}).get("webAccessUris", {})


@pytest.fixture(scope="module")
def job(yard):
    """A running job with web access."""
    job_id = yard.create(distributed(UNTIL_CANCELLED, worker=UNTIL_CANCELLED, workers=2, ps=UNTIL_CANCELLED, ps_count=1,
                                     evaluator=UNTIL_CANCELLED, evaluators=1, enableWebAccess=True))
    yard.until(job_id, "RUNNING")
    yield job_id
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED")


def type_into(yard, uri, session, text):
    answer = yard.post(f"{path_of(uri)}input?session={session}", text.encode())
    assert (answer.status, answer.json) == (200, {}), answer


def test_each_replica_has_an_address_of_its_own(yard, job):
    uris = shells(yard, job)
    assert sorted(uris) == ["evaluator-replica-0", "master-replica-0", "ps-replica-0", "worker-replica-0",
                            "worker-replica-1"]
    assert len(set(uris.values())) == 5
    assert all(uri.startswith(f"{yard.base}/_trainyard/shell/") for uri in uris.values())


def test_the_addresses_of_a_custom_job_lead_to_shells(yard):
    jobs = CustomJobs(yard)
    job_id = jobs.create(pool(UNTIL_CANCELLED), enableWebAccess=True)
    wait_until(lambda: jobs.job(job_id)["state"] == "JOB_STATE_RUNNING", 60)
    uris = jobs.job(job_id)["webAccessUris"]
    assert list(uris) == ["workerpool0-0"]
    assert yard.get(path_of(uris["workerpool0-0"])).status == 200
    jobs.cancel(job_id)


@pytest.mark.long
def test_a_replica_that_was_restarted_keeps_its_address(yard):
    job_id = yard.create(distributed(UNTIL_CANCELLED, worker="exec sleep 1000", workers=1, enableWebAccess=True))
    try:
        yard.until(job_id, "RUNNING")
        uri = shells(yard, job_id)["worker-replica-0"]
        lost = yard.container(job_id, "worker-0")
        yard.engine.kill(lost, "SIGTERM")
        wait_until(lambda: yard.container(job_id, "worker-0") != lost, 60, "the worker has another container")
        output = Output(yard, uri, "again")
        type_into(yard, uri, "again", "echo in $(hostname | cut -d- -f3)\n")
        output.until(b"in worker")
        output.close()
    finally:
        yard.cancel(job_id)
        yard.until(job_id, "CANCELLED")


@pytest.mark.parametrize("replica", ["master-replica-0", "worker-replica-1"])
def test_a_command_is_run_beside_the_replicas_program(yard, job, replica):
    uri = shells(yard, job)[replica]
    output = Output(yard, uri, "s1", columns=91, rows=33)
    try:
        assert (output.response.status, output.response.headers["Content-Type"]) == (200, "application/octet-stream")
        type_into(yard, uri, "s1", "hostname; echo $((6 * 7)):; stty size\n")
        output.until(b"33 91")
        role, index = replica.split("-replica-")
        assert f"-{role}-".encode() in output.seen and b"\r\n42:\r\n" in output.seen
        type_into(yard, uri, "s1", "tr '\\0' ' ' </proc/1/cmdline\n")
        output.until(b"trap 'exit 0' TERM")
        answer = yard.request("POST", f"{path_of(uri)}resize?session=s1&columns=70&rows=21")
        assert answer.status == 200, answer
        type_into(yard, uri, "s1", "stty size; exit\n")
        assert b"21 70" in output.rest()
    finally:
        output.close()
    assert yard.post(f"{path_of(uri)}input?session=s1", b"x").status == 404


def test_what_is_typed_arrives_byte_for_byte(yard, job):
    """Includes the keys that detach a client from a container: ctrl-p, ctrl-q."""
    uri = shells(yard, job)["master-replica-0"]
    data = b"\x10\x11\x10\x10\x11" + bytes(range(256)) * 64 + b"\x10"
    output = Output(yard, uri, "bytes")
    try:
        type_into(yard, uri, "bytes", f"stty raw -echo; echo ready:; head -c {len(data)} | md5sum; stty sane\n")
        output.until(b"\nready:")
        assert yard.post(f"{path_of(uri)}input?session=bytes", data).status == 200
        output.until(hashlib.md5(data).hexdigest().encode())
        type_into(yard, uri, "bytes", "exit\n")
        output.rest()
    finally:
        output.close()


def test_a_shell_ends_when_its_client_leaves(yard, job):
    uri = shells(yard, job)["master-replica-0"]
    output = Output(yard, uri, "s2")
    container = yard.container(job, "master-0")
    type_into(yard, uri, "s2", "sleep 98765 & echo started:\n")
    output.until(b"\nstarted:")
    output.close()

    def gone():
        listed = yard.engine.call("GET", f"/containers/{container}/top")["Processes"]
        return not any("98765" in " ".join(process) for process in listed)
    wait_until(gone, 20, "the shell and what it started are gone")


def test_an_address_that_is_not_whole_opens_nothing(yard, job):
    path = path_of(shells(yard, job)["master-replica-0"])
    for wrong in (path[:-3] + ("ab/" if path[-3:] != "ab/" else "ba/"), path.replace("-master-", "-worker-"), path.replace("-0-", "-1-"), "/_trainyard/shell/x/"):
        for answer in (yard.get(wrong), yard.get(wrong + "output?session=a"), yard.post(wrong + "input?session=a", b"x")):
            assert (answer.status, answer.error["status"]) == (404, "NOT_FOUND"), answer


def test_other_sites_cannot_use_it(yard, job):
    path = path_of(shells(yard, job)["master-replica-0"])
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "evil.example"}):
        assert yard.request("POST", path + "input?session=a", b"x", headers).status == 403
        assert yard.request("GET", path, headers=headers).status == 403


def test_a_job_that_did_not_ask_has_none(yard):
    job_id = yard.create(script(UNTIL_CANCELLED))
    yard.until(job_id, "RUNNING")
    assert shells(yard, job_id) == {}
    yard.cancel(job_id)
    yard.until(job_id, "CANCELLED")


def test_the_addresses_go_with_the_job(yard):
    job_id = yard.create(script(UNTIL_CANCELLED, enableWebAccess=True))
    yard.until(job_id, "RUNNING")
    uri = shells(yard, job_id)["master-replica-0"]
    output = Output(yard, uri, "s3")
    type_into(yard, uri, "s3", "echo here:\n")
    output.until(b"\nhere:")
    yard.cancel(job_id)
    output.rest()
    output.close()
    yard.until(job_id, "CANCELLED")
    assert yard.get(path_of(uri)).status == 404
    assert "webAccessUris" not in yard.job(job_id).get("trainingOutput", {})


def test_addresses_outlive_the_daemon_and_shells_do_not(new_daemon):
    daemon = new_daemon("--offline", "--stop-grace", "2").start()
    job_id = daemon.create(script(UNTIL_CANCELLED, enableWebAccess=True))
    daemon.until(job_id, "RUNNING")
    path = path_of(shells(daemon, job_id)["master-replica-0"])
    output = Output(daemon, path, "s4")
    type_into(daemon, path, "s4", "echo here:\n")
    output.until(b"\nhere:")
    daemon.stop(timeout=20)
    output.close()
    daemon.start()
    assert path_of(shells(daemon, job_id)["master-replica-0"]) == path
    assert daemon.get(path).status == 200
    daemon.cancel(job_id)
    daemon.until(job_id, "CANCELLED")


def test_curl_is_enough(yard, job):
    if not shutil.which("curl"):
        pytest.skip("there is no curl")
    uri = shells(yard, job)["master-replica-0"]
    reader = subprocess.Popen(["curl", "-sSN", f"{uri}output?session=c"], stdout=subprocess.PIPE)
    assert reader.stdout.read(1)
    subprocess.run(["curl", "-sS", "--fail", "--data-binary", "@-", f"{uri}input?session=c"], check=True,
                   input=b"echo $((6 * 7)):; exit\n", stdout=subprocess.DEVNULL)
    printed = reader.stdout.read()
    assert b"\r\n42:\r\n" in printed and reader.wait(20) == 0, printed


def test_the_pages_terminal_understands_programs():
    if not shutil.which("node"):
        pytest.skip("there is no node")
    done = subprocess.run(["node", "--test", str(ROOT / "tests/unit/api/emulator/test_screen.js")], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 0, done.stdout[-6000:]


SHOWN = "(document.getElementById('terminal')?.innerText ?? '')"


@pytest.mark.long
def test_a_browser_shows_it(yard, job, tmp_path):
    if not chromium():
        pytest.skip("there is no chromium")
    uri = shells(yard, job)["worker-replica-0"]
    with Browser(tmp_path / "profile") as browser:
        browser.open(uri.rstrip("/"))
        browser.until(f"{SHOWN}.includes('#')")
        browser.type("echo $((6 * 7)):; printf '\\033[31mred\\033[0m\\n'\n")
        browser.until(f"{SHOWN}.includes('\\n42:')")
        assert browser.value("[...document.querySelectorAll('span')].some("
                             "span => span.textContent === 'red' && span.style.color)")
        browser.type("for i in $(seq 100); do echo line $i; done; tty | tr t T\n")
        browser.until(f"{SHOWN}.includes('line 1\\n') && {SHOWN}.includes('line 100\\n') && {SHOWN}.includes('/dev/pTs')")
        browser.type("exit\n")
        browser.until("document.getElementById('notice').innerText.includes('The shell has ended.')")
        browser.value("document.querySelector('#notice button').click()")
        browser.until(f"{SHOWN}.includes('#') && !document.getElementById('notice').innerText")
        assert browser.complaints() == []
        # A page of another site can neither embed this page nor call it.
        browser.open("data:text/html,<h1>elsewhere</h1>")
        browser.until("document.body && document.body.innerText === 'elsewhere'")
        refused = browser.value(f"fetch('{uri}input?session=a', {{method: 'POST', mode: 'no-cors', body: 'x'}})"
                                ".then(answer => answer.type, () => 'failed')")
        assert refused in ("opaque", "failed")
