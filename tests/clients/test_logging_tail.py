# SPDX-License-Identifier: Apache-2.0
"""google-cloud-logging's own client: lists, deletions, and live tailing."""
import select
import subprocess

import pytest

from support.daemon import Daemon
from support.engine import NO_ENGINE
from support.scripts import PYTHON
from support.wait import wait_until

PROGRAM = """
import sys
import grpc
from google.api_core import exceptions
from google.cloud.logging_v2.services.logging_service_v2 import LoggingServiceV2Client
from google.cloud.logging_v2.services.logging_service_v2.transports import LoggingServiceV2GrpcTransport
from google.cloud.logging_v2.types import TailLogEntriesRequest

channel = grpc.insecure_channel(sys.argv[1])
client = LoggingServiceV2Client(transport=LoggingServiceV2GrpcTransport(channel=channel))
ask = lambda **more: client.tail_log_entries(requests=iter([TailLogEntriesRequest(resource_names=[sys.argv[2]], **more)]), timeout=60)
for wrong in ({"filter": "nosuch("}, {"buffer_window": {"seconds": 61}}):
    try:
        ask(**wrong)
    except exceptions.InvalidArgument:
        print("refused", flush=True)
print("tailing", flush=True)
seen = ""
for response in ask(filter="severity>=ERROR", buffer_window={"seconds": 0, "nanos": 100000000}):
    for entry in response.entries:
        seen = entry.text_payload
        print(seen, int(entry.severity), entry.labels["n"], flush=True)
    if seen == "line 3":
        break
"""


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    daemon = Daemon(tmp_path_factory.mktemp("front"), NO_ENGINE, "--offline", "--grpc", "127.0.0.1:0").start()
    yield daemon
    daemon.stop()


LISTS = """
import sys
import google.auth.credentials
import google.cloud.logging

rest, project = sys.argv[1:]
client = google.cloud.logging.Client(project=project, _use_grpc=False, client_options={"api_endpoint": rest},
                                     credentials=google.auth.credentials.AnonymousCredentials())
logger = client.logger("listed")
logger.log_text("a line")
print(*(entry.payload for entry in logger.list_entries()), sep="\\n")
"""

DELETIONS = """
import sys
import grpc
from google.api_core import exceptions
from google.cloud.logging_v2.services.logging_service_v2 import LoggingServiceV2Client
from google.cloud.logging_v2.services.logging_service_v2.transports import LoggingServiceV2GrpcTransport
import google.auth.credentials
import google.cloud.logging

endpoint, rest, project = sys.argv[1:]
client = LoggingServiceV2Client(transport=LoggingServiceV2GrpcTransport(channel=grpc.insecure_channel(endpoint)))
other = google.cloud.logging.Client(project=project, _use_grpc=False, client_options={"api_endpoint": rest},
                                    credentials=google.auth.credentials.AnonymousCredentials())
names = [f"projects/{project}/logs/gone%2F{n}" for n in (1, 2)]
for name in names:
    client.write_log_entries(log_name=name, resource={"type": "global"}, entries=[{"text_payload": "x"}])
print(sorted(n for n in client.list_logs(parent=f"projects/{project}") if "gone" in n) == names)
client.delete_log(log_name=names[0])
other.logger("gone%2F2").delete()
print([n for n in client.list_logs(parent=f"projects/{project}") if "gone" in n])
for again in (lambda: client.delete_log(log_name=names[0]), other.logger("gone%2F2").delete):
    try:
        again()
    except exceptions.NotFound as error:
        print(error.message)
print([(d.type, [label.key for label in d.labels]) for d in client.list_monitored_resource_descriptors(request={"page_size": 1})])
"""


def test_google_cloud_logging_lists_without_a_filter(front):
    """The library adds a filter: timestamp>= a day ago, with the zone as +0000. Fails with: zone_read() that wants the colon:
    400."""
    if not (PYTHON / ".installed").exists():
        pytest.skip(f"{PYTHON} is not there: run tests/clients/install")
    done = subprocess.run([PYTHON / "bin/python", "-Bc", LISTS, front.base, front.project], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1:] == ["a line"], done  # the library may print lines of its own before it


def test_google_cloud_logging_deletes_logs_and_lists_types_of_resources(front):
    if not (PYTHON / ".installed").exists():
        pytest.skip(f"{PYTHON} is not there: run tests/clients/install")
    done = subprocess.run([PYTHON / "bin/python", "-Bc", DELETIONS, f"localhost:{front.grpc_port}", front.base, front.project],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
    listed, left, first, second, types = done.stdout.splitlines()[-5:]
    assert (listed, left) == ("True", "[]"), done
    assert first == "Requested entity was not found." and second.endswith(first), done
    assert types == ("[('gce_instance', ['project_id', 'instance_id', 'zone']), ('global', ['project_id']),"
                     " ('ml_job', ['project_id', 'job_id', 'task_name'])]"), done


def test_google_cloud_logging_tails_new_entries(front):
    if not (PYTHON / ".installed").exists():
        pytest.skip(f"{PYTHON} is not there: run tests/clients/install")
    project = f"projects/{front.project}"

    def write(number, severity):
        entry = {"textPayload": f"line {number}", "severity": severity, "labels": {"n": str(number)}}
        front.post("/v2/entries:write", {"logName": f"{project}/logs/t", "resource": {"type": "global"}, "entries": [entry]})

    with subprocess.Popen([PYTHON / "bin/python", "-Bc", PROGRAM, f"localhost:{front.grpc_port}", project], stdout=subprocess.PIPE,
                          text=True) as client:
        assert [client.stdout.readline().strip() for _ in range(3)] == ["refused", "refused", "tailing"]

        def begun():  # the library returns the session only after its first entry
            write(0, "ERROR")
            return select.select([client.stdout], [], [], 0.1)[0]
        wait_until(begun, 60, "a first entry")
        for number in (1, 2, 3):
            write(number, "INFO" if number == 2 else "CRITICAL")
        told = [line.strip() for line in client.stdout]
        assert client.wait(60) == 0
    assert list(dict.fromkeys(told)) == ["line 0 500 0", "line 1 600 1", "line 3 600 3"]
