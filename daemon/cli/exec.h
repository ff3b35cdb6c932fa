/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/exec.h: `trainyard exec -- COMMAND`: runs a command with a temporary daemon of its own. */

struct invocation;

/* Defaults of options that the command line does not give: free ports, a temporary state directory, jobs stopped at the
 * end. For these options the environment and the configuration file are ignored, because they apply to the user's own
 * daemon. */
extern const char *const exec_config[];
#define EXEC_STATE_DIR "(one of this run)"

/* Returns the command's exit code; 128 plus the number of the signal that ended it; EXIT_NOT_STARTED if the daemon or
 * the command did not start; or EXIT_FAILED instead of 0 if something of the daemon could not be removed. */
int exec_main(struct invocation *invocation);
