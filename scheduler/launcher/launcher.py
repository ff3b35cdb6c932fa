# SPDX-License-Identifier: Apache-2.0
"""What the containers of a Python-package job run: fetches the packages from object storage, has pip install them,
and runs the module, as the real service's own launcher does, with its log lines.

    python3 -c TEXT --python=python3 --module=trainer.task [--package=gs://BUCKET/OBJECT]... [--wheels=DIR]
        [--specification=VARIABLE] [--wrapper=NAME] -- ARG...

--specification: which variable says who the replica is, TF_CONFIG if not given. --wrapper: as which program the service
would have started this one, after it has told the first replica that it is its own master.

It is given to the interpreter as one argument: standard library only, for Python 2.7 and 3, ASCII, below 128 KiB.
Exit status: the module's own; 1 when a step before it failed; 128+n if signal n ended either.
Source of the steps and lines: transcripts of real jobs, 2019 and 2020."""
import sys

if sys.path and sys.path[0] == "":
    del sys.path[0]         # modules in the container's working directory must not replace the standard library's

import base64               # noqa: E402
import errno                # noqa: E402
import hashlib              # noqa: E402
import json                 # noqa: E402
import os                   # noqa: E402
import select               # noqa: E402
import shutil               # noqa: E402
import signal               # noqa: E402
import socket               # noqa: E402
import subprocess           # noqa: E402
import tempfile             # noqa: E402
import time                 # noqa: E402
from collections import OrderedDict     # noqa: E402

try:
    from http.client import HTTPConnection, HTTPException
    from urllib.parse import quote, urlsplit
except ImportError:
    from httplib import HTTPConnection, HTTPException
    from urllib import quote
    from urlparse import urlsplit

TIMEOUT_S = 60
PAUSES_S = (0.5, 1, 2, 4, 8)        # between attempts at a download
CHUNK_BYTES = 1 << 16
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
WORDS_BYTES = 1000                  # maximum length of a server's error text
LINE_BYTES = 1 << 14                # longer lines are logged in parts
REASON_LINES = 15                   # of a failed step's stderr, to be part of the job's error


class Failure(Exception):
    """A step failed. The replica ends with `status`."""

    def __init__(self, status, text):
        Exception.__init__(self, text)
        self.status = status


class Passing(Exception):
    """A download failed, but another attempt may succeed."""


class Stopped(Exception):
    """The container was told to stop."""


# ---- log lines ----------------------------------------------------------------------------------------------

def encode(text):
    """Converts text to bytes; arguments of the command line become the bytes that were given."""
    if isinstance(text, bytes):
        return text
    return text.encode("utf-8") if bytes is str else text.encode("utf-8", "surrogateescape")


def write(descriptor, text):
    data = encode(text) + b"\n"
    while data:
        data = data[os.write(descriptor, data):]


def say(text):
    write(1, text)


def complain(text):
    """Prints an error to stderr, from which the job's error message is taken."""
    write(2, text)


def note_error(text):
    """Prints an error that is only for the log."""
    write(1, json.dumps({"severity": "ERROR", "message": text}))


class Complaints(object):
    """The stderr of a step. It is logged line by line, but written to our stderr, from which the job's error message is
    taken, only if the step fails: warnings would otherwise precede or replace the module's own error."""

    def __init__(self):
        self.rest, self.last = b"", []

    def take(self, data):
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop()
        while len(self.rest) > LINE_BYTES:
            lines.append(self.rest[:LINE_BYTES])
            self.rest = self.rest[LINE_BYTES:]
        for line in lines:
            text = line.decode("utf-8", "replace").rstrip("\r")
            note_error(text)
            self.last = (self.last + [text])[-REASON_LINES:]

    def end(self):
        if self.rest:
            self.take(b"\n")


# ---- programs -----------------------------------------------------------------------------------------------

