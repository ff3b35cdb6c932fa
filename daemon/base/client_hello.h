/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/client_hello.h: reads from the first bytes of a TLS client which host it wants, and by which protocol.
 * Pure; the bytes are untrusted. Source: https://www.rfc-editor.org/rfc/rfc8446 (4.1.2, 5.1),
 * https://www.rfc-editor.org/rfc/rfc6066 (3), https://www.rfc-editor.org/rfc/rfc7301 (3.1). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Hellos with post-quantum keys have some 2,000 bytes; longer ones than this are rejected. */
enum { HELLO_MAX_BYTES = 16384, HELLO_NAME_SIZE = 256 };

enum hello {
	HELLO_INCOMPLETE, /* more is to come */
	HELLO_NAMED,
	HELLO_UNNAMED, /* it names no host, or is not TLS */
};

struct client_hello {
	char name[HELLO_NAME_SIZE]; /* lowercase letters, digits, '-', '_' and '.'; "" except with NAMED */
	/* It offers HTTP/2 and not HTTP/1.1, like gRPC clients. Clients that offer both speak either, and those that
	 * offer neither speak HTTP/1.1. */
	bool http2_only;
};

/* @ret_hello is set for NAMED and UNNAMED. */
enum hello client_hello_read(const uint8_t *data, size_t length, struct client_hello *ret_hello);
