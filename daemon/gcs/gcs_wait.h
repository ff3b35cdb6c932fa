/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_wait.h: all waiting of the file system: for the daemon, for a network, and for another thread that stores
 * the same file, with the limits of each.
 *
 * A call holds one of the threads that serve the file system until it is answered. So the calls that wait at a time are
 * limited: each needs a place. A call that waits for a daemon gets one while fewer than GCS_PLACES_ALONE are taken; a
 * call that waits because of something that a user can cause, such as a fault rule, only while fewer than GCS_PLACES
 * are. A call that gets no place fails with EIO, and the other threads serve calls that need not wait. A call needs a
 * place
 *   at once              while the caller's container has no network (gcs_caller.h); for the pause before it repeats a
 *                        request that was answered with an error, or not at all; and, for a process that exits, for a
 *                        file that another call is storing;
 *   after GCS_BRIEFLY_S  while no daemon runs; for a file that another call is storing; and, as long as there are fault
 *                        rules (gcs_endpoint.h), for an answer. The time to store bytes is added to GCS_BRIEFLY_S,
 *                        because storing a big file on a busy disk takes long even without a fault. Without rules, an
 *                        answer is assumed to come soon, and waiting for it needs no place.
 *
 * A call gives its place back when bytes have moved for longer than a moment. That time does not count as waiting.
 *
 * A waiting call fails with EIO after GCS_PATIENCE_S, and with EINTR as soon as its process is killed, also while bytes
 * move: a process inside one of our system calls cannot die before the answer. An exiting process, which closes what it left
 * open, can no longer be killed; its calls give up after GCS_ENDING_S, or after a second if it was killed (gcs_node.h). The
 * limit for storing a file is shared by all calls that flush it (gcs_files.h). What a killed process left is stored at the
 * file's last close, for which no process waits, within GCS_LEFT_S, or not at all.
 *
 * A store of a file gives way to a change of its name, for which the kernel has locked a directory for all, and starts
 * again after that.
 *
 * A call that hurries, because the kernel has locked a directory or a file for it and blocks all other calls there, gives
 * up after GCS_BRIEFLY_S while the daemon runs, and at once without a network: both waits are caused by injected faults.
 * Without a daemon it waits like the others.
 *
 * A call that opens a file has locked its path in libfuse. While it waits, it also gives up once any change of names
 * has been running for GCS_CHANGE_S, because that change may be waiting for this lock. Choice: any change, because only
 * libfuse knows which one waits for which lock; the time is longer than a change that hurries takes.
 *
 * Choices: GCS_PLACES_ALONE: more than the replicas of most jobs, so that all of them can wait during an upgrade of the
 * daemon. GCS_PATIENCE_S: long enough for an upgrade; gcsfuse tries for ever. GCS_ENDING_S: the time that an engine
 * gives a container to end. Thread: any, one at a time for a wait. Results are 0 or a negative errno. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	GCS_PLACES = 16,
	GCS_PLACES_ALONE = 48,
	GCS_PATIENCE_S = 120,
	GCS_ENDING_S = 10,
	GCS_LEFT_S = 3,
	GCS_BRIEFLY_S = 2,
	GCS_CHANGE_S = 5,
	GCS_CHANGES_MAX = 32, /* further ones are not tracked */
};

/* All waiting calls, and the limits that apply to them. */
struct gcs_waits {
	int state_fd; /* the state directory, borrowed */
	unsigned patience_s;
	unsigned count; /* atomic */
	int64_t changes_us[GCS_CHANGES_MAX]; /* atomic; when each running change of names began; 0: an unused slot */
};

/* A call of the file system: the facts that decide how long it may wait. */
struct gcs_call {
	pid_t caller; /* the thread that waits for the answer; 0: none */
	bool hurries, opens;
	/* Atomic: the call gives up at this time of the system's monotonic clock; 0 or NULL: the usual limit. Calls
	 * that wait for the same event share it. */
	int64_t *until_us;
	/* the call ends at this time of the same clock, even while bytes move; until then, it goes on even if its
	 * process is killed; 0: not set */
	int64_t end_us;
	/* Atomic: while this is not 0, a change of names waits, and the call ends with EAGAIN. NULL: the call never
	 * gives way. */
	const unsigned *hurried;
};

/* One wait of a call, for one or more events in turn. */
struct gcs_wait {
	struct gcs_waits *all;
	struct gcs_call call;
	int64_t begun_us;
	bool has_place;
};

/* Returns why the call must end; check it at least once a second. 0: go on; EINTR: its caller was killed, or its
 * time is over; EAGAIN: it gives way to a change of names. */
int gcs_call_given_up(const struct gcs_call *call);
/* Waits until *@hurried is 0, so that the call need not give way. */
int gcs_wait_way(const struct gcs_call *call, const unsigned *hurried);

void gcs_wait_begin(struct gcs_wait *wait, struct gcs_waits *all, const struct gcs_call *call);
/* Gives the call's place back. */
void gcs_wait_end(struct gcs_wait *wait);

/* True if there are fault rules: calls may then fail or be slow. */
bool gcs_waits_have_rules(const struct gcs_waits *waits);
/* The time at which a wait that begins now gives up. */
int64_t gcs_waits_until_us(const struct gcs_waits *waits);

/* Call before libfuse gets an unlink, rmdir or rename, and gcs_waits_change_end() with the result after it. */
int64_t *gcs_waits_change_begin(struct gcs_waits *waits);
void gcs_waits_change_end(int64_t *change);

/* Waits until the caller's container has a network. */
int gcs_wait_network(struct gcs_wait *wait);
/* Waits for the lock and takes it, while its holder may be sending @size_bytes. */
int gcs_wait_lock(struct gcs_wait *wait, pthread_mutex_t *lock, int64_t size_bytes);
/* Sleeps until it is time to try again. Fails if the call's limit is reached. */
int gcs_wait_pause(struct gcs_wait *wait, bool is_daemon_there, int64_t pause_us);
/* Call when bytes have moved for @lasted_us: extends the limits by that time and gives the place back. */
void gcs_wait_moved(struct gcs_wait *wait, int64_t lasted_us);
/* Call repeatedly while an answer to @size_bytes is expected, and nothing was sent or received for @quiet_us. Not 0:
 * give up. */
int gcs_wait_quiet(struct gcs_wait *wait, int64_t quiet_us, int64_t size_bytes);
