/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/cloud_cp.h: `trainyard cp` and `trainyard cat`: bytes between files of this machine and Cloud Storage.
 *
 * A file appears under its name when all of its bytes are there and their checksums were compared; until then it is a file
 * beside it, which goes away on failure and when the command is interrupted. */
struct invocation;

int cp_main(struct invocation *invocation);
int cat_main(struct invocation *invocation);
