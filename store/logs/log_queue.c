/* SPDX-License-Identifier: Apache-2.0 */
#include "store/logs/log_queue.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/logs/log_source.h"

enum { BLOCK_BYTES = 64 * 1024 - 64 };

struct log_block {
	struct log_block *next;
	size_t used, size;
	alignas(16) char bytes[];
};

static struct log_block *block_for(struct log_queue *queue, size_t size)
{
	struct log_block *block = queue->last;
	size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;

	if (block && block->size - block->used >= size)
		return block;
	block = room > BLOCK_BYTES ? malloc(sizeof(*block) + room) : memory_alloc(sizeof(*block) + room);
	if (!block)
		return NULL;
	block->next = NULL;
	block->used = 0;
	block->size = room;
	if (queue->last)
		queue->last->next = block;
	else
		queue->first = block;
	queue->last = block;
	return block;
}

/* Copies @length bytes and a NUL to *at, and moves *at past them. Returns the copy; NULL if @text
 * is NULL. */
static const char *text_place(char **at, const char *text, size_t length)
{
	char *placed = *at;

	if (!text)
		return NULL;
	memcpy(placed, text, length);
	placed[length] = '\0';
	*at += length + 1;
	return placed;
}

bool log_queue_push(struct log_queue *queue, const struct log_item *item)
{
	const struct log_record *record = &item->record;
	size_t id_length = record->insert_id ? strlen(record->insert_id) : 0;
	size_t extra_length = record->extra ? strlen(record->extra) : 0;
	size_t size = sizeof(*item) + record->payload_length + id_length + extra_length + 3;
	struct log_block *block;
	struct log_item *placed;
	char *texts;

	size = (size + 15) & ~(size_t)15;
	if (size > UINT32_MAX)
		return false;
	block = block_for(queue, size);
	if (!block)
		return false;
	placed = (struct log_item *)(void *)(block->bytes + block->used);
	*placed = *item;
	placed->size = (uint32_t)size;
	texts = (char *)(placed + 1);
	placed->record.payload = text_place(&texts, record->payload, record->payload_length);
	placed->record.insert_id = text_place(&texts, record->insert_id, id_length);
	placed->record.extra = text_place(&texts, record->extra, extra_length);
	if (record->source)
		log_source_ref(record->source);
	block->used += size;
	queue->bytes += size;
	queue->count++;
	return true;
}

void log_queue_move(struct log_queue *to, struct log_queue *from)
{
	*to = *from;
	*from = (struct log_queue){ 0 };
}

struct log_item *log_queue_next(const struct log_queue *queue, struct log_cursor *cursor)
{
	struct log_item *item;

	if (!cursor->started)
		*cursor = (struct log_cursor){ .block = queue->first, .started = true };
	while (cursor->block && cursor->offset == cursor->block->used) {
		cursor->block = cursor->block->next;
		cursor->offset = 0;
	}
	if (!cursor->block)
		return NULL;
	item = (struct log_item *)(void *)(cursor->block->bytes + cursor->offset);
	cursor->offset += item->size;
	return item;
}

void log_queue_deinit(struct log_queue *queue)
{
	struct log_cursor cursor = { 0 };
	struct log_item *item;

	while ((item = log_queue_next(queue, &cursor)))
		log_source_unref(item->record.source);
	while (queue->first) {
		struct log_block *block = queue->first;

		queue->first = block->next;
		free(block);
	}
	*queue = (struct log_queue){ 0 };
}
