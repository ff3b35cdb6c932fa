/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_progress.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "daemon/base/json.h"

/* What each of the engine's texts says about a layer: whether it was fetched, and whether it is completely done. */
static const struct {
	const char *status;
	bool fetched, done;
} words[] = {
	{ "Pulling fs layer", false, false }, { "Waiting", false, false },
	{ "Downloading", false, false },      { "Verifying Checksum", true, false },
	{ "Download complete", true, false }, { "Extracting", true, false },
	{ "Pull complete", true, true },      { "Already exists", true, true },
};

void progress_deinit(struct progress *progress)
{
	text_deinit(&progress->line);
}

static struct progress_layer *layer_find(struct progress *progress, const char *id)
{
	struct progress_layer *layer;

	for (size_t i = 0; i < progress->layer_count; i++)
		if (strncmp(progress->layers[i].id, id, sizeof(layer->id) - 1) == 0)
			return &progress->layers[i];
	if (progress->layer_count == PROGRESS_LAYERS_MAX)
		return NULL;
	layer = &progress->layers[progress->layer_count++];
	snprintf(layer->id, sizeof(layer->id), "%s", id);
	return layer;
}

static void layer_update(struct progress *progress, const json_t *line, size_t word)
{
	const char *id = json_text_at(line, "id");
	const json_t *detail = json_object_get(line, "progressDetail");
	struct progress_layer *layer = id ? layer_find(progress, id) : NULL;

	if (!layer)
		return;
	if (strcmp(words[word].status, "Downloading") == 0) {
		layer->current = json_int_at(detail, "current", layer->current);
		layer->total = json_int_at(detail, "total", layer->total);
	}
	if (words[word].fetched)
		layer->current = layer->total;
	layer->done = words[word].done;
	progress->changed = true;
}

static void line_read(struct progress *progress)
{
	AUTO(json) json_t *line = json_parse_foreign(progress->line.data, progress->line.length, 0, NULL);
	const json_t *failure = json_object_get(line, "errorDetail");
	const char *status = json_text_at(line, "status");
	const char *message = json_text_at(failure, "message");

	if (!message)
		message = json_text_at(line, "error"); /* older engines send this member in addition to errorDetail */
	if (failure || message)
		snprintf(progress->problem, sizeof(progress->problem), "%s",
			 message ? message : "the engine gave no reason");
	for (size_t i = 0; status && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(status, words[i].status) == 0)
			layer_update(progress, line, i);
}

static void piece_append(struct progress *progress, const char *data, size_t length)
{
	if (progress->line.length + length > PROGRESS_LINE_MAX)
		progress->skipping = true;
	if (!progress->skipping)
		text_append(&progress->line, data, length);
}

void progress_end(struct progress *progress)
{
	if (!progress->skipping && progress->line.length > 0)
		line_read(progress);
	progress->skipping = false;
	text_clear(&progress->line);
}

void progress_feed(struct progress *progress, const char *data, size_t length)
{
	const char *newline;

	while ((newline = memchr(data, '\n', length)) != NULL) {
		size_t piece = (size_t)(newline - data);

		piece_append(progress, data, piece);
		progress_end(progress);
		data += piece + 1;
		length -= piece + 1;
	}
	piece_append(progress, data, length);
}

/* Limits a number of the engine, which may be anything, so that the sum over all layers cannot overflow. */
static int64_t bounded(int64_t bytes)
{
	const int64_t most = INT64_MAX / PROGRESS_LAYERS_MAX;

	return bytes < 0 ? 0 : bytes > most ? most : bytes;
}

void progress_bytes(const struct progress *progress, int64_t *ret_fetched, int64_t *ret_all)
{
	*ret_fetched = *ret_all = 0;
	for (size_t i = 0; i < progress->layer_count; i++) {
		const struct progress_layer *layer = &progress->layers[i];

		*ret_all += bounded(layer->total);
		*ret_fetched += bounded(layer->current < layer->total ? layer->current : layer->total);
	}
}

bool progress_print(struct progress *progress, const char *image, struct text *text)
{
	int64_t current, total;
	size_t done = 0;

	if (!progress->changed || progress->layer_count == 0)
		return false;
	progress->changed = false;
	progress_bytes(progress, &current, &total);
	for (size_t i = 0; i < progress->layer_count; i++)
		done += progress->layers[i].done;
	if (done == progress->layer_count)
		return false; /* no line: all known layers are done, and the pull's end is reported by an event of its
			       * own */
	text_printf(text, "Pulling %s: %zu of %zu layers", image, done, progress->layer_count);
	if (total > 0)
		text_printf(text, ", %.1f MB of %.1f MB", (double)current / 1e6, (double)total / 1e6);
	return true;
}
