# SPDX-License-Identifier: Apache-2.0
"""gcloud, loaded once: of one second that a command takes, most goes into that.

Run by gcloud's own start script (CLOUDSDK_PYTHON_ARGS) in place of its lib/gcloud.py, which it is given, and a path to
listen at. Each connection brings a command's words and its standard output and error, and is served by a process of its
own that does what gcloud.py does; it answers with the exit code."""
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
    os.environ["CLOUDSDK_PYTHON_ARGS"] = "-S"  # what the start script says to processes that gcloud begins
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
