/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_turns.h: which calls that may last have one of the threads that serve the file system, and which wait
 * for it without one.
 *
 * A call that stores, copies or waits for a file's lock holds its thread for as long as that takes, so GCS_TURNS of
 * them run at a time, and a container may begin one as long as it runs fewer than are free: one container alone has
 * half of them, a second one finds half of the other half, and so on. The rest are kept here, as the kernel sent them,
 * first come, first served among the containers that may begin. All other calls are short, and need no turn.
 *
 * A call that is kept is given up when its caller is killed, as is every call that lasts (gcs_wait.h). Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GCS_TURNS = 32, GCS_HELD_BYTES = 64 << 20 };

struct gcs_turns;

/* A request that waits for its turn. */
struct gcs_held {
	struct gcs_held *next;
	uint64_t number; /* in the order in which they came */
	uint64_t node;
	pid_t caller; /* 0: nobody waits for it */
	int64_t since_us;
	size_t length;
	char bytes[];
};

enum gcs_turn {
	GCS_TURN_NOW,   /* until gcs_turns_pass() */
	GCS_TURN_LATER, /* a copy is kept */
	GCS_TURN_NEVER, /* too many bytes of its container are kept, or there is no memory for these */
};

/* The caller frees. */
struct gcs_turns *gcs_turns_new(void);
/* Frees what is kept. NULL is harmless. */
void gcs_turns_free(struct gcs_turns *turns);

enum gcs_turn gcs_turns_take(struct gcs_turns *turns, uint64_t node, pid_t caller, const void *bytes,
			     size_t length);
/* Ends one of a container's calls. Returns the next call to run, already begun, the caller's to free(); NULL: none. */
struct gcs_held *gcs_turns_pass(struct gcs_turns *turns, uint64_t node);

/* Waits until something is kept, and a second. False: gcs_turns_stop() was called. */
bool gcs_turns_wait(struct gcs_turns *turns);
/* All kept calls of processes that no longer wait, as a list, the caller's to free(). */
struct gcs_held *gcs_turns_abandoned(struct gcs_turns *turns);
void gcs_turns_stop(struct gcs_turns *turns);
