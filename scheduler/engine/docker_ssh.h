/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_ssh.h: connects to the engine of another machine by the program ssh, like Docker's client:
 * `ssh HOST docker system dial-stdio` connects its standard input and output with the engine there. */
struct endpoint;

/* Runs ssh with @near as its input and output until one of them ends, and closes @near. If the connection cannot be
 * made, ssh's message becomes the endpoint's problem. */
void ssh_carry(struct endpoint *endpoint, int near);
