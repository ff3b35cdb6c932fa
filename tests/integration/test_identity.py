# SPDX-License-Identifier: Apache-2.0
"""The credentials that `trainyard env` gives programs outside of containers, and the tokens that they get with them. openssl
signs and verifies, so that the daemon's own code is not compared with itself."""
import base64
import json
import os
import re
import shutil
import stat
import subprocess
import time
import types
import urllib.parse

import pytest

from support.daemon import Daemon, program
from support.gcloud import Gcloud, needs_gcloud

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
NO_ENGINE = types.SimpleNamespace(host="unix:///nonexistent/docker.sock")

needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl in PATH")


@pytest.fixture
def lone_yard(tmp_path):
    """A daemon without an engine: identity needs none."""
    with Daemon(tmp_path / "yard", NO_ENGINE) as daemon:
        yield daemon


def env(daemon, *options, state_dir=None):
    done = subprocess.run([program(), "env", "--state-dir", str(state_dir or daemon.state_dir), "--project",
                           daemon.project, *options], check=True, capture_output=True, text=True)
    return done.stdout


def variables(lines):
    return dict(re.findall(r"^export (\w+)=(.*)$", lines, re.MULTILINE))


def credentials_of(daemon, *options):
    path = variables(env(daemon, *options))["GOOGLE_APPLICATION_CREDENTIALS"]
    with open(path, encoding="utf-8") as file:
        return path, json.load(file)


def encoded(data):
    return base64.urlsafe_b64encode(data if isinstance(data, bytes) else json.dumps(data).encode()).rstrip(b"=").decode()


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def assertion_of(credentials, directory, **claims):
    """A JWT as client libraries make it, signed by openssl."""
    now = int(time.time())
    claims = {"iss": credentials["client_email"], "aud": credentials["token_uri"], "iat": now, "exp": now + 3600} | claims
    text = encoded({"alg": "RS256", "typ": "JWT", "kid": credentials["private_key_id"]}) + "." + encoded(claims)
    key = directory / "key.pem"
    key.write_text(credentials["private_key"])
    signed = subprocess.run(["openssl", "dgst", "-sha256", "-sign", str(key)], input=text.encode(), check=True,
                            capture_output=True).stdout
    return f"{text}.{encoded(signed)}"


def token_ask(daemon, assertion):
    return daemon.request("POST", "/token", urllib.parse.urlencode({"grant_type": GRANT, "assertion": assertion}),
                          {"Content-Type": "application/x-www-form-urlencoded"})


# Fails with: credentials_keep() with the mode 0644; private_key_load() with 0640.
def test_the_credentials_file_is_the_owners_alone(lone_yard):
    path, credentials = credentials_of(lone_yard)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert stat.S_IMODE(os.stat(lone_yard.state_dir / "identity.key").st_mode) == 0o600
    assert credentials["type"] == "service_account"
    assert credentials["client_email"] == f"trainyard@{lone_yard.project}.iam.gserviceaccount.com"
    assert credentials["token_uri"] == lone_yard.base + "/token"


# Fails with: tokeninfo_get() that looks at no access token.
@needs_openssl
def test_an_assertion_becomes_a_token_that_can_be_asked_about(lone_yard, tmp_path):
    _, credentials = credentials_of(lone_yard)
    answer = token_ask(lone_yard, assertion_of(credentials, tmp_path, scope=SCOPE))
    assert answer.status == 200, answer
    assert answer.json["token_type"] == "Bearer" and answer.json["expires_in"] == 3599
    told = lone_yard.request("GET", "/oauth2/v3/tokeninfo", access_token=answer.json["access_token"])
    assert told.status == 200 and told.json["email"] == credentials["client_email"] and told.json["scope"] == SCOPE


