/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_wire.h: a connection to an engine or from an engine's client, plain or with TLS.
 *
 * All functions return at once, except wire_carry() and those that open a connection. Thread: one at a time. */
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "scheduler/engine/docker_endpoint.h"

struct wire {
	int fd;
	gnutls_certificate_credentials_t credentials; /* NULL: without TLS */
	gnutls_session_t tls;                         /* NULL: without TLS */
	bool is_agents; /* the engine is behind an agent */
};

enum { WIRE_AGAIN = -1, WIRE_BROKEN = -2 };

/* Connects within ten seconds, or gives up when the other end of the socket @near is closed. False: @problem has the
 * reason, in @problem_size bytes with its NUL. Call wire_close() in either case. */
bool wire_open(const struct endpoint_address *place, int near, struct wire *ret_wire, char *problem,
	       size_t problem_size);
/* Begins TLS as the server on @fd, within five seconds. @fd is non-blocking and belongs to the wire afterwards. The
 * client has to show the certificate keys->trusted. False: as for wire_open(); call wire_close() in either case. */
bool wire_serve(int fd, const struct wire_keys *keys, struct wire *ret_wire, char *problem,
		size_t problem_size);
void wire_close(struct wire *wire);

/* Both return the number of bytes moved; 0: end of the stream; or WIRE_AGAIN or WIRE_BROKEN. For WIRE_BROKEN
 * wire_receive() writes the reason to @problem. */
ssize_t wire_receive(struct wire *wire, char *data, size_t size, char *problem, size_t problem_size);
ssize_t wire_send(struct wire *wire, const char *data, size_t length);
/* Sets the options of a TCP socket, for either end: among them keepalive, which detects a machine that has gone. */
void wire_socket_prepare(int fd);
/* Ends the sending direction; the engine may still send. */
void wire_end_sending(struct wire *wire);
/* Moves bytes both ways until the engine has ended and all its bytes were sent, or until either end broke. It goes on
 * if only the client has ended its sending, or the engine has stopped accepting bytes.
 * @why: the reason if the engine's end broke before any byte came from it; otherwise "". */
void wire_carry(struct wire *client, struct wire *engine, char *why, size_t why_size);

/* Reads {"key": …, "certificate": …, "trusted": …}, each a PEM text. False: the text has another form. */
bool wire_keys_read(const char *text, size_t length, struct wire_keys *ret_keys);
void wire_keys_deinit(struct wire_keys *keys);
