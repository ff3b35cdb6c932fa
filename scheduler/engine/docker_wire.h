/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_wire.h: a connection by TCP to an engine, plain or with TLS.
 *
 * All calls but wire_open() return at once. Thread: one at a time. */
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

/* Connects, within ten seconds or until the other end of the socket @near is closed. False: @problem says why not, in
 * @problem_size bytes with their NUL. wire_close() in either case. */
bool wire_open(const struct endpoint_address *place, int near, struct wire *ret_wire, char *problem,
	       size_t problem_size);
void wire_close(struct wire *wire);

/* How many bytes were moved; 0: the end; or an enumerator. With WIRE_BROKEN @problem has the reason. */
ssize_t wire_receive(struct wire *wire, char *data, size_t size, char *problem, size_t problem_size);
ssize_t wire_send(struct wire *wire, const char *data, size_t length);
/* Nothing more is sent; the engine may still send. */
void wire_end_sending(struct wire *wire);
/* Whether bytes were taken off the socket that wire_receive() has not handed over: poll() does not know of them. */
bool wire_holds_bytes(const struct wire *wire);
