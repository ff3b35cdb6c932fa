# SPDX-License-Identifier: Apache-2.0
"""--route: calls that programs in jobs make to Google's hosts go to an emulator or to this daemon; other calls are
reported."""
import contextlib
import http.server
import json
import os
import socket
import ssl
import subprocess
import threading

import pytest

from support.daemon import one_replica, script
from support.engine import RUNTIME, ensure_runtime_images
from support.marks import long

BASIC = ["--offline", "--stop-jobs", "--stop-grace", "1"]
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a gateway has port 443 only as root")

# Each line makes one call by a host's name, and prints the result.
CALLS = """
import socket, ssl, sys, time, urllib.request, urllib.error
def get(url):
    try:
        with urllib.request.urlopen(url, timeout=50) as answer:
            return answer.status, answer.read(60).decode().split("\\n")[0]
    except urllib.error.HTTPError as error:
        return error.code, ""
def hear(host, protocols, text):
    context = ssl.create_default_context()
    context.set_alpn_protocols(protocols)
    with context.wrap_socket(socket.create_connection((host, 443), 20), server_hostname=host) as tls:
        tls.sendall(text)
        return tls.selected_alpn_protocol(), tls.recv(100)
def status(url):
    return get(url)[0]
def fail(url):
    begin = time.monotonic()
    try:
        return get(url)
    except OSError:
        return "failed at once" if time.monotonic() - begin < 20 else "failed late"
H2 = b"PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
for line in sys.argv[1:]:
    print(eval(line))
"""


@pytest.fixture(scope="module")
def python_image(engine):
    ensure_runtime_images(engine)
    return RUNTIME


def calls(*lines, image):
    return one_replica("python3", "-c", CALLS, *lines, image=image)


class Emulator(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = f"{self.headers['Host']} {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def emulator(context=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Emulator)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def echo():
    """Returns a server that records what it receives; it stands for a server of HTTP/2 without TLS."""
    with socket.create_server(("127.0.0.1", 0)) as door:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    with door.accept()[0] as client:
                        client.sendall(client.recv(100))
        threading.Thread(target=serve, daemon=True).start()
        yield door.getsockname()[1]
        door.shutdown(socket.SHUT_RDWR)


def differences(daemon, job, code):
    report = daemon.get(f"/_trainyard{daemon.jobs_path}/{job['jobId']}/report").json
    return [d["text"] for d in report["differences"] if d["code"] == code]


def own_certificate(directory):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                    "/CN=emulator", "-keyout", directory / "key", "-out", directory / "crt"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory / "crt", directory / "key")
    return context


# Fails with: on_called() without routes; forward() that takes every route for a plain one; tls_prepare() that offers "h2" always.
@pytest.mark.parametrize("egress", ["all", long("none")])
def test_a_host_with_a_route_leads_where_it_says(new_daemon, python_image, tmp_path, egress):
    with emulator() as plain, emulator(own_certificate(tmp_path)) as secure, echo() as raw:
        daemon = new_daemon(*BASIC, "--egress", egress, "--route", f"bigquery.googleapis.com=http://127.0.0.1:{plain}",
                            "--route", f"secretmanager.googleapis.com=https://localhost:{secure}",
                            "--route", f"pubsub.googleapis.com=http://127.0.0.1:{raw}",
                            "--route", "spanner.googleapis.com=http://127.0.0.1:9").start()
        job = daemon.run(calls("get('https://bigquery.googleapis.com/bigquery/v2/projects')",
                               "get('https://secretmanager.googleapis.com/v1/a')",
                               "hear('pubsub.googleapis.com', ['h2'], b'PRI')",
                               "hear('pubsub.googleapis.com', ['h2', 'http/1.1'], b'GET')",
                               "fail('https://spanner.googleapis.com/')", image=python_image))
        assert daemon.lines(job["jobId"]) == [
            "(200, 'bigquery.googleapis.com /bigquery/v2/projects')", "(200, 'secretmanager.googleapis.com /v1/a')",
            "('h2', b'PRI')", "('http/1.1', b'GET')", "failed at once"]
        assert differences(daemon, job, "cloud-tried") == []
        assert differences(daemon, job, "call-failed") == [
            "The program called spanner.googleapis.com, which leads to 127.0.0.1:9 (--route), where no server answers: "
            "Connection refused. Start the server, or change the route."]


# Fails with: on_called_plain() without routes; entrance_plain with the kinds of entrance_tls.
@pytest.mark.parametrize("egress", [long("all"), "none"])
def test_a_host_with_a_route_leads_there_without_tls_as_well(new_daemon, python_image, tmp_path, egress):
    with emulator() as plain, emulator(own_certificate(tmp_path)) as secure:
        daemon = new_daemon(*BASIC, "--egress", egress, "--route", f"bigquery.googleapis.com=http://127.0.0.1:{plain}",
                            "--route", f"secretmanager.googleapis.com=https://localhost:{secure}",
                            "--route", "europe-west4-aiplatform.googleapis.com=self").start()
        path = "v1/projects/local-project/locations/europe-west4/customJobs"
        job = daemon.run(calls("get('http://bigquery.googleapis.com/bigquery/v2/projects')",
                               "get('http://secretmanager.googleapis.com/v1/a')",
                               f"get('http://europe-west4-aiplatform.googleapis.com/{path}')",
                               "status('http://metadata.google.internal/')", "status('http://storage.googleapis.com/none/a')",
                               image=python_image))
        assert daemon.lines(job["jobId"]) == [
            "(200, 'bigquery.googleapis.com /bigquery/v2/projects')", "(200, 'secretmanager.googleapis.com /v1/a')",
            "(200, '{}')", "200", "404"]
        assert differences(daemon, job, "cloud-tried") == []


