# SPDX-License-Identifier: Apache-2.0
"""Learns to read handwritten digits, on one machine or many. Python's standard library only.

  ps       holds parameters, applies gradients, serves until it is killed
  worker   computes gradients on its share of the training data, then ends
  master   the same, and measures, reports and writes the model: its end is the job's end

Which role this process has, and where the others are, is in the environment: CLUSTER_SPEC.
The frames on the wire and the model file are those of the C trainer beside (see trainer.h), so that
the two may stand for each other in one job.
"""
import argparse
import array
import base64
import json
import math
import os
import random
import signal
import socket
import struct
import sys
import threading
import time
from operator import mul

PIXELS, DIGITS, PIXEL_MAX, SIDE, MAX_HIDDEN = 64, 10, 16, 8, 4096
FILE_MAGIC, WIRE_MAGIC = b"TYDIGIT1", 0x54594431
HELLO, INIT, PULL, PUSH, ROLL, BYE, OK, VALUES, NOT_READY = range(1, 10)
ROLES = ["master", "worker", "ps"]
ABSENT, TRAINING, DONE, LOST = range(4)                  # attendance of a worker
MAX_WORDS, PEER_TIMEOUT_S = 1 << 19, 30


class Failure(Exception):
    """Ends the program with one line on stderr."""


def print_entry(**fields):
    """Prints a structured log entry: a line of JSON, of which "severity" is lifted out."""
    print(json.dumps(fields))


# ---- the cluster ------------------------------------------------------------------------------------

class Cluster:
    """This process's role and index, and the addresses of all tasks. The JSON lacks roles that the job does not have."""

    def __init__(self, spec):
        try:
            root = json.loads(spec or '{"cluster": {"master": ["127.0.0.1:2222"]}, "task": {"type": "master"}}')
            self.addresses = {role: list(root["cluster"].get(role, [])) for role in ROLES}
            self.role, self.index = root["task"]["type"], int(root["task"].get("index", 0))
            self.own_address = self.addresses[self.role][self.index]
            for address in sum(self.addresses.values(), []):
                split_address(address)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise Failure(f"CLUSTER_SPEC: {error!r}") from error
        if len(self.addresses["master"]) != 1:
            raise Failure("CLUSTER_SPEC: cluster.master must name one task")
        self.workers = self.addresses["worker"]
        # The tasks that hold the parameters: every ps or, in a cluster without one, the master.
        self.holder_role = "ps" if self.addresses["ps"] else "master"
        self.holders = self.addresses[self.holder_role]
        # Master and workers train: the master is trainer 0, worker N is trainer N + 1.
        self.trainer_count = 1 + len(self.workers)
        self.trainer_index = 0 if self.role == "master" else self.index + 1


def split_address(address):
    host, _, port = address.rpartition(":")
    if not host or not 1 <= int(port) <= 65535:
        raise ValueError(f'"{address}" is not "host:port"')
    return host, int(port)


# ---- frames: a kind, a count, and so many 32-bit words, in network byte order --------------------------

def pack(values, typecode="f"):
    words = array.array(typecode, values)
    if sys.byteorder == "little":
        words.byteswap()
    return words.tobytes()


def unpack(body, typecode="f"):
    words = array.array(typecode, body)
    if sys.byteorder == "little":
        words.byteswap()
    return words.tolist()


