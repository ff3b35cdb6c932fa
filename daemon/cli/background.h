/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/background.h: `trainyard start`, `stop` and `status`: a user's daemon without a terminal.
 *
 * The daemon is that of a state directory: its lock file names the process, its address file the endpoint. Its log goes
 * to the file daemon.log there. */

struct invocation;

int start_main(struct invocation *invocation);
int stop_main(struct invocation *invocation);
int status_main(struct invocation *invocation);
