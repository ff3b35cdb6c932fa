# SPDX-License-Identifier: Apache-2.0
"""Calls that replicas make to the metadata server."""
from measure import bench, median, row, serving, wrk

TOKEN_PATH = "/computeMetadata/v1/instance/service-accounts/default/token"


@bench("tokens", engine=True)
def bench_tokens(options):
    """The calls come from a replica's network, as in a job."""
    with serving(options.engine) as daemon:
        daemon.create({"region": "us-central1", "masterConfig": {"imageUri": options.image}, "args": [
            "sh", "-c", "echo $GCE_METADATA_IP; until [ -e /released ]; do sleep 0.1; done"]}, job_id="tokens")
        host = daemon.wait_lines("tokens")[0]
        pid = options.engine.inspect(daemon.container("tokens"))["State"]["Pid"]
        inside = ["nsenter", "-t", str(pid), "-n"]
        values = [wrk(f"http://{host}{TOKEN_PATH}", 16, inside, ["-H", "Metadata-Flavor: Google"]) for _ in range(options.rounds)]
        daemon.cancel_all()
    row("metadata tokens", median(values), "req/s", None, 1000, 10000)
