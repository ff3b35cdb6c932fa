/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/exec.h: `trainyard exec -- COMMAND`: a daemon of its own for one command. */

struct invocation;

/* The command's exit code; 128 and the number of the signal that ended it; EXIT_NOT_STARTED where the daemon or the command
 * did not start. */
/* Options that hold where the user gives no others: free ports, a state directory of this run, quiet. */
extern const char *const exec_config[];
#define EXEC_STATE_DIR "(one of this run)"

int exec_main(struct invocation *invocation);
