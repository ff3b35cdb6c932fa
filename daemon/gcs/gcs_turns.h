/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_turns.h: decides which slow calls get one of the threads that serve the file system, and which wait
 * without a thread.
 *
 * A call that stores, copies or waits for a file's lock occupies its thread meanwhile. So at most GCS_TURNS of them run
 * at a time, and a container may begin one only while its running calls are fewer than the free turns: a single
 * container gets half of the turns, a second one half of the rest, and so on. Other slow calls are kept here, as the
 * kernel sent them, in order of arrival among the containers that may begin. All other calls are short, and need no
 * turn.
 *
 * A waiting call is dropped when its caller is killed, as is every slow call (gcs_wait.h). Thread: any. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { GCS_TURNS = 32, GCS_HELD_BYTES = 64 << 20 };

struct gcs_turns;

/* A call that waits for its turn. */
struct gcs_held {
	struct gcs_held *next;
	uint64_t number; /* in order of arrival */
	uint64_t node;
	pid_t caller; /* the waiting thread; 0: no process waits for the call */
	int64_t since_us;
	size_t length;
	char bytes[];
};

enum gcs_turn {
	GCS_TURN_NOW,   /* the call can run; call gcs_turns_pass() when it has ended */
	GCS_TURN_LATER, /* the call has to wait, and a copy of it is kept */
	GCS_TURN_NEVER, /* refused: too many bytes of its container wait, or there is no memory */
};

/* Makes an empty list of calls, which the caller frees. */
struct gcs_turns *gcs_turns_new(void);
/* Frees the waiting calls. NULL is harmless. */
void gcs_turns_free(struct gcs_turns *turns);

enum gcs_turn gcs_turns_take(struct gcs_turns *turns, uint64_t node, pid_t caller, const void *bytes,
			     size_t length);
/* Counts one of the container's calls as ended. Returns the next call to run, already counted as running, which the
 * caller must free(); NULL: none. */
struct gcs_held *gcs_turns_pass(struct gcs_turns *turns, uint64_t node);

/* Blocks until a call waits for its turn, and one second more. False: gcs_turns_stop() was called. */
bool gcs_turns_wait(struct gcs_turns *turns);
/* Removes all waiting calls of processes that no longer need an answer. Returns them as a list, which the caller
 * must free(). */
struct gcs_held *gcs_turns_abandoned(struct gcs_turns *turns);
void gcs_turns_stop(struct gcs_turns *turns);
