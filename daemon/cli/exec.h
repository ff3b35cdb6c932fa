/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/exec.h: `trainyard exec -- COMMAND`: a daemon of its own for one command. */

struct invocation;

/* Options that hold where the command line gives no others: free ports, a state directory of this run, jobs stopped at the
 * end. The environment and the configuration file do not change these: they are for the user's own daemon. */
extern const char *const exec_config[];
#define EXEC_STATE_DIR "(one of this run)"

/* The command's exit code; 128 and the number of the signal that ended it; EXIT_NOT_STARTED where the daemon or the command
 * did not start; EXIT_FAILED in the place of a good one where something of the daemon is left. */
int exec_main(struct invocation *invocation);
