/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/exec.h: `trainyard exec -- COMMAND`: runs a command with a temporary daemon of its own. */

struct invocation;

/* Defaults for options that the command line does not give: free ports, a temporary state directory, jobs stopped at
 * the end. The environment and the configuration file are ignored for these: they are for the user's own daemon. */
extern const char *const exec_config[];
#define EXEC_STATE_DIR "(one of this run)"

/* The command's exit code; 128 plus the number of the signal that ended it; EXIT_NOT_STARTED if the daemon or the
 * command did not start; EXIT_FAILED instead of success if something of the daemon is left. */
int exec_main(struct invocation *invocation);
