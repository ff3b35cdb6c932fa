/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_progress.h: condenses the progress stream of a pull. Pure: takes newline-delimited JSON,
 * and now and then returns a line of text. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/text.h"

enum { PROGRESS_LAYERS_MAX = 256, PROGRESS_LINE_MAX = 64 * 1024 };

struct progress_layer {
	char id[16];
	int64_t current, total; /* bytes fetched, bytes to fetch; 0: unknown */
	bool done;
};

struct progress {
	struct text line; /* the line that is being received */
	bool skipping;    /* the rest of the current line is skipped, because the line is too long */
	bool changed;     /* since the last progress_print() */
	struct progress_layer layers[PROGRESS_LAYERS_MAX];
	size_t layer_count;
	char problem[1024]; /* the engine's error text if the pull failed, else "" */
};

void progress_deinit(struct progress *progress);
void progress_feed(struct progress *progress, const char *data, size_t length);
/* To be called at the end of the stream, because its last line may have no newline. */
void progress_end(struct progress *progress);
/* Bytes of all layers that the engine has reported so far: fetched, and to fetch; 0: unknown. */
void progress_bytes(const struct progress *progress, int64_t *ret_fetched, int64_t *ret_all);
/* Appends "Pulling IMAGE: 3 of 7 layers, 45.2 MB of 120.0 MB". False: nothing has changed since the last call, or no
 * layer is left to fetch. */
bool progress_print(struct progress *progress, const char *image, struct text *text);
