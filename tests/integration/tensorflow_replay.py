# SPDX-License-Identifier: Apache-2.0
"""Runs in a replica. Calls Cloud Storage by its real host names as TensorFlow 2.21 does for gs:// (a new connection for each
request, Content-Length together with Transfer-Encoding), and prints the results."""
import json
import os
import socket
import ssl
import sys
import urllib.request

BUCKET = sys.argv[1]
JSON_API, MEDIA = "www.googleapis.com", "storage.googleapis.com"
NO_BODY = ["Content-Length: 0", "Transfer-Encoding: identity"]
trusted = ssl.create_default_context(cafile=os.environ["CURL_CA_BUNDLE"])

ask = urllib.request.Request(f"http://{os.environ['GCE_METADATA_HOST']}/computeMetadata/v1/instance/service-accounts/default/token",
                             headers={"Metadata-Flavor": "Google", "User-Agent": "TensorFlow/2.21.0"})
TOKEN = json.load(urllib.request.urlopen(ask))["access_token"]


def call(method, host, path, *headers, body=b""):
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}", "User-Agent: TensorFlow/2.21.0", "Accept: */*",
            f"Authorization: Bearer {TOKEN}", *headers, "", ""]
    with trusted.wrap_socket(socket.create_connection((host, 443), timeout=20), server_hostname=host) as connection:
        connection.sendall("\r\n".join(head).encode() + body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(65536) or sys.exit("cut off: " + repr(answer))
        said, _, content = answer.partition(b"\r\n\r\n")
        lines = said.decode().split("\r\n")
        values = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in lines[1:])}
        while len(content) < int(values.get("content-length", 0)):
            content += connection.recv(65536) or sys.exit("cut short: " + repr(content))
    return int(lines[0].split()[1]), values, content


def upload(name, data, in_parts=False):
    status, headers, _ = call("POST", JSON_API, f"/upload/storage/v1/b/{BUCKET}/o?uploadType=resumable&name={name}",
                              f"X-Upload-Content-Length: {len(data)}", *NO_BODY)
    assert status == 200, status
    location = headers["location"]
    assert location.startswith(f"https://{JSON_API}/upload/storage/v1/"), location
    session = location[len(f"https://{JSON_API}"):]
    if in_parts:
        status, _, _ = call("PUT", JSON_API, session, f"Content-Range: bytes */{len(data)}", *NO_BODY)
        assert status == 308, status
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(data), data) if data else b"0\r\n\r\n"
    ranges = [f"Content-Range: bytes 0-{len(data) - 1}/{len(data)}"] if data else []
    status, _, content = call("PUT", JSON_API, session, *ranges, f"Content-Length: {len(data)}", "Transfer-Encoding: chunked",
                              body=chunked)
    return status, json.loads(content)["size"]


def object_path(name):
    return f"/storage/v1/b/{BUCKET}/o/{name}"


print("write", *upload("a%2Fone.txt", b"one\ntwo\n"))
print("write again", *upload("a%2Fone.txt", b"one\ntwo\nthree\n", in_parts=True))
print("write nothing", *upload("a%2Fempty", b""))
status, _, content = call("GET", JSON_API, object_path("a%2Fone.txt") + "?fields=size%2Cgeneration%2Cupdated")
print("stat", status, sorted(json.loads(content)))
status, headers, content = call("GET", MEDIA, f"/{BUCKET}/a%2Fone.txt", "Range: bytes=0-16777215")
print("read", status, content)
print("read on", call("GET", MEDIA, f"/{BUCKET}/a%2Fone.txt", "Range: bytes=14-16777215")[0])
status, _, content = call("GET", JSON_API, f"/storage/v1/b/{BUCKET}/o?fields=items%2Fname%2Cprefixes%2CnextPageToken"
                                           "&delimiter=%2F&prefix=a%2F")
print("list", status, [item["name"] for item in json.loads(content)["items"]])
status, _, content = call("POST", JSON_API, object_path("a%2Fone.txt") + f"/rewriteTo/b/{BUCKET}/o/b%2Fone.txt", *NO_BODY)
print("copy", status, json.loads(content)["done"])
print("delete", call("DELETE", JSON_API, object_path("a%2Fone.txt"))[0])
print("gone", call("GET", JSON_API, object_path("a%2Fone.txt") + "?fields=size%2Cgeneration%2Cupdated")[0])
print("bucket", call("GET", JSON_API, f"/storage/v1/b/{BUCKET}")[0])
status, headers, content = call("GET", JSON_API, "/compute/v1/projects")
print("another API", status, headers["content-type"].split(";")[0])
print("metadata", call("GET", MEDIA, "/computeMetadata/v1/project/project-id", "Metadata-Flavor: Google")[0])