# Fails with: identity_answer() with another audience.
@needs_openssl
def test_an_identity_token_is_good_by_the_published_key(lone_yard, tmp_path):
    _, credentials = credentials_of(lone_yard)
    answer = token_ask(lone_yard, assertion_of(credentials, tmp_path, target_audience="https://me"))
    assert answer.status == 200, answer
    head, claims, signature = answer.json["id_token"].split(".")
    key = lone_yard.request("GET", "/oauth2/v3/certs").json["keys"][0]
    assert json.loads(decoded(head)) == {"alg": "RS256", "kid": key["kid"], "typ": "JWT"}
    # RFC 8017 section 8.2.2, computed here: applying the public key to the signature gives the padding and the digest.
    opened = pow(int.from_bytes(decoded(signature), "big"), int.from_bytes(decoded(key["e"]), "big"),
                 int.from_bytes(decoded(key["n"]), "big")).to_bytes(256, "big")
    digest = subprocess.run(["openssl", "dgst", "-sha256", "-binary"], input=f"{head}.{claims}".encode(), check=True,
                            capture_output=True).stdout
    kind = bytes.fromhex("3031300d060960864801650304020105000420")
    assert opened == b"\0\1" + b"\xff" * (256 - 3 - len(kind) - len(digest)) + b"\0" + kind + digest
    assert json.loads(decoded(claims))["aud"] == "https://me"


# Fails with: signing_key_verify() without signature_fits().
@needs_openssl
def test_another_daemons_credentials_are_refused(lone_yard, tmp_path):
    with Daemon(tmp_path / "other", NO_ENGINE) as other:
        _, credentials = credentials_of(other)
    credentials["token_uri"] = lone_yard.base + "/token"
    answer = token_ask(lone_yard, assertion_of(credentials, tmp_path, scope=SCOPE))
    assert (answer.status, answer.json) == (400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."})


# Fails with: credentials_keep() that leaves a file that is there.
@needs_openssl
def test_tokens_stay_good_and_the_file_follows_the_address(lone_yard, tmp_path):
    path, before = credentials_of(lone_yard)
    token = token_ask(lone_yard, assertion_of(before, tmp_path, scope=SCOPE)).json["access_token"]
    lone_yard.restart()
    assert lone_yard.request("GET", "/tokeninfo", access_token=token).status == 200
    same_path, after = credentials_of(lone_yard)
    assert same_path == path
    assert after == before | {"token_uri": lone_yard.base + "/token"}


# Fails with: directory_check() of credentials.c that makes the directory; reason_write() that says nothing.
def test_without_a_daemon_there_is_a_reason_and_no_file(lone_yard, tmp_path):
    nowhere = tmp_path / "nowhere"
    lines = env(lone_yard, state_dir=nowhere)
    assert "GOOGLE_APPLICATION_CREDENTIALS" not in lines
    assert re.search(r"^# no credentials file: no daemon has used ", lines, re.MULTILINE)
    assert not nowhere.exists()
    assert "#" not in env(lone_yard, "--shell", "github", state_dir=nowhere)


# Fails with: env_write() that leaves GOOGLE_APPLICATION_CREDENTIALS as it is.
def test_unset_takes_all_away_and_leaves_the_file(lone_yard):
    path, _ = credentials_of(lone_yard)
    lines = env(lone_yard)
    script = lines + env(lone_yard, "--unset") + "env\n"
    left = subprocess.run(["sh", "-eu"], input=script, env={"PATH": os.environ["PATH"]}, check=True, capture_output=True,
                          text=True).stdout
    assert not [name for name in variables(lines) if re.search(f"^{name}=", left, re.MULTILINE)]
    assert os.path.exists(path)


# Fails with: part_value() of env.c that knows only the daemon's own address.
def test_storage_elsewhere_is_where_clients_are_sent(lone_yard):
    found = variables(env(lone_yard, "--storage-endpoint", "http://127.0.0.1:4443"))
    assert found["STORAGE_EMULATOR_HOST"] == found["CLOUD_STORAGE_EMULATOR_ENDPOINT"] == "http://127.0.0.1:4443"
    assert found["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"] == "http://127.0.0.1:4443/storage/v1/"
    assert found["CLOUDSDK_API_ENDPOINT_OVERRIDES_ML"] == lone_yard.base + "/"


# Fails with: PART_ANONYMOUS that is always "false": gcloud wanted an account.
@needs_gcloud
def test_gcloud_does_not_mind_the_credentials(lone_yard, tmp_path):
    gcloud = Gcloud(lone_yard, tmp_path / "gcloud", lone_yard.base)
    assert gcloud.environment["GOOGLE_APPLICATION_CREDENTIALS"]
    assert json.loads(gcloud.run("ai-platform", "jobs", "list", "--format=json").stdout) == []
