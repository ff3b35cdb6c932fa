# SPDX-License-Identifier: Apache-2.0
"""TensorBoard event files written without TensorBoard: records with masked CRC-32Cs around protobuf messages."""
import struct


def _table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def record(data):
    header = struct.pack("<Q", len(data))
    return header + masked_crc(header) + data + masked_crc(data)


def varint(number):
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def version(time_s):
    """The first record of a file."""
    return record(b"\x09" + struct.pack("<d", time_s) + message(3, b"brain.Event:2"))


def simple(tag, number):
    """A scalar as TensorFlow 1 writes it."""
    return message(1, message(1, tag.encode()) + b"\x15" + struct.pack("<f", number))


def tensor(tag, number):
    """A scalar as TensorFlow 2 writes it: a tensor of one float for the plugin "scalars"."""
    return message(1, message(1, tag.encode()) + message(9, message(1, message(1, b"scalars"))) +
                   message(8, b"\x08\x01" + message(2, b"") + message(4, struct.pack("<f", number))))


def event(time_s, step, *values):
    return record(b"\x09" + struct.pack("<d", time_s) + b"\x10" + varint(step) + message(5, b"".join(values)))
