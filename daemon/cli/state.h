/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/state.h: `trainyard export` and `import`: the whole state of a daemon as a folder of this machine (its
 * form: store/state_folder.h). Thread: the first. */
struct invocation;

int export_main(struct invocation *invocation);
int import_main(struct invocation *invocation);
