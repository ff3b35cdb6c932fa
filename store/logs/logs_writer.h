/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/logs_writer.h: the one thread that writes logs.db.
 *
 * It waits for an offer, then 20 ms for more (unless there are 1000 records, or a caller waits at a barrier), and
 * stores all in one transaction, together with the positions of the streams and the last outbox row. A transaction that
 * the disk refuses is repeated until it succeeds; meanwhile the queue fills, and offers are refused. */
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "store/logs/log_queue.h"

struct job_changes;
struct log_selection;
struct logs_writer;
struct progress_board;

/* Opens the file and starts the thread. A file that belongs to another state.db (@instance) is renamed and kept. When a
 * service line is stored, its job is added to @changes, because such a line may say what the job waits for; the last
 * line of a job's replicas in each batch goes to @progress. Both must outlive the writer. */
enum status logs_writer_open(const char *path, const char *instance, struct job_changes *changes,
			     struct progress_board *progress, const struct clock *clock, struct logs_writer **ret_writer, struct error *err);
void logs_writer_close(struct logs_writer *writer);

/* Offers a record to the queue. False: the queue is full, or there is no memory for a record of more than 64 KiB;
 * on_room() is called when the offer can be repeated. */
bool logs_writer_offer(struct logs_writer *writer, const struct log_record *record);
/* Offers a row of the outbox, which is accepted even if the queue is full. False: there is no memory for a record of
 * more than 64 KiB. */
bool logs_writer_offer_line(struct logs_writer *writer, const struct log_record *record, int64_t outbox_id);
void logs_writer_barrier(struct logs_writer *writer, const struct log_item *barrier);
void logs_writer_on_room(struct logs_writer *writer, void (*hook)(void *arg), void *arg);
/* The last outbox row that is durable in logs.db. Thread: any. */
int64_t logs_writer_reached(struct logs_writer *writer);

/* Removes a slice of a job's entries between two batches, and waits for that; log_batch_purge(). Thread: any, except
 * the writer's. */
enum status logs_writer_purge(struct logs_writer *writer, struct log_selection *selection, bool *ret_more,
			      struct error *err);

/* A listener to all entries that are stored from a time on; the caller owns its memory. */
struct log_listener {
	int wake_fd; /* an eventfd, written to after each batch; -1: none */
	/* Used by the log writer only. */
	int64_t oldest_ns;
	struct log_listener *next;
};
/* Adds a listener. Returns received_ns of the last entry stored before. Thread: any, for the three functions of
 * listeners. */
int64_t logs_writer_listen(struct logs_writer *writer, struct log_listener *listener);
/* Removes a listener. Harmless if it is not listening. */
void logs_writer_unlisten(struct logs_writer *writer, struct log_listener *listener);
/* Returns received_ns of the last entry stored so far. *ret_oldest_ns: the earliest time of all entries stored since
 * the last call; INT64_MAX: none. */
int64_t logs_writer_heard(struct logs_writer *writer, struct log_listener *listener, int64_t *ret_oldest_ns);

/* The number of batches stored. Thread: any. */
uint64_t logs_writer_stored(struct logs_writer *writer);
/* Waits at most @at_most_us, by the system's own clock, until more than @stored batches are stored. False: the time
 * ended first. Thread: any. */
bool logs_writer_await(struct logs_writer *writer, uint64_t stored, int64_t at_most_us);
