# SPDX-License-Identifier: Apache-2.0
"""Loads gcloud once: most of the second that a command takes is loading time.

gcloud's own start script runs this (CLOUDSDK_PYTHON_ARGS) in place of its lib/gcloud.py; the arguments are that file and the
path of a socket. A client sends a command's words with its stdout and stderr as descriptors. A forked process does what
gcloud.py does, and answers with the exit code."""
import json
import os
import signal
import socket
import sys
import traceback


def load(program):
    sys.path[0] = os.path.dirname(program)
    sys.argv = [program]
    import gcloud
    sys.path = gcloud.reorder_sys_path(sys.path)
    gcloud._fix_google_module()
    return gcloud._import_gcloud_main()


def run(gcloud_main, words):
    sys.argv[1:] = words
    try:
        gcloud_main.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def serve(gcloud_main, connection):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    words, handles, _, _ = socket.recv_fds(connection, 1 << 16, 2)
    os.dup2(handles[0], 1)
    os.dup2(handles[1], 2)
    code = run(gcloud_main, json.loads(words))
    sys.stdout.flush()
    sys.stderr.flush()
    connection.sendall(str(code).encode())
    os._exit(code)


def main():
    _, program, address = sys.argv
    os.environ["CLOUDSDK_PYTHON_ARGS"] = "-S"  # as the start script sets it for processes that gcloud starts
    gcloud_main = load(program)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen(64)
        print("ready", flush=True)
        while True:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                serve(gcloud_main, connection)
            connection.close()


main()
