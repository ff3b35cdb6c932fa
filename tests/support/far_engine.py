# SPDX-License-Identifier: Apache-2.0
"""An engine that appears to be on another machine: its network is apart from this machine's, and it is reached by TCP (with
TLS by default) or by ssh."""
import itertools
import os
import pathlib
import subprocess

from support.engine import PrivateEngine, lib

TLS_PORT, PLAIN_PORT = 2376, 2375
ENGINES = itertools.count()


def openssl(*words):
    subprocess.run(["openssl", *map(str, words)], check=True, capture_output=True, timeout=60)


def authority_make(directory, name):
    """Makes the certificate authority: ca.pem, and its key ca-key.pem."""
    directory.mkdir(parents=True)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", 1, "-subj", f"/CN={name}",
            "-keyout", directory / "ca-key.pem", "-out", directory / "ca.pem")


def certificate_make(authority, directory, name, *more):
    """Writes cert.pem and key.pem, signed by the authority, and a copy of its ca.pem into the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", directory / "key.pem", "-out", directory / "request.pem")
    (directory / "more.cnf").write_text("\n".join(more))
    openssl("x509", "-req", "-in", directory / "request.pem", "-CA", authority / "ca.pem", "-CAkey", authority / "ca-key.pem",
            "-CAcreateserial", "-days", 1, "-extfile", directory / "more.cnf", "-out", directory / "cert.pem")
    (directory / "ca.pem").write_bytes((authority / "ca.pem").read_bytes())
    return directory


class FarEngine(PrivateEngine):
    """Tests reach it by its unix socket, `path`; clients reach it at `host` with the files in `certificates`."""

    def __init__(self, tls=True):
        super().__init__()
        # Each engine of this process has a network of four addresses, from the block for tests between networks (RFC 2544).
        number = next(ENGINES)
        self.link = f"ty{os.getpid()}-{number}"
        self.near, self.far = (f"198.18.{os.getpid() % 250}.{number % 64 * 4 + last}" for last in (1, 2))
        top = pathlib.Path(self.top)
        self.port = TLS_PORT if tls else PLAIN_PORT
        os.makedirs(self.directory)
        pathlib.Path(self.directory, "hosts").write_text(f"tcp://0.0.0.0:{self.port}\n")
        self.variables = {"DOCKER_HOST": self.host}
        if not tls:
            self.configure(tls=False)  # without TLS, Docker shows a warning and waits for a while
            return
        self.authority = top / "authority"
        authority_make(self.authority, "test authority")
        server = certificate_make(self.authority, top / "server", "engine", f"subjectAltName=IP:{self.far},DNS:engine.test",
                                  "extendedKeyUsage=serverAuth")
        self.certificates = certificate_make(self.authority, top / "client", "client", "extendedKeyUsage=clientAuth")
        self.configure(tlsverify=True, tlscacert=str(server / "ca.pem"), tlscert=str(server / "cert.pem"),
                       tlskey=str(server / "key.pem"))
        # the variables that Docker's clients use
        self.variables |= {"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(self.certificates)}

    @property
    def host(self):
        return f"tcp://{self.far}:{self.port}"

    def start(self):
        super().start()
        lib("as_root", "sh", "-ec", 'ip link add "$1" type veth peer name far netns "$2"; ip address add "$3/30" dev "$1"; '
            'ip link set "$1" up; nsenter --net --target "$2" sh -ec "ip address add $4/30 dev far; ip link set far up"',
            "sh", self.link, str(self.pid), self.near, self.far)


SSH_HOST = "ssh://me@build.test"


def ssh_make(place, engine):
    """Makes a program to use in place of ssh: it runs the command on this machine, as if the engine's socket were on another
    one. Returns the variables by which it is found."""
    place.mkdir()
    (place / "ssh").write_text(f'#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift 2\n'
                               f'unset DOCKER_CONTEXT DOCKER_CONFIG\nDOCKER_HOST=unix://{engine.path} exec "$@"\n')
    (place / "ssh").chmod(0o755)
    return {"PATH": f"{place}:{os.environ['PATH']}", "DOCKER_HOST": SSH_HOST}
