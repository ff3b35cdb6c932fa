/* SPDX-License-Identifier: Apache-2.0 */
/* The engine's log stream: any bytes, in one piece, and cut and held as the first byte says.
 *
 * What must hold beside not crashing: a stream read in pieces, with lines refused now and then, gives the
 * same lines as one read at once. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"
#include "scheduler/engine/docker_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LINE_MAX_HERE = 64 };

struct reader {
	struct text lines;
	unsigned refuse_each; /* after this many lines, one is refused once; 0: none */
	unsigned offered;
};

static bool line_take(void *arg, const struct frames_line *line)
{
	struct reader *reader = arg;

	if (line->length > LINE_MAX_HERE || (line->stream != 1 && line->stream != 2))
		abort();
	if (reader->refuse_each && ++reader->offered % reader->refuse_each == 0)
		return false;
	text_printf(&reader->lines, "%d %lld %d ", line->stream, (long long)line->time_ns, line->continues);
	text_append(&reader->lines, line->data, line->length);
	text_putc(&reader->lines, '\n');
	return true;
}

/* The piece is copied to its exact size, so that a sanitizer finds a read beyond the end. */
static enum frames_result piece_feed(struct frames *frames, const uint8_t *data, size_t size)
{
	enum frames_result result = FRAMES_HELD;
	char *piece = malloc(size ? size : 1);
	size_t at = 0;

	memcpy(piece, data, size);
	while (result == FRAMES_HELD) {
		size_t consumed = 0;

		result = frames_feed(frames, piece + at, size - at, &consumed);
		at += consumed;
	}
	free(piece);
	return result;
}

static enum frames_result stream_read(struct reader *reader, const uint8_t *data, size_t size, size_t step,
				      enum frames_times times)
{
	struct frames frames;
	enum frames_result result = FRAMES_TAKEN;

	frames_init(&frames, LINE_MAX_HERE, line_take, reader);
	frames_reset(&frames, times);
	for (size_t at = 0; at < size && result == FRAMES_TAKEN; at += step)
		result = piece_feed(&frames, data + at, size - at < step ? size - at : step);
	while (result == FRAMES_TAKEN && frames_end(&frames) == FRAMES_HELD)
		;
	frames_deinit(&frames);
	return result;
}

/* Whether a timestamp is valid does not depend on earlier ones, nor on how it is read. */
static void stamp_check(const char *data, size_t size)
{
	struct frames frames;
	char stamp[FRAMES_STAMP_MAX + 1];
	int64_t first_ns, again_ns, slow_ns;

	snprintf(stamp, sizeof(stamp), "%.*s", (int)(size < FRAMES_STAMP_MAX ? size : FRAMES_STAMP_MAX),
		 data);
	frames_init(&frames, LINE_MAX_HERE, line_take, NULL);
	if (!frames_parse_stamp(&frames, stamp, strlen(stamp), &first_ns))
		return;
	if (!frames_parse_stamp(&frames, stamp, strlen(stamp), &again_ns) || again_ns != first_ns ||
	    !time_parse_strict(stamp, &slow_ns) || slow_ns != first_ns)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reader whole = { 0 }, pieces = { 0 };
	enum frames_times times = size > 0 && data[0] & 1 ? FRAMES_TIMES_SECONDS : FRAMES_TIMES_EXACT;

	if (size < 1)
		return 0;
	stamp_check((const char *)data, size);
	pieces.refuse_each = 2 + data[0] / 64;
	if (stream_read(&whole, data + 1, size - 1, size, times) !=
		    stream_read(&pieces, data + 1, size - 1, 1 + data[0] % 64, times) ||
	    whole.lines.length != pieces.lines.length ||
	    (whole.lines.length && memcmp(whole.lines.data, pieces.lines.data, whole.lines.length) != 0))
		abort();
	text_deinit(&whole.lines);
	text_deinit(&pieces.lines);
	return 0;
}
