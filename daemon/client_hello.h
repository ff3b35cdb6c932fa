/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/client_hello.h: whom a TLS client means to talk to, from the first bytes that it sends. Pure; the bytes are
 * hostile. Source: https://www.rfc-editor.org/rfc/rfc8446 (4.1.2, 5.1), https://www.rfc-editor.org/rfc/rfc6066 (3). */
#include <stddef.h>
#include <stdint.h>

/* Hellos with post-quantum keys have some 2,000 bytes; one that is longer than this is not waited for. */
enum { HELLO_MAX_BYTES = 16384, HELLO_NAME_SIZE = 256 };

enum hello {
	HELLO_INCOMPLETE, /* more is to come */
	HELLO_NAMED,
	HELLO_UNNAMED, /* it names no host, or it is no TLS */
};

/* @ret_name: lowercase letters, digits, '-', '_' and '.'; set with NAMED only. */
enum hello client_hello_read(const uint8_t *data, size_t length, char ret_name[HELLO_NAME_SIZE]);