class Task(object):
    """The running child process, if any, and the signal to stop that was received, if any."""

    def __init__(self):
        self.child, self.signum = None, 0
        self.only_notes = True      # a signal is only noted while no child runs
        for signum in (signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, self.on_signal)

    def on_signal(self, signum, _):
        self.signum = signum
        if self.child is not None:
            self.forward()
        elif not self.only_notes:
            raise Stopped()

    def may_be_stopped(self):
        self.only_notes = False
        if self.signum:
            raise Stopped()

    def forward(self):
        try:
            self.child.send_signal(self.signum)
        except OSError as error:
            if error.errno != errno.ESRCH:
                raise

    def start(self, command, directory, environment, stderr):
        self.only_notes = True
        try:
            # Python ignores SIGPIPE; programs do not expect to inherit that.
            self.child = subprocess.Popen(command, cwd=directory, env=environment, stderr=stderr, close_fds=True,
                                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        except OSError as error:
            raise Failure(127 if error.errno == errno.ENOENT else 126,
                          "%s cannot be run: %s" % (command[0], error.strerror))
        finally:
            self.only_notes = False
        if self.signum:         # the signal arrived before the child could be sent it
            self.forward()

    def run(self, command, directory=None, environment=None):
        """Runs a command; returns its exit status, negative for a signal. Its output goes to our stdout and stderr
        directly."""
        say("Running command: " + " ".join(command))
        self.start(command, directory, environment, None)
        return self.wait()

    def wait(self):
        status = self.child.wait()
        self.child = None
        return status

    def read(self, descriptor, timeout_s):
        """Reads what is available, waiting for at most timeout_s; None: nothing came. Signals do not interrupt it."""
        try:
            if select.select([descriptor], [], [], timeout_s)[0]:
                return os.read(descriptor, CHUNK_BYTES)
        except (select.error, OSError) as error:
            if error.args[0] != errno.EINTR:
                raise
        return None

    def listen(self, pipe, complaints):
        """Reads until the step has ended. A background process of the step may keep the pipe open for longer."""
        ended = False
        while True:
            data = self.read(pipe.fileno(), 0 if ended else 1)
            if data:
                complaints.take(data)
            elif data is not None or ended:
                return
            else:
                ended = self.child.poll() is not None

    def run_step(self, command, directory, environment):
        complaints = Complaints()
        say("Running command: " + " ".join(command))
        self.start(command, directory, environment, subprocess.PIPE)
        pipe = self.child.stderr
        self.listen(pipe, complaints)
        complaints.end()
        status = self.wait()
        pipe.close()
        if self.signum:
            raise Stopped()
        if status:
            raise Failure(1 if status > 0 else exit_status(status),
                          "\n".join(complaints.last + [str(subprocess.CalledProcessError(status, command))]))


def exit_status(status):
    return status if status >= 0 else 128 - status


# ---- downloads ----------------------------------------------------------------------------------------------

def package_path(directory, index, uri):
    """The path for a package: each has a folder of its own, because names may be equal."""
    name = uri.rsplit("/", 1)[1]
    if name in ("", ".", ".."):
        raise Failure(1, "CommandException: %s does not name a file." % uri)
    folder = os.path.join(directory, str(index))
    os.mkdir(folder)
    return folder, "./" + name if name.startswith("-") else name


def storage_request(uri):
    """Host, port and path of a package's content."""
    endpoint = os.environ.get("STORAGE_EMULATOR_HOST")
    if not endpoint:
        raise Failure(1, "%s cannot be downloaded: this replica has no object storage (STORAGE_EMULATOR_HOST is "
                         "not set)." % uri)
    parts = urlsplit(endpoint if "://" in endpoint else "http://" + endpoint)
    if parts.scheme != "http" or not parts.hostname:
        raise Failure(1, "%s cannot be downloaded: STORAGE_EMULATOR_HOST is %s, not http://HOST:PORT."
                      % (uri, endpoint))
    bucket, name = uri[len("gs://"):].split("/", 1)
    return parts.hostname, parts.port, "%s/storage/v1/b/%s/o/%s?alt=media" % (
        parts.path.rstrip("/"), quote(encode(bucket), safe=""), quote(encode(name), safe=""))


def server_words(response):
    """The text of a server's error, in one line of plain characters."""
    text = response.read(WORDS_BYTES).decode("utf-8", "replace")
    try:
        text = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        pass
    plain = text.encode("ascii", "replace")
    return " ".join((plain if bytes is str else plain.decode("ascii")).split())


def refuse(uri, response):
    """Raises the exception for an answer that is not 200."""
    words = server_words(response)
    if response.status == 404:
        raise Failure(1, "CommandException: No URLs matched: %s (%s)"
                      % (uri, words or "No such object: " + uri[len("gs://"):]))
    text = "%d %s%s" % (response.status, response.reason, ": " + words if words else "")
    if response.status >= 500 or response.status in (408, 429):
        raise Passing(text)
    raise Failure(1, "%s cannot be downloaded: %s" % (uri, text))


def expected_md5(response):
    """As the server tells it, in base64. It is that of the stored bytes: a server that unpacks them sends others."""
    if response.getheader("x-goog-stored-content-encoding", "identity") != "identity":
        return None
    for part in response.getheader("x-goog-hash", "").split(","):
        name, _, value = part.strip().partition("=")
        if name == "md5":
            return value
    return None


def receive(response, path):
    digest, count = hashlib.md5(), 0
    with open(path, "wb") as out:
        chunk = response.read(CHUNK_BYTES)
        while chunk:
            out.write(chunk)
            digest.update(chunk)
            count += len(chunk)
            chunk = response.read(CHUNK_BYTES)
    length = response.getheader("content-length")
    if length is not None and count != int(length):
        raise Passing("%d of %s bytes came" % (count, length))
    md5 = expected_md5(response)
    if md5 is not None and md5 != base64.b64encode(digest.digest()).decode("ascii"):
        raise Passing("what came has another MD5 sum than the object")


def fetch(uri, path):
    """One try."""
    host, port, target = storage_request(uri)
    connection = HTTPConnection(host, port, timeout=TIMEOUT_S)
    try:
        connection.request("GET", target)
        response = connection.getresponse()
        if response.status != 200:
            refuse(uri, response)
        receive(response, path)
    except (EnvironmentError, HTTPException) as error:
        if getattr(error, "errno", None) in NO_ROOM:
            raise Failure(1, "%s cannot be stored: %s" % (uri, error.strerror))
        raise Passing("%s: %s" % (type(error).__name__, error) if str(error) else type(error).__name__)
    finally:
        connection.close()


def download(uri, folder, name):
    say("Downloading the package: " + uri)
    say("Running command: gsutil -q cp %s %s" % (uri, name))
    for pause_s in PAUSES_S + (None,):
        try:
            return fetch(uri, os.path.join(folder, name))
        except Passing as error:
            if pause_s is None:
                raise Failure(1, "%s cannot be downloaded: %s" % (uri, error))
            note_error("%s: %s; trying again in %s s" % (uri, error, pause_s))
            time.sleep(pause_s)


# ---- packages -----------------------------------------------------------------------------------------------

def pip_command(python):
    """The pip that goes by the interpreter's name: pip3 of python3; where there is none, the interpreter's own."""
    name = "pip" + os.path.basename(python)[len("python"):]
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if os.access(os.path.join(folder, name), os.X_OK):
            return [name]
    return [python, "-m", "pip"]


def has_setuptools(wheels):
    try:
        return any(name.lower().startswith("setuptools-") for name in os.listdir(wheels))
    except OSError as error:
        raise Failure(1, "The directory of --wheels cannot be read by the image's user, %d: %s." % (os.getuid(), error.strerror))


def pip_environment(wheels):
    """The environment for pip. If there is a directory of wheels, pip uses no index, which may be unreachable; source
    packages are then built with the image's own setuptools, unless the directory has one."""
    environment = dict(os.environ)
    # the image is used by this job only, so pip may change what the system installed
    environment["PIP_BREAK_SYSTEM_PACKAGES"] = "1"
    environment.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    environment.setdefault("PIP_ROOT_USER_ACTION", "ignore")
    if wheels and os.path.isdir(wheels):
        links = environment.get("PIP_FIND_LINKS", "").split() + [wheels]
        environment.update(PIP_NO_INDEX="1", PIP_FIND_LINKS=" ".join(links))
        if not has_setuptools(wheels):
            environment["PIP_NO_BUILD_ISOLATION"] = "0"     # "0" means no isolation, in spite of the name
    return environment


def install(task, uri, package, pip, environment):
    """Installs twice, as the service does: first the package, even over an installed version, then its dependencies."""
    folder, name = package
    say("Installing the package: " + uri)
    task.run_step(pip + ["install", "--user", "--upgrade", "--force-reinstall", "--no-deps", name], folder, environment)
    task.run_step(pip + ["install", "--user", name], folder, environment)


def user_base_set(directory):
    """Sets the directory of pip's --user. By default it is below the home directory, which the image's user may lack."""
    home = os.path.expanduser("~")
    if "PYTHONUSERBASE" not in os.environ and not os.access(home, os.W_OK | os.X_OK):
        os.environ["PYTHONUSERBASE"] = os.path.join(directory, "local")


def install_all(task, options, directory):
    packages = []
    for index, uri in enumerate(options.packages):
        package = package_path(directory, index, uri)
        download(uri, *package)
        packages.append((uri, package))
    user_base_set(directory)
    pip, environment = pip_command(options.python), pip_environment(options.wheels)
    for uri, package in packages:
        install(task, uri, package, pip, environment)


# ---- the whole ----------------------------------------------------------------------------------------------

class Options(object):
    def __init__(self, words):
        end = words.index("--")
        self.python, self.module, self.wheels, self.packages = "python3", None, None, []
        self.specification, self.wrapper = "TF_CONFIG", None
        for word in words[:end]:
            name, value = word.split("=", 1)
            if name == "--package":
                self.packages.append(value)
            else:
                setattr(self, name[2:], value)
        self.arguments = words[end + 1:]


def specification(options):
    """The replica's task, from the environment."""
    try:
        config = json.loads(os.environ[options.specification], object_pairs_hook=OrderedDict)
        return config if isinstance(config, dict) else {}
    except (KeyError, ValueError):
        return {}


def task_arguments(config):
    """The arguments that the service gives its own launcher. This one only logs them: it reads the environment."""
    try:
        job = config["job"] if not isinstance(config["job"], dict) else json.dumps(config["job"])
        return ["--cluster=" + json.dumps(config["cluster"]), "--task=" + json.dumps(config["task"]),
                "--job=" + " ".join(job.split("\n"))]
    except (KeyError, TypeError, AttributeError):
        return []


def is_first(config):
    task = config.get("task")
    return isinstance(task, dict) and task.get("type") in ("chief", "workerpool0")


def wrap(options, config):
    """What the service's wrapper around its launcher does and logs."""
    if is_first(config):
        os.environ["MASTER_ADDR"] = socket.gethostname()
        say("Updating master address to local address " + os.environ["MASTER_ADDR"])
    say("Running " + options.wrapper)


def run_module(task, options, directory):
    """Runs the module; returns the exit status of the replica."""
    install_all(task, options, directory)
    command = [options.python, "-m", options.module] + options.arguments
    status = task.run(command)
    if status and not task.signum:
        note_error("Module raised an exception for failing to call a subprocess %s"
                   % subprocess.CalledProcessError(status, command))
    return exit_status(status)


def run_task(task, options, directories):
    """Installs the packages and runs the module. Adds the temporary directories that it makes to `directories`."""
    try:
        task.may_be_stopped()
        config = specification(options)
        if options.wrapper:
            wrap(options, config)
        say("Running task with arguments: " + " ".join(task_arguments(config)))
        say("Running module %s." % options.module)
        directories.append(tempfile.mkdtemp(prefix="trainyard-packages-"))
        return run_module(task, options, directories[0])
    except Failure as failure:
        complain(str(failure))
        return failure.status


def main():
    task, options, directories = Task(), Options(sys.argv[1:]), []
    try:
        status = run_task(task, options, directories)
    except Stopped:
        status = 128 + task.signum
    task.only_notes = True
    say("Module completed; cleaning up.")
    for directory in directories:
        shutil.rmtree(directory, ignore_errors=True)
    say("Clean up finished.")
    if status == 0:
        say("Task completed successfully.")
    return status


sys.exit(main())
