/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/logs/log_queue.h: log records on their way to the writer, packed one behind the other into blocks.
 *
 * One copy of a record's texts and no allocation of its own; an empty queue holds no memory. Not
 * locked: the owner does that. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/logs/logs.h"

struct log_block;

enum log_item_kind {
	ITEM_RECORD,
	ITEM_LINE,    /* a record of the outbox: it carries its row's id */
	ITEM_BARRIER, /* calls when all before it can be read */
};

/* One item as it lies in a block; the texts follow it, each with a NUL. */
struct log_item {
	uint32_t size; /* of the whole item */
	enum log_item_kind kind;
	struct log_record record; /* texts point behind the item; the source is referenced */
	int64_t outbox_id;
	void (*done)(void *arg);                       /* waits as long as it takes */
	void (*on_commit)(void *arg, enum status status); /* told of the first failure */
	void *arg;
	/* texts */
};

struct log_queue {
	struct log_block *first, *last;
	size_t bytes;
	size_t count;
};

/* Copies @item's record with its texts. False: no memory for a record that has more than 64 KiB. */
bool log_queue_push(struct log_queue *queue, const struct log_item *item);
/* Moves all of @from behind nothing into an empty queue. */
void log_queue_move(struct log_queue *to, struct log_queue *from);
/* Frees the blocks and gives back the sources. */
void log_queue_deinit(struct log_queue *queue);

/* Walks in order: *cursor starts zeroed; NULL at the end. */
struct log_cursor {
	struct log_block *block;
	size_t offset;
	bool started;
};
struct log_item *log_queue_next(const struct log_queue *queue, struct log_cursor *cursor);
