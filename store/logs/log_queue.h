/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_queue.h: log records waiting for the writer, packed into blocks.
 *
 * A record's texts are copied once and need no allocation of their own; an empty queue has no memory. Not locked: the
 * owner locks. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/logs/logs.h"

struct log_block;

enum log_item_kind {
	ITEM_RECORD,
	ITEM_LINE,    /* a record from the outbox, with its row's id */
	ITEM_BARRIER, /* a callback for the time when all items before it can be read */
};

/* One item in a block; its texts follow it, each with a NUL. */
struct log_item {
	uint32_t size; /* of the whole item */
	enum log_item_kind kind;
	struct log_record record; /* texts point to the bytes after the item; the source is referenced */
	int64_t outbox_id;
	void (*done)(void *arg); /* called once the items before are stored, however often that has to be tried */
	void (*on_commit)(void *arg,
			  enum status status); /* called once, with the first failure if there is one */
	void *arg;
	/* texts */
};

struct log_queue {
	struct log_block *first, *last;
	size_t bytes;
	size_t count;
};

/* Copies @item's record with its texts. False: no memory for a record of more than 64 KiB. */
bool log_queue_push(struct log_queue *queue, const struct log_item *item);
/* Moves all of @from to @to, which must be empty. */
void log_queue_move(struct log_queue *to, struct log_queue *from);
/* Frees the blocks and releases the sources. */
void log_queue_deinit(struct log_queue *queue);

/* Iterates in order: *cursor starts zeroed; NULL at the end. */
struct log_cursor {
	struct log_block *block;
	size_t offset;
	bool started;
};
struct log_item *log_queue_next(const struct log_queue *queue, struct log_cursor *cursor);
