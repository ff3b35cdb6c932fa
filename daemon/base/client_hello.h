/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/client_hello.h: reads from the first bytes of a TLS client which host it wants, and by which protocol.
 * Pure; the bytes are untrusted. Source: https://www.rfc-editor.org/rfc/rfc8446 (4.1.2, 5.1),
 * https://www.rfc-editor.org/rfc/rfc6066 (3), https://www.rfc-editor.org/rfc/rfc7301 (3.1). */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* HELLO_MAX_BYTES: longer hellos are rejected; those with post-quantum keys have about 2,000 bytes. */
enum { HELLO_MAX_BYTES = 16384, HELLO_NAME_SIZE = 256 };

enum hello {
	HELLO_INCOMPLETE, /* more is to come */
	HELLO_NAMED,
	HELLO_UNNAMED, /* the client names no host, or does not use TLS */
};

struct client_hello {
	char name[HELLO_NAME_SIZE]; /* lowercase letters, digits, '-', '_' and '.'; "" unless the result is HELLO_NAMED */
	/* The client offers HTTP/2 but not HTTP/1.1, as gRPC clients do. Clients that offer both can speak HTTP/1.1, and
	 * clients that offer neither do. */
	bool http2_only;
};

/* Reads the first bytes of a client. *ret_hello is set for HELLO_NAMED and HELLO_UNNAMED. */
enum hello client_hello_read(const uint8_t *data, size_t length, struct client_hello *ret_hello);
