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
	KILL_BEFORE, /* before the call */
	KILL_TORN,   /* after the call; for a write, after its first part */
	KILL_POWER,  /* like KILL_BEFORE, with a power loss of the machine */
	KILL_WAY_COUNT
};

struct kill_order {
	const char *dir;  /* an absolute path without links */
	unsigned long at; /* number of the change, from 1; 0: only count */
	enum kill_way way;
	uint64_t seed; /* seed for what is torn and lost */
};

/* Starts counting from 0. No other thread may be changing files. */
void kill_arm(const struct kill_order *order);
void kill_disarm(void);
/* The number of changes so far. */
unsigned long kill_count(void);
