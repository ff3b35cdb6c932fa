# SPDX-License-Identifier: Apache-2.0
"""Requests that a seed makes, by hundreds: of good ones, with what a hostile client would change in them, and without the token.
Nothing happens, whatever they are.

    pytest tests/attack/test_generated.py --cycles 100 --seed 7     # a hundred times as many, by seeds from 8 on"""
import random

import pytest

from support.attack import job_body, mutating, raw, statuses, untouched

from .conftest import TOKEN

REQUESTS = 150  # for each cycle and endpoint
TOGETHER = 50
HOSTS = ("localhost", "127.0.0.1", "[::1]", "evil.example", "localhost.evil.example", "localhost@evil.example", "", " localhost", "0")
ORIGINS = ("null", "http://evil.example", "http://localhost", "https://localhost:1", "http://127.0.0.1:80", "file://")
SITES = ("cross-site", "same-site", "same-origin", "none", "")
TYPES = ("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
         "application/json; charset=utf-7", "", "application/json, text/plain")
TOKENS = ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), TOKEN[1:], TOKEN[::-1], "Bearer", "a" * 5000, f"{TOKEN},{TOKEN}", "%61" + TOKEN[1:])
SCHEMES = ("Bearer ", "bearer  ", "Basic ", "Bearer\t", "")
METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT", "post", "PRI", "")
PATH_PARTS = ("..", "%2e%2e", "%2F", "%00", "//", ";", "%", "%c0%af", "?", "#", "\\", "é", "x" * 3000, ":cancel", "_trainyard")
HEADERS = ("X-HTTP-Method-Override: DELETE", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: localhost", "Transfer-Encoding: chunked",
           "Transfer-Encoding: identity, chunked", "Expect: 100-continue", "Upgrade: h2c", "Connection: Upgrade, keep-alive",
           "Content-Length: 0", "Content-Length: -1", "Content-Length: 99999999999999999999", "Cookie: a=b", " folded: yes", "nothing",
           "Content-Encoding: gzip", "Range: bytes=0-", "X: " + "y" * 9000, f"X-Goog-Api-Key: {TOKEN}x", f"X-Goog-Api-Key: {TOKEN[1:]}")
ENDS = ("\r\n", "\n", "\r", "\r\n\r\n")


def drawn(dice, good, *others):
    """Mostly returns the valid value, because a request with several errors is refused for the first one only."""
    return dice.choice(others) if dice.random() < 0.1 else good


def headers_of(dice, body):
    lines = [f"Host: {drawn(dice, *HOSTS)}", f"Content-Type: {drawn(dice, *TYPES)}",
             f"Content-Length: {max(0, len(body) + drawn(dice, 0, -1, 1))}",
             f"Authorization: {drawn(dice, *SCHEMES)}{dice.choice(TOKENS)}"]
    lines += drawn(dice, [], [f"Origin: {dice.choice(ORIGINS)}"], [f"Sec-Fetch-Site: {dice.choice(SITES)}"])
    lines += drawn(dice, [], *(dice.sample(HEADERS, count) for count in (1, 2, 3)))
    return dice.sample(lines, len(lines))


def hostile(dice, calls):
    """One or more requests for one connection."""
    method, path = dice.choice(calls)
    for _ in range(drawn(dice, 0, 1, 2)):
        at = dice.randrange(len(path) + 1)
        path = path[:at] + dice.choice(PATH_PARTS) + path[at:]
    body = drawn(dice, job_body(f"generated_{dice.randrange(10**6)}"), dice.randbytes(dice.randrange(300)))
    head = [f"{drawn(dice, method, *METHODS)} {path} HTTP/1.{drawn(dice, 1, 0)}", *headers_of(dice, body), "", ""]
    data = bytearray(drawn(dice, *ENDS).join(head).encode() + body)
    for _ in range(drawn(dice, 0, 1, 5)):
        data[dice.randrange(len(data))] = dice.randrange(256)
    return bytes(data) + (hostile(dice, calls) if dice.random() < 0.1 else b"")


# Fails with: is_the_token() of daemon/token.c that takes any text of 22 bytes: jobs were created.
@pytest.mark.each_cycle
def test_no_request_without_the_token_does_anything(locked, seed):
    dice, calls, answered = random.Random(seed), mutating(), 0
    for _ in range(REQUESTS // TOGETHER):
        with untouched(locked):
            for _ in range(TOGETHER):
                data = hostile(dice, calls)
                codes = statuses(raw(locked, data))
                assert all(400 <= code < 500 or code in (100, 501, 505) for code in codes), (codes, data)
                answered += bool(codes)
    assert answered > REQUESTS / 2
