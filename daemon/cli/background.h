/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/background.h: `trainyard start`, `stop` and `status`: a user's daemon without a terminal.
 *
 * The daemon is that of a state directory: its lock file names the process, its address file the endpoint. Its log goes
 * to the file daemon.log there. */

#include <jansson.h>

#include "daemon/base/text.h"

struct invocation;

int start_main(struct invocation *invocation);
int stop_main(struct invocation *invocation);
int status_main(struct invocation *invocation);

/* Appends how long the daemon keeps jobs, from the part of its health about it: "jobs for 30d after their end, at most
 * 20.0 GiB (1.2 GiB now, 3 removed)"; nothing if @retention is NULL. */
void retention_write(struct text *text, const json_t *retention);
