# SPDX-License-Identifier: Apache-2.0
"""google-auth with what `trainyard env` sets, outside of any container. Prints one line of JSON a test; see
test_storage_clients.py."""
import os

import google.auth
import google.auth.transport.requests
from google.cloud import storage

from one_by_one import run_tests

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
request = google.auth.transport.requests.Request()


def finds_default_credentials():
    credentials, project = google.auth.default(scopes=[SCOPE])
    assert project == os.environ["GOOGLE_CLOUD_PROJECT"]
    credentials.refresh(request)
    assert credentials.valid and credentials.token.startswith("ya29."), credentials.token
    assert 0 < (credentials.expiry - google.auth._helpers.utcnow()).total_seconds() <= 3600


def calls_the_api_with_them():
    credentials, project = google.auth.default(scopes=[SCOPE])
    session = google.auth.transport.requests.AuthorizedSession(credentials)
    answer = session.get(f"{os.environ['TRAINYARD_ENDPOINT']}/v1/projects/{project}/jobs")
    assert answer.status_code == 200, answer.text


def uses_storage_with_them():
    credentials, project = google.auth.default(scopes=[SCOPE])
    client = storage.Client(project=project, credentials=credentials)
    bucket = client.create_bucket(f"identity-{os.getpid()}")
    bucket.blob("a").upload_from_string("x")
    assert bucket.blob("a").download_as_bytes() == b"x"
    bucket.delete(force=True)


TESTS = [finds_default_credentials, calls_the_api_with_them, uses_storage_with_them]

run_tests(TESTS)
