# SPDX-License-Identifier: Apache-2.0
"""Runs inside a replica, with the environment that trainyard sets, and prints what google-auth finds there as one JSON
object."""
import json
import os
import socket
import urllib.error
import urllib.request

import google.auth
from google.auth import compute_engine
from google.auth.compute_engine import _metadata
from google.auth.transport.requests import Request
from google.oauth2 import id_token

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
request = Request()
said = {}


def status_of(url, method="GET", body=None, **headers):
    try:
        ask = urllib.request.Request(url, body, headers, method=method)
        with urllib.request.urlopen(ask, timeout=5) as answer:
            return [answer.status, answer.headers.get("Metadata-Flavor"), answer.read().decode()]
    except urllib.error.HTTPError as error:
        return [error.code, error.headers.get("Metadata-Flavor"), error.read().decode()]
    except OSError as error:
        return [None, None, type(error).__name__]


credentials, project = google.auth.default(scopes=[SCOPE])
said["kind"], said["project"] = type(credentials).__module__, project
credentials.refresh(request)
said["email"], said["token"], said["valid"] = credentials.service_account_email, credentials.token, credentials.valid
said["is_gce"] = _metadata.ping(request)
said["number"] = _metadata.get(request, "project/numeric-project-id")
said["zone"] = _metadata.get(request, "instance/zone")
said["account"] = _metadata.get(request, "instance/service-accounts/default/", params={"recursive": "true"})
said["universe"] = _metadata.get_universe_domain(request)

own = compute_engine.IDTokenCredentials(request, "https://service.example.com", use_metadata_identity_endpoint=True)
own.refresh(request)
said["id_token"] = own.token
said["fetched_id_token"] = id_token.fetch_id_token(request, "https://other.example.com")

host = os.environ["GCE_METADATA_HOST"]
token = f"http://{host}/computeMetadata/v1/instance/service-accounts/default/token"
said["without_flavor"] = status_of(token)
said["forwarded"] = status_of(token, **{"Metadata-Flavor": "Google", "X-Forwarded-For": "10.0.0.1"})
said["by_name"] = status_of("http://metadata.google.internal/computeMetadata/v1/project/project-id", **{"Metadata-Flavor": "Google"})

jobs = f"/v1/projects/{project}/jobs"
said["jobs_here"] = status_of(f"http://{host}{jobs}", Authorization="Bearer " + credentials.token)
said["create_here"] = status_of(f"http://{host}{jobs}", "POST", b"{}", Authorization="Bearer " + credentials.token)
said["hostname"] = socket.gethostname()
print(json.dumps(said), flush=True)
