/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_cp.h: `trainyard cp` and `trainyard cat`: copy bytes between files of this machine and Cloud
 * Storage.
 *
 * A file gets its name when all of its bytes are there and their checksums match; until then it is a temporary file
 * beside it, which is removed on failure and when the command is interrupted. */
struct invocation;

int cp_main(struct invocation *invocation);
int cat_main(struct invocation *invocation);
