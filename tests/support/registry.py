# SPDX-License-Identifier: Apache-2.0
"""A container registry on 127.0.0.1 that serves images which a test or an engine puts into it. Engines use plain HTTP for
this address."""
import base64
import contextlib
import gzip
import hashlib
import http.server
import io
import itertools
import json
import os
import tarfile
import threading
import urllib.parse

from .engine import IMAGE, build_image

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


def digest(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


class Registry:
    def __init__(self, user=None, password=None):
        self.wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode() if user else None
        self.blobs, self.manifests = {}, {}
        self.blobs_asked = []
        self.uploads, self.numbers = {}, itertools.count()  # bytes of unfinished uploads, by path; numbers for their names
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def do_GET(self):
                registry.answer(self)

            do_HEAD = do_GET

            def do_POST(self):
                registry.take(self)

            do_PATCH = do_PUT = do_POST
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    @property
    def blobs_served(self):
        return len(self.blobs_asked)

    def push(self, engine, image, repository, tag):
        """Stores an image that the engine has."""
        saved = engine.call("GET", f"/images/{image}/get")
        with tarfile.open(fileobj=io.BytesIO(saved)) as tar:
            described = json.load(tar.extractfile("manifest.json"))[0]
            config = tar.extractfile(described["Config"]).read()
            layers = [gzip.compress(tar.extractfile(name).read(), 1) for name in described["Layers"]]
        for blob in [config, *layers]:
            self.blobs[digest(blob)] = blob
        manifest = json.dumps({
            "schemaVersion": 2, "mediaType": MANIFEST,
            "config": {"mediaType": "application/vnd.docker.container.image.v1+json", "size": len(config),
                       "digest": digest(config)},
            "layers": [{"mediaType": "application/vnd.docker.image.rootfs.diff.tar.gzip", "size": len(layer),
                        "digest": digest(layer)} for layer in layers]}).encode()
        for reference in (tag, digest(manifest)):
            self.manifests[repository, reference] = manifest

    def take(self, request):
        """Handles one step of an engine's push: an upload begins, continues or ends, or a manifest arrives."""
        path, _, query = request.path.partition("?")
        repository, what, reference = path[len("/v2/"):].rsplit("/", 2)
        data, found = self.body(request), None
        if request.command == "PUT" and what == "manifests":
            found = digest(data)
            self.manifests[repository, reference] = self.manifests[repository, found] = data
        elif request.command == "POST":
            path += str(next(self.numbers))
            self.uploads[path] = b""
        else:
            self.uploads[path] += data
            if request.command == "PUT":
                found = urllib.parse.parse_qs(query)["digest"][0]
                self.blobs[found] = self.uploads[path]
                assert digest(self.blobs[found]) == found
        request.send_response(201 if found else 202)
        for name, value in {"Content-Length": "0", "Location": path, "Range": f"0-{max(len(data), 1) - 1}",
                            **({"Docker-Content-Digest": found} if found else {})}.items():
            request.send_header(name, value)
        request.end_headers()

    @staticmethod
    def body(request):
        if request.headers.get("Transfer-Encoding") != "chunked":
            return request.rfile.read(int(request.headers.get("Content-Length", 0)))
        data = b""
        while size := int(request.rfile.readline(), 16):
            data += request.rfile.read(size)
            request.rfile.readline()
        request.rfile.readline()
        return data

    def answer(self, request):
        status, kind, data, headers = self.find(request.path, request.headers.get("Authorization"))
        if request.command == "GET" and "/blobs/" in request.path and status == 200:
            self.blobs_asked.append(request.path)
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        if request.command == "GET":
            self.send(request, data)

    def send(self, request, data):
        request.wfile.write(data)

    def find(self, path, authorization):
        if self.wanted and authorization != self.wanted:
            return 401, "application/json", b"{}", {"Www-Authenticate": 'Basic realm="tests"'}
        words = path.strip("/").split("/")
        if words == ["v2"]:
            return 200, "application/json", b"{}", {}
        repository, what, reference = "/".join(words[1:-2]), words[-2], words[-1]
        if what == "manifests" and (repository, reference) in self.manifests:
            manifest = self.manifests[repository, reference]
            return 200, MANIFEST, manifest, {"Docker-Content-Digest": digest(manifest)}
        if what == "blobs" and reference in self.blobs:
            return 200, "application/octet-stream", self.blobs[reference], {}
        return 404, "application/json", b'{"errors":[{"code":"MANIFEST_UNKNOWN","message":"manifest unknown"}]}', {}


class SlowRegistry(Registry):
    """Sends layers in pieces of 64 KiB with pauses between them, until release()."""

    def __init__(self):
        super().__init__()
        self.go = threading.Event()

    def send(self, request, data):
        for at in range(0, len(data), 1 << 16):
            request.wfile.write(data[at:at + (1 << 16)])
            self.go.wait(0.2)


@contextlib.contextmanager
def image_that_comes_slowly(engine, mebibytes=16):
    """Returns the name of an image that pulls slowly, and a function that lets the rest come at once. It is the tests' image
    with a layer that no engine has."""
    local = f"slow{os.urandom(6).hex()}:1"
    build_image(engine, local, {"Dockerfile": f"FROM {IMAGE}\nCOPY big /big\n".encode(), "big": os.urandom(mebibytes << 20)})
    with SlowRegistry() as registry:
        registry.push(engine, local, "team/slow", "1")
        engine.remove_image(local)
        name = f"127.0.0.1:{registry.port}/team/slow:1"
        try:
            yield name, registry.go.set
        finally:
            registry.go.set()
            engine.remove_image(name)
