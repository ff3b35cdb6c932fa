/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_wait.h: all waiting of the file system: for the daemon, for a network, and for another thread that stores
 * the same file, with the limits of each.
 *
 * A call holds one of the threads that serve the file system until it is answered. So at most GCS_PLACES calls wait at a time
 * for what a user can order, and GCS_PLACES_ALONE, with those, for a daemon. A call that finds no place fails with EIO, and
 * the other threads serve calls that need not wait. A call needs a place
 *   at once              while the caller's container has no network (gcs_caller.h); for the pause before it repeats a
 *                        request that was answered with an error, or not at all; and, for a process that exits, for a
 *                        file that another call is storing;
 *   after GCS_BRIEFLY_S  while no daemon runs; for a file that another call is storing; and, as long as there are fault
 *                        rules (gcs_endpoint.h), for an answer. The time to store bytes is added: a big file on a busy disk
 *                        does not wait for an ordered fault. Without rules, an answer counts as being on its way, and needs
 *                        no place.
 *
 * A call gives its place back when bytes have moved for longer than a moment. That time counts as no waiting.
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
 * One that hurries, because the kernel has locked a directory or a file for it, and keeps all others out of that, gives
 * up after GCS_BRIEFLY_S where the daemon is there, and at once without a network: what it waits for is ordered. Without
 * a daemon it waits like the rest.
 *
 * One that opens has locked the path of what it opens, in libfuse. It gives up as well once some change of names has been
 * under way for GCS_CHANGE_S: that may be for its lock. Choice: any change, as which one waits for which lock is
 * libfuse's to know; it is longer than a change that hurries takes.
 *
 * Choices: GCS_PLACES_ALONE: more than most jobs have replicas, which an upgrade is not to harm. GCS_PATIENCE_S: long
 * enough for an upgrade; gcsfuse tries for ever. GCS_ENDING_S: as long as an engine lets a container end. Thread: any,
 * one at a time for a wait. Results are 0 or a negative errno. */
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
	GCS_CHANGES_MAX = 32, /* what is beyond is not looked at */
};

/* All that wait. */
struct gcs_waits {
	int state_fd; /* the state directory, borrowed */
	unsigned patience_s;
	unsigned count; /* atomic */
	int64_t changes_us
		[GCS_CHANGES_MAX]; /* atomic; when changes of names that are under way began; 0: none */
};

/* A call of the file system, as far as waiting is concerned. */
struct gcs_call {
	pid_t caller; /* the thread that waits; 0: nobody does */
	bool hurries, opens;
	/* Atomic: it gives up then at the latest, by the system's monotonous clock; 0 or NULL: as is usual. All that
	 * wait for the same share it. */
	int64_t *until_us;
	int64_t end_us; /* it ends then, though bytes move, by the same clock, and not before because it was killed; 0 */
	/* Atomic: it makes way, with EAGAIN, while this is not 0: a change of names waits. NULL: for nobody. */
	const unsigned *hurried;
};

/* One wait, which may be for several things, one after the other. */
struct gcs_wait {
	struct gcs_waits *all;
	struct gcs_call call;
	int64_t begun_us;
	bool has_place;
};

/* Why a call is not to go on, whatever it does: to be asked at least once a second. 0; EINTR: its caller was killed, or its
 * time is over; EAGAIN: it makes way. */
int gcs_call_given_up(const struct gcs_call *call);
/* Until it need not make way. */
int gcs_wait_way(const struct gcs_call *call, const unsigned *hurried);

void gcs_wait_begin(struct gcs_wait *wait, struct gcs_waits *all, const struct gcs_call *call);
/* Gives its place back. */
void gcs_wait_end(struct gcs_wait *wait);

/* Whether there are rules of faults: calls may be made to fail, or to last. */
bool gcs_waits_have_rules(const struct gcs_waits *waits);
/* When a wait that begins now gives up. */
int64_t gcs_waits_until_us(const struct gcs_waits *waits);

/* Of a change of names: before libfuse is told of it, and after. */
int64_t *gcs_waits_change_begin(struct gcs_waits *waits);
void gcs_waits_change_end(int64_t *change);

/* Until the caller's container has a network. */
int gcs_wait_network(struct gcs_wait *wait);
/* Until nobody else holds the lock, which is held then; meanwhile @size_bytes may be on their way. */
int gcs_wait_lock(struct gcs_wait *wait, pthread_mutex_t *lock, int64_t size_bytes);
/* Until it is time to ask again, or for the last time. */
int gcs_wait_pause(struct gcs_wait *wait, bool is_daemon_there, int64_t pause_us);
/* Bytes have moved for @lasted_us. Gives its place back. */
void gcs_wait_moved(struct gcs_wait *wait, int64_t lasted_us);
/* For an answer to @size_bytes: now and then, while nothing was sent or got for @quiet_us. Not 0: no longer. */
int gcs_wait_quiet(struct gcs_wait *wait, int64_t quiet_us, int64_t size_bytes);
