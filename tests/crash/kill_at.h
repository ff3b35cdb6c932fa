/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/crash/kill_at.h: kills this process at its n-th change of files below a directory: at every system call that
 * writes, truncates, syncs, links, renames or removes there, whether SQLite's or our own.
 *
 * The calls are caught by defining libc's functions once more, which wins over libc's own. So the shipped program has
 * no code for it: store_crash.c links this file, and built as kill_at.so (LD_PRELOAD) it does the same to the daemon,
 * told by TRAINYARD_TEST_KILL_AT=N, ..._WAY=0..2, ..._DIR=PATH and ..._SEED=N.
 *
 * A kill loses nothing that the kernel was given. A power loss does: of what was written since a file was last synced,
 * any part may be there or not, by sectors, in any order, as the file system likes it. Choice: names (links, renames,
 * removals) are taken as kept in their order, as journalling file systems do. */
#include <stdint.h>

enum kill_way {
	KILL_BEFORE, /* the call has not been made */
	KILL_TORN,   /* it has: of a write, the first part */
	KILL_POWER,  /* as KILL_BEFORE, and the machine goes with it */
	KILL_WAY_COUNT
};

struct kill_order {
	const char *dir;  /* absolute, without links */
	unsigned long at; /* from 1; 0: only count */
	enum kill_way way;
	uint64_t seed; /* of what is torn and what is lost */
};

/* Counting begins anew. Not while other threads change files. */
void kill_arm(const struct kill_order *order);
void kill_disarm(void);
/* Changes so far. */
unsigned long kill_count(void);
