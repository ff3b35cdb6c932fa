/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_wire.h: a TCP connection to an engine, plain or with TLS.
 *
 * All calls except wire_open() return at once. Thread: one at a time. */
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "scheduler/engine/docker_endpoint.h"

struct wire {
	int fd;
	gnutls_certificate_credentials_t credentials; /* NULL: without TLS */
	gnutls_session_t tls;                         /* likewise */
};

enum { WIRE_AGAIN = -1, WIRE_BROKEN = -2 };

/* Connects within ten seconds, or gives up when the other end of the socket @near is closed. False: @problem has the
 * reason, in @problem_size bytes with its NUL. Call wire_close() in either case. */
bool wire_open(const struct endpoint_address *place, int near, struct wire *ret_wire, char *problem,
	       size_t problem_size);
void wire_close(struct wire *wire);

/* The number of bytes moved; 0: end of stream; or an enumerator. For WIRE_BROKEN @problem has the reason. */
ssize_t wire_receive(struct wire *wire, char *data, size_t size, char *problem, size_t problem_size);
ssize_t wire_send(struct wire *wire, const char *data, size_t length);
/* Ends the sending direction; the engine may still send. */
void wire_end_sending(struct wire *wire);
/* Whether received bytes are buffered that wire_receive() has not returned: poll() does not see them. */
bool wire_holds_bytes(const struct wire *wire);
