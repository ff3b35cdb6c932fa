/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/shell.h: `trainyard shell`: runs a program in a replica's container, on the user's terminal or through
 * pipes. */
struct invocation;

int shell_main(struct invocation *invocation);
