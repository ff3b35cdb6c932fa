/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_ssh.h: a connection to another machine's engine by the program ssh, as Docker's client makes it:
 * `ssh HOST docker system dial-stdio` there connects its standard input and output with the engine. */
struct endpoint;

/* Runs ssh with @near, which it closes, as its input and output, until either ends. What ssh says of a connection that could
 * not be made becomes the endpoint's problem. */
void ssh_carry(struct endpoint *endpoint, int near);