# Fails with: offers_start() without self; without its caller.
def test_a_host_may_lead_to_this_daemon_which_asks_for_its_token(new_daemon, python_image, tmp_path):
    route = ["--route", "*-aiplatform.googleapis.com=self"]
    host = "europe-west4-aiplatform.googleapis.com"
    url = f"https://{host}/v1/projects/local-project/locations/europe-west4/customJobs"
    daemon = new_daemon(*BASIC, *route).start()
    job = daemon.run(calls(f"get('{url}')", f"hear('{host}', ['h2'], H2)[1][3]", image=python_image))
    assert daemon.lines(job["jobId"]) == ["(200, '{}')", "4"]
    token = tmp_path / "token"
    token.write_text("not-for-all-jobs-here\n")
    daemon = new_daemon(*BASIC, *route, "--token-file", str(token))
    daemon.token = token.read_text().strip()
    daemon.start()
    job = daemon.run(calls(f"get('{url}')", image=python_image))
    assert daemon.lines(job["jobId"]) == ["(401, '')"]


# Fails with: jobs_stop() without jobs_end(): the job was taken with 200, and its container stayed.
@pytest.mark.long
def test_a_job_that_a_job_submits_while_jobs_are_stopped_is_refused(new_daemon):
    daemon = new_daemon("--offline", "--stop-jobs", "--stop-grace", "5", "--route", "ml.googleapis.com=self").start()
    late = json.dumps({"jobId": "late", "trainingInput": script("while :; do sleep 0.1; done")})
    submit = (f"wget -q -O - --header 'Content-Type: application/json' --post-data '{late}' "
              f"http://ml.googleapis.com{daemon.jobs_path} 2>&1; exit 3")
    job_id = daemon.create(script(f"submit() {{ {submit}; }}; trap submit TERM; echo ready; while :; do sleep 0.1; done"))
    daemon.wait_lines(job_id)
    daemon.stop()
    assert daemon.engine.leftovers(daemon.read_instance()) == []
    daemon.start()
    assert [job["jobId"] for job in daemon.get(daemon.jobs_path).json["jobs"]] == [job_id]
    assert daemon.lines(job_id) == ["ready", "wget: server returned error: HTTP/1.1 503 Service Unavailable"]


# Fails with: gateway_environment() without the watched names; forward() that does not tell.
def test_a_host_without_a_route_is_told_once_and_nothing_waits(new_daemon, python_image):
    daemon = new_daemon(*BASIC).start()
    job = daemon.run(calls(*["type(fail('https://bigquery.googleapis.com/')).__name__"] * 2,
                           "fail('https://bigquery.googleapis.com/') == 'failed late'", image=python_image))
    assert daemon.lines(job["jobId"])[2] == "False"
    assert differences(daemon, job, "cloud-tried") == [
        "The program called bigquery.googleapis.com, which is not emulated: the call goes to the real service."]


# Fails with: gateway_environment() and gateway_watches() without the other regions.
@pytest.mark.long
def test_a_call_of_vertex_in_another_region_is_told(new_daemon, python_image):
    daemon = new_daemon(*BASIC).start()
    job = daemon.run(calls("type(fail('https://asia-southeast2-aiplatform.googleapis.com/')).__name__", image=python_image))
    assert differences(daemon, job, "cloud-tried") == [
        "The program called asia-southeast2-aiplatform.googleapis.com, which is not emulated: the call goes to the real service."]


# Fails with: on_called_plain() that hands every call to the gateway: 404, and no report.
@pytest.mark.parametrize("egress, told", [
    long("all", "The program called bigquery.googleapis.com, which is not emulated: the call goes to the real service."),
    ("none", "The program tried to reach bigquery.googleapis.com, which is cut off (--egress none).")])
def test_a_call_without_tls_is_told_as_well(new_daemon, python_image, egress, told):
    daemon = new_daemon(*BASIC, "--egress", egress).start()
    job = daemon.run(calls("fail('http://bigquery.googleapis.com/none')", image=python_image))
    assert daemon.lines(job["jobId"])[0] == ("(403, '')" if egress == "none" else "failed at once")
    assert differences(daemon, job, "cloud-tried") == [told]


# Fails with: is_handed_on() that says yes.
def test_no_other_host_is_reached_by_its_name(new_daemon, python_image):
    """A gateway forwards to no host of the machine's network, whatever name a program uses."""
    daemon = new_daemon(*BASIC).start()
    ask = ("ssl._create_unverified_context().wrap_socket(socket.create_connection(('bigquery.googleapis.com', 443), 20), "
           "server_hostname='localhost')")
    job = daemon.until(daemon.create(calls(ask, image=python_image)), "FAILED", "SUCCEEDED")
    assert job["state"] == "FAILED"
    assert any("access denied" in line for line in daemon.lines(job["jobId"]))
