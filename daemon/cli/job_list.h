/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/job_list.h: `trainyard jobs`: lists jobs of all APIs and locations. */

struct invocation;

extern const char *const job_states[]; /* ends with NULL */

int jobs_main(struct invocation *invocation);
/* Prints a line for each job that `trainyard jobs` lists, "NAME<TAB>KIND STATE", for the completions of shells. */
int job_names_main(struct invocation *invocation);