def send_frame(sock, kind, body=b""):
    sock.sendall(struct.pack(">II", kind, len(body) // 4) + body)


def receive_exactly(sock, count):
    body = bytearray()
    while len(body) < count:
        part = sock.recv(min(count - len(body), 1 << 16))
        if not part:
            raise ConnectionError("it closed the connection")
        body += part
    return bytes(body)


def receive_frame(sock, most_words):
    kind, count = struct.unpack(">II", receive_exactly(sock, 8))
    if not HELLO <= kind <= NOT_READY or count > most_words:
        raise ConnectionError("it sent a frame that makes no sense")
    return kind, receive_exactly(sock, 4 * count)


def connect(address, deadline):
    """The replicas of a job start in any order: an unknown name or a closed port is normal at first."""
    while True:
        try:
            sock = socket.create_connection(split_address(address), timeout=PEER_TIMEOUT_S)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


# ---- parameters: the server, and the client that master and workers use ---------------------------------

class Shard:
    """The parameters, or the part of them, that one holder has. Threads use it under the lock."""

    def __init__(self, cluster, learning_rate):
        self.cluster, self.learning_rate = cluster, learning_rate
        self.lock, self.values = threading.Lock(), []
        self.attendance = [ABSENT] * len(cluster.workers)

    def step(self, gradient):
        with self.lock:
            if len(gradient) != len(self.values):
                raise ConnectionError("it sent a gradient of another size")
            rate = self.learning_rate
            self.values = [value - rate * slope for value, slope in zip(self.values, gradient)]
            return self.values

    def serve(self):
        # Only the port is taken from the address: a container may know itself by another name than its
        # peers do. Loopback stays loopback, so that a run by hand opens no port to the outside.
        host, port = split_address(self.cluster.own_address)
        listener = socket.create_server((host if host in ("127.0.0.1", "localhost") else "", port))
        print(f"parameter server {self.cluster.index} listens for {self.cluster.own_address}")
        while True:
            sock, _ = listener.accept()
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            threading.Thread(target=self.serve_connection, args=[sock], daemon=True).start()

    def serve_connection(self, sock):
        with sock:
            try:
                kind, body = receive_frame(sock, 3)
                magic, role, index = struct.unpack(">III", body)
                if (kind, magic) != (HELLO, WIRE_MAGIC) or index >= len(self.cluster.addresses[ROLES[:2][role]]):
                    raise ConnectionError
                self.note_attendance(role, index, TRAINING)
                send_frame(sock, OK)
            except (OSError, struct.error, LookupError):
                print("refused a connection that did not begin like a trainer of this cluster", file=sys.stderr)
                return
            try:
                while kind != BYE:
                    kind, body = receive_frame(sock, MAX_WORDS)
                    self.answer(sock, role, index, kind, body)
            except OSError as error:
                if ROLES[role] == "master":
                    print(f"the master vanished: {error}", file=sys.stderr, flush=True)
                    os._exit(1)
                # A worker may be restarted and connect again. The master decides about it at the end.
                self.note_attendance(role, index, LOST)
                print(f"worker {index} vanished: {error}", file=sys.stderr)

    def note_attendance(self, role, index, attendance):
        if ROLES[role] == "worker":
            self.attendance[index] = attendance

    def answer(self, sock, role, index, kind, body):
        if kind == INIT and ROLES[role] == "master" and body:
            with self.lock:
                self.values = unpack(body)
            send_frame(sock, OK)
        elif kind == PULL:
            send_frame(sock, VALUES if self.values else NOT_READY, pack(self.values))
        elif kind == PUSH:
            send_frame(sock, VALUES, pack(self.step(unpack(body))))
        elif kind == ROLL:
            send_frame(sock, ROLL, pack(self.attendance, "I"))
        elif kind == BYE:
            self.note_attendance(role, index, DONE)
            send_frame(sock, OK)
        else:
            raise ConnectionError("it sent a frame that makes no sense")


class Parameters:
    """A trainer's access to all parameters, wherever they are. Fails when a holder vanishes."""

    def __init__(self, cluster, local, count, deadline):
        self.cluster, self.local, self.deadline = cluster, local, deadline
        self.sockets = []
        holders = len(cluster.holders)
        self.cuts = [count * i // holders for i in range(holders + 1)]       # one shard per holder
        for i, address in enumerate([] if local else cluster.holders):
            try:
                self.sockets.append(connect(address, deadline))
            except OSError as error:
                raise self.failure(i, "cannot be reached", error) from error
            self.ask(i, HELLO, pack([WIRE_MAGIC, ROLES.index(cluster.role), cluster.index], "I"))
            self.hear(i, 0)

    def failure(self, i, what, why):
        return Failure(f"{self.cluster.holder_role} {i} ({self.cluster.holders[i]}) {what}: {why}")

    def ask(self, i, kind, body=b""):
        try:
            send_frame(self.sockets[i], kind, body)
        except OSError as error:
            raise self.failure(i, "vanished", error) from error

    def hear(self, i, count):
        try:
            kind, body = receive_frame(self.sockets[i], count)
        except OSError as error:
            raise self.failure(i, "vanished", error) from error
        if kind != NOT_READY and len(body) != 4 * count:
            raise self.failure(i, "answered wrongly", "do all replicas have the same flags?")
        return kind, body

    def shards(self):
        return list(enumerate(zip(self.cuts, self.cuts[1:])))

    def hand_out(self, values):
        if self.local:
            self.local.values = values
            return
        for i, (start, end) in self.shards():
            self.ask(i, INIT, pack(values[start:end]))
            self.hear(i, 0)

    def pull(self):
        if self.local:
            return self.local.values
        values = []
        for i, (start, end) in self.shards():
            self.ask(i, PULL)
            kind, body = self.hear(i, end - start)
            while kind == NOT_READY:
                if time.monotonic() > self.deadline:
                    raise self.failure(i, "has no parameters", "the master has not come")
                time.sleep(0.05)
                self.ask(i, PULL)
                kind, body = self.hear(i, end - start)
            values += unpack(body)
        return values

    def step(self, gradient):
        """Applies @gradient. Returns the new values, which include the steps of other trainers."""
        if self.local:
            return self.local.step(gradient)
        for i, (start, end) in self.shards():                # all requests are sent before the first answer is read,
            self.ask(i, PUSH, pack(gradient[start:end]))     # so that the shards work at the same time
        return sum((unpack(self.hear(i, end - start)[1]) for i, (start, end) in self.shards()), [])

    def roll(self):
        if self.local:
            return list(self.local.attendance)
        self.ask(0, ROLL)
        return unpack(self.hear(0, len(self.cluster.workers))[1], "I")

    def close(self):
        for i, sock in enumerate(self.sockets):
            self.ask(i, BYE)
            self.hear(i, 0)
            sock.close()


# ---- the model: pixels -> hidden units (ReLU) -> digits (softmax), all weights in one list ---------------

def read_images(path):
    """Returns a list of (64 pixels from 0 to 1, digit)."""
    images = []
    try:
        with open(path, encoding="ascii") as file:
            for row in file:
                *pixels, digit = map(int, row.split(","))
                good = len(pixels) == PIXELS and min(pixels) >= 0 and max(pixels) <= PIXEL_MAX
                if not good or not 0 <= digit < DIGITS:
                    raise ValueError
                images.append(([pixel / PIXEL_MAX for pixel in pixels], digit))
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise Failure(f"{path}: row {len(images) + 1} is not 64 numbers of 0 to 16 and a digit") from error
    if not images:
        raise Failure(f"{path}: no rows")
    return images


def shift_image(pixels, rng):
    """Moves an image by at most one pixel in each direction: more images to learn from."""
    right, down = rng.randint(-1, 1), rng.randint(-1, 1)
    return [pixels[(y - down) * SIDE + x - right] if 0 <= x - right < SIDE and 0 <= y - down < SIDE else 0.0
            for y in range(SIDE) for x in range(SIDE)]


class Model:
    """Reads weights as rows: one per hidden unit (64 long), then one per digit (as long as hidden)."""

    @staticmethod
    def size(hidden):
        return hidden * PIXELS + hidden + DIGITS * hidden + DIGITS

    @staticmethod
    def first_weights(hidden, rng):
        # Uniform in +-sqrt(6 / inputs), which keeps the variance through ReLU layers (He, 2015).
        def some(count, inputs):
            reach = math.sqrt(6 / inputs)
            return [rng.uniform(-reach, reach) for _ in range(count)]
        return some(hidden * PIXELS, PIXELS) + [0.0] * hidden + some(DIGITS * hidden, hidden) + [0.0] * DIGITS

    def __init__(self, weights, hidden):
        at = hidden * PIXELS
        self.hidden_rows = [weights[i:i + PIXELS] for i in range(0, at, PIXELS)]
        self.hidden_biases = weights[at:at + hidden]
        at += hidden
        self.digit_rows = [weights[at + d * hidden:at + (d + 1) * hidden] for d in range(DIGITS)]
        self.digit_biases = weights[at + DIGITS * hidden:]

    def weights(self):
        return sum(self.hidden_rows, []) + self.hidden_biases + sum(self.digit_rows, []) + self.digit_biases

    def forward(self, pixels):
        units = [max(0.0, sum(map(mul, row, pixels)) + bias)
                 for row, bias in zip(self.hidden_rows, self.hidden_biases)]
        sums = [sum(map(mul, row, units)) + bias for row, bias in zip(self.digit_rows, self.digit_biases)]
        largest = max(sums)
        powers = [math.exp(value - largest) for value in sums]
        total = sum(powers)
        return units, [power / total for power in powers]

    def add_gradient(self, pixels, digit, weight, gradient):
        """Adds the gradient at one image, times @weight, to the Model @gradient. Returns the loss there."""
        units, odds = self.forward(pixels)
        back = [0.0] * len(units)
        for d in range(DIGITS):
            slope = weight * (odds[d] - (d == digit))
            gradient.digit_rows[d] = [old + slope * unit for old, unit in zip(gradient.digit_rows[d], units)]
            gradient.digit_biases[d] += slope
            back = [old + slope * there for old, there in zip(back, self.digit_rows[d])]
        for h, (unit, slope) in enumerate(zip(units, back)):
            if unit > 0:
                gradient.hidden_rows[h] = [old + slope * p for old, p in zip(gradient.hidden_rows[h], pixels)]
                gradient.hidden_biases[h] += slope
        return loss_of(odds[digit])

    def predict(self, pixels):
        odds = self.forward(pixels)[1]
        return odds.index(max(odds)), odds

    def score(self, images):
        """Returns the mean loss and how many are right."""
        loss, right = 0.0, 0
        for pixels, digit in images:
            best, odds = self.predict(pixels)
            right += best == digit
            loss += loss_of(odds[digit]) / len(images)
        return loss, right


def loss_of(odds):
    return -math.log(odds if odds > 1e-12 else 1e-12) if odds == odds else odds      # keeps NaN a NaN


def model_to_bytes(weights, hidden):
    return FILE_MAGIC + struct.pack(">I", hidden) + pack(weights)


def read_model(path):
    try:
        with open(path, "rb") as file:
            content = file.read(len(FILE_MAGIC) + 4 + 4 * Model.size(MAX_HIDDEN) + 1)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from error
    if len(content) < len(FILE_MAGIC) + 4 or not content.startswith(FILE_MAGIC):
        raise Failure(f"{path}: not a model of this trainer")
    hidden, = struct.unpack_from(">I", content, len(FILE_MAGIC))
    body = content[len(FILE_MAGIC) + 4:]
    if not 1 <= hidden <= MAX_HIDDEN or len(body) != 4 * Model.size(hidden):
        raise Failure(f"{path}: a model of {hidden} hidden units has another size")
    return Model(unpack(body), hidden)


def checksum(content):
    """As cksum(1) prints it: the bytes, then their count with the lowest byte first."""
    count = len(content).to_bytes((len(content).bit_length() + 7) // 8, "little")
    total = 0
    for byte in content + count:
        total ^= byte << 24
        for _ in range(8):
            total = total << 1 ^ (0x104c11db7 if total >> 31 else 0)
    return total ^ 0xffffffff


def print_model(content):
    line_bytes = 720
    lines = [content[i:i + line_bytes] for i in range(0, len(content), line_bytes)]
    print(f"BEGIN MODEL of {len(content)} bytes, cksum {checksum(content)}, {len(lines)} lines")
    for i, line in enumerate(lines, 1):
        print(f"model {i}/{len(lines)}: {base64.b64encode(line).decode()}")
    print("END MODEL")


# ---- training: what master and workers have in common -----------------------------------------------------

class Training:
    def __init__(self, flags, cluster, local, deadline):
        self.flags = flags
        self.rng = random.Random(flags.seed * 1000 + cluster.trainer_index)
        images = read_images(os.path.join(flags.data_dir, "digits-train.csv"))
        self.images = images[cluster.trainer_index::cluster.trainer_count]
        if not self.images:
            raise Failure("more trainers than images")
        print(f"{cluster.role} {cluster.index}: trains on {len(self.images)} of {len(images)} images")
        self.weights = Model.first_weights(flags.hidden, self.rng)
        self.parameters = Parameters(cluster, local, len(self.weights), deadline)

    def model(self):
        return Model(self.weights, self.flags.hidden)

    def batch(self, images, step, shift):
        """One gradient, and one step. Returns the sum of the losses."""
        model, gradient = self.model(), Model([0.0] * len(self.weights), self.flags.hidden)
        loss = 0.0
        for pixels, digit in images:
            pixels = shift_image(pixels, self.rng) if shift else pixels
            loss += model.add_gradient(pixels, digit, step / len(images), gradient)
        self.weights = self.parameters.step(gradient.weights())
        return loss

    def epoch(self, epoch):
        """Trains once on the share and its shifted copies. Returns the mean loss."""
        step = 1 - (epoch - 1) / self.flags.epochs       # shrinks towards 0, so that training comes to rest
        loss = 0.0
        for copy in range(1 + self.flags.augment):
            self.rng.shuffle(self.images)
            for start in range(0, len(self.images), self.flags.batch):
                loss += self.batch(self.images[start:start + self.flags.batch], step, copy > 0)
        return loss / len(self.images) / (1 + self.flags.augment)


# ---- the roles ------------------------------------------------------------------------------------------------

def run_ps(flags, cluster):
    try:
        Shard(cluster, flags.learning_rate).serve()
    except OSError as error:
        raise Failure(f"cannot listen for {cluster.own_address}: {error}") from error


def run_worker(flags, cluster):
    training = Training(flags, cluster, None, time.monotonic() + flags.wait)
    training.weights = training.parameters.pull()
    print(f"worker {cluster.index}: has the first parameters")
    for epoch in range(1, flags.epochs + 1):
        loss = training.epoch(epoch)
    print(f"worker {cluster.index}: done after {flags.epochs} epochs, loss {loss:.4f}")
    training.parameters.close()


def wait_for_workers(training, cluster, deadline):
    """The end of the master ends the job and kills replicas that still work, so it waits for the workers."""
    while True:
        attendance = training.parameters.roll()
        if LOST in attendance:
            lost = attendance.index(LOST)
            raise Failure(f"worker {lost} ({cluster.workers[lost]}) vanished before its share was done")
        if TRAINING not in attendance and (ABSENT not in attendance or time.monotonic() > deadline):
            break
        time.sleep(0.02)
    for i, state in enumerate(attendance):
        if state == ABSENT:
            print_entry(severity="WARNING", worker=i,
                        message="a worker never came: its share of the data was not learnt")


def write_model(flags, weights):
    content = model_to_bytes(weights, flags.hidden)
    path = os.path.join(flags.output_dir, "model.bin")
    try:
        os.makedirs(flags.output_dir, exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror}") from error
    print(f"model written: {path}, {len(content)} bytes, cksum {checksum(content)}")
    if flags.print_model:
        print_model(content)


def run_master(flags, cluster):
    if flags.ignored_dir:
        print_entry(severity="WARNING", jobDir=flags.ignored_dir, outputDir=flags.output_dir,
                    message="this trainer cannot write to Cloud Storage: the model goes to a local directory")
    deadline = time.monotonic() + flags.wait
    local = Shard(cluster, flags.learning_rate) if cluster.holder_role == "master" else None
    if local and cluster.workers:
        threading.Thread(target=local.serve, daemon=True).start()

    test = read_images(os.path.join(flags.data_dir, "digits-test.csv"))
    training = Training(flags, cluster, local, deadline)
    training.parameters.hand_out(training.weights)
    before = training.model().score(training.images)[0]
    print(f"start: loss {before:.4f}, {len(training.weights)} parameters, {cluster.trainer_count} trainers, "
          f"{len(cluster.addresses['ps'])} parameter servers")

    start = time.monotonic()
    for epoch in range(1, flags.epochs + 1):
        loss = training.epoch(epoch)
        right = training.model().score(test)[1]
        print(f"epoch {epoch}/{flags.epochs}: loss {loss:.4f}, test accuracy {right / len(test):.4f}, "
              f"after {time.monotonic() - start:.2f} s")
    wait_for_workers(training, cluster, deadline)
    training.weights = training.parameters.pull()
    # Measures the written model: the file has 32-bit floats.
    training.weights = unpack(pack(training.weights))
    right = training.model().score(test)[1]
    write_model(flags, training.weights)
    print(f"final test accuracy {right / len(test):.4f} ({right} of {len(test)})")
    print_entry(severity="INFO", message="training finished", accuracy=round(right / len(test), 6),
                loss=round(loss, 6) if math.isfinite(loss) else -1.0, epochs=flags.epochs)
    training.parameters.close()
    if not loss < before:            # also if the loss is not a number
        raise Failure(f"the loss did not fall: {before:.4f}, then {loss:.4f}")


def run_predict(flags):
    model, images, right = read_model(flags.model), read_images(flags.predict), 0
    for row, (pixels, digit) in enumerate(images, 1):
        best, odds = model.predict(pixels)
        right += best == digit
        if best != digit:
            print(f"row {row}: a {digit}, taken for a {best} with odds of {odds[best]:.2f}")
    print(f"accuracy {right / len(images):.4f} ({right} of {len(images)})")


# ---- flags --------------------------------------------------------------------------------------------------

def number(kind, least, most):
    def parse(text):
        value = kind(text)
        if not least <= value <= most:
            raise ValueError
        return value
    parse.__name__ = f"number from {least} to {most}"
    return parse


class StoreDir(argparse.Action):
    """--job-dir is a Cloud Storage path when the service sets it: that one is only reported."""

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, "ignored_dir" if values.startswith("gs://") else "output_dir", values)


def parse_flags():
    parser = argparse.ArgumentParser(allow_abbrev=False, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    add = parser.add_argument
    add("--epochs", type=number(int, 1, 100000), default=20, help="how often to go through the data")
    add("--batch", type=number(int, 1, 10000), default=16, help="images per gradient")
    add("--augment", type=number(int, 0, 1000), default=0, help="shifted copies of each image to learn")
    add("--hidden", type=number(int, 1, MAX_HIDDEN), default=32, help="hidden units")
    add("--learning-rate", type=number(float, 1e-30, 1000), default=0.2, help="step size")
    add("--seed", type=number(int, 0, 2**32 - 1), default=1, help="of first weights and of the order")
    add("--data-dir", default=".", help="where digits-*.csv are")
    add("--output-dir", "--job-dir", action=StoreDir, default="/tmp/model", help="where the model goes")
    add("--print-model", action="store_true", help="print the model to stdout as well")
    add("--wait", type=number(int, 0, 86400), default=60, help="how many seconds a peer may be missing")
    add("--predict", metavar="FILE.csv", help="do not train: classify the rows of a file")
    add("--model", help="the model to classify with")
    parser.set_defaults(ignored_dir=None)
    flags = parser.parse_args()
    if bool(flags.predict) != bool(flags.model):
        parser.error("--predict and --model need each other")
    return flags


def main():
    # Without this, lines wait in a buffer until the end when stdout is a pipe, as in a container.
    sys.stdout.reconfigure(line_buffering=True)
    # Process 1 of a container ignores the signals that it does not handle: "stop" would take its full
    # grace time and then kill.
    signal.signal(signal.SIGTERM, lambda signum, _: os._exit(128 + signum))
    # The name of a replica that is not up yet may be looked up at a remote DNS server that does not answer. The lookup waits
    # for one second instead of ten, because connect() tries again.
    os.environ.setdefault("RES_OPTIONS", "timeout:1 attempts:1")

    flags = parse_flags()
    try:
        if flags.predict:
            return run_predict(flags)
        cluster = Cluster(os.environ.get("CLUSTER_SPEC"))
        return {"master": run_master, "worker": run_worker, "ps": run_ps}[cluster.role](flags, cluster)
    except Failure as failure:
        return failure                   # printed to stderr, status 1


if __name__ == "__main__":
    sys.exit(main())
