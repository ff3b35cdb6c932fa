/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_ls.h: `trainyard ls` and `trainyard rm`: lists and removes buckets and objects. */
struct invocation;

int ls_main(struct invocation *invocation);
int rm_main(struct invocation *invocation);
