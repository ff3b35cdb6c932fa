/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/logs_writer.h: the one thread that writes logs.db.
 *
 * It waits until something was offered, then 20 ms more for company (not when 1000 records are there,
 * or someone waits at a barrier), and stores all in one transaction together with the positions of the
 * streams and the last outbox row in it. A transaction that the disk refuses is tried again until it
 * works; meanwhile the queue fills, and offers are refused. */
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "store/logs/log_queue.h"

struct job_changes;
struct logs_writer;

/* Opens the file and starts the thread. A file that belongs to another state.db (@instance) is set
 * aside under another name. A line of the service that was stored tells @changes of its job: such a line may say what the
 * job waits for. @changes outlives the writer. */
enum status logs_writer_open(const char *path, const char *instance, struct job_changes *changes,
			     const struct clock *clock, struct logs_writer **ret_writer, struct error *err);
void logs_writer_close(struct logs_writer *writer);

/* False: full, or no memory for a record of more than 64 KiB; on_room() tells when to try again. */
bool logs_writer_offer(struct logs_writer *writer, const struct log_record *record);
/* A row of the outbox: taken however full the queue is. False: no memory for one of more than 64 KiB. */
bool logs_writer_offer_line(struct logs_writer *writer, const struct log_record *record, int64_t outbox_id);
void logs_writer_barrier(struct logs_writer *writer, const struct log_item *barrier);
void logs_writer_on_room(struct logs_writer *writer, void (*hook)(void *arg), void *arg);
/* The last outbox row that logs.db holds durably. Thread: any. */
int64_t logs_writer_reached(struct logs_writer *writer);

/* Removes a slice of a job's entries between two batches, and waits for it; log_batch_purge(). Thread: any but the writer's. */
enum status logs_writer_purge(struct logs_writer *writer, int64_t job, bool *ret_more, struct error *err);

/* A reader of all entries that are stored from a moment on; its memory is the caller's. */
struct log_listener {
	int wake_fd; /* an eventfd, written to after each batch; -1: none */
	/* The writer's. */
	int64_t oldest_ns;
	struct log_listener *next;
};
/* received_ns of the last entry before. Thread: any, for all three. */
int64_t logs_writer_listen(struct logs_writer *writer, struct log_listener *listener);
/* Harmless if it does not listen. */
void logs_writer_unlisten(struct logs_writer *writer, struct log_listener *listener);
/* received_ns of the last entry now, and the earliest time of all that were stored since it was asked last; INT64_MAX: none
 * was. */
int64_t logs_writer_heard(struct logs_writer *writer, struct log_listener *listener, int64_t *ret_oldest_ns);

/* How many batches were stored. Thread: any. */
uint64_t logs_writer_stored(struct logs_writer *writer);
/* Until more than @stored were, at most so long, on the system's own clock. False: none was. Thread: any. */
bool logs_writer_await(struct logs_writer *writer, uint64_t stored, int64_t at_most_us);
