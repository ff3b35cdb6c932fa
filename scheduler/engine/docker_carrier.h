/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_carrier.h: carries one connection to an engine that is not at a unix socket: a thread of its own
 * connects, by TCP, TLS or the program ssh, and moves bytes both ways until either side has ended. */
struct endpoint;

/* Starts the thread, which then owns @near and holds a reference to the endpoint. Returns 0, or an errno: no thread was
 * started, and @near still belongs to the caller. Thread: any. */
int carrier_start(struct endpoint *endpoint, int near);
/* Like carrier_start(), but the thread itself accepts @near: the first connection that this process makes to
 * @listener, a unix socket, which the thread then owns. */
int carrier_start_listening(struct endpoint *endpoint, int listener);
