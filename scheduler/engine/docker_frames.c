/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_frames.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/timestamp.h"

enum { MINUTE_CHARS = 16, NANO_DIGITS = 9, NS_PER_S = 1000 * 1000 * 1000 };

void frames_init(struct frames *frames, size_t line_max, frames_taker *take, void *arg)
{
	*frames = (struct frames){ .take = take, .arg = arg, .line_max = line_max };
}

void frames_deinit(struct frames *frames)
{
	free(frames->halves[0].data);
	free(frames->halves[1].data);
	frames->halves[0] = frames->halves[1] = (struct frames_half){ 0 };
}

void frames_reset(struct frames *frames, enum frames_times times)
{
	for (int i = 0; i < 2; i++) {
		frames->halves[i].length = 0;
		frames->halves[i].open = frames->halves[i].ready = frames->halves[i].numbered = false;
	}
	frames->header_length = frames->stamp_length = 0;
	frames->left = 0;
	frames->stamped = false;
	frames->times = times;
	frames->second_ns = INT64_MIN;
}

int64_t frames_unfinished_ns(const struct frames *frames)
{
	int64_t earliest_ns = INT64_MAX;

	for (int i = 0; i < 2; i++)
		if (frames->halves[i].open && frames->halves[i].begun_ns < earliest_ns)
			earliest_ns = frames->halves[i].begun_ns;
	return earliest_ns;
}

/* Parses a time. False: the text is not a time, or the time is INT64_MIN or INT64_MAX: times outside the range become
 * these, and differences with them would overflow. */
static bool time_read(const char *text, int64_t *ret_ns)
{
	return time_parse_strict(text, ret_ns) && *ret_ns != INT64_MIN && *ret_ns != INT64_MAX;
}

/* Sets minute_ns to the minute of @stamp. The last minute is kept, because thousands of lines may share one; for
 * these, only seconds and fraction are parsed. */
static bool minute_find(struct frames *frames, const char *stamp)
{
	char whole[] = "0000-00-00T00:00:00Z";

	if (memcmp(frames->minute, stamp, MINUTE_CHARS) == 0)
		return true;
	memcpy(whole, stamp, MINUTE_CHARS);
	if (!time_read(whole, &frames->minute_ns)) {
		frames->minute[0] = '\0';
		return false;
	}
	memcpy(frames->minute, stamp, MINUTE_CHARS);
	return true;
}

/* Parses a stamp that does not have the usual form. */
static bool stamp_parse_slowly(const char *stamp, size_t length, int64_t *ret_ns)
{
	char copy[FRAMES_STAMP_MAX + 1];

	memcpy(copy, stamp, length);
	copy[length] = '\0';
	return time_read(copy, ret_ns);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

bool frames_parse_stamp(struct frames *frames, const char *stamp, size_t length, int64_t *ret_ns)
{
	int64_t nanos = 0;
	size_t at = MINUTE_CHARS + 3;
	int digits = 0;

	if (length > FRAMES_STAMP_MAX)
		return false;
	if (length < MINUTE_CHARS + 4 || stamp[length - 1] != 'Z' || stamp[MINUTE_CHARS] != ':' ||
	    !is_digit(stamp[MINUTE_CHARS + 1]) || stamp[MINUTE_CHARS + 1] > '5' ||
	    !is_digit(stamp[MINUTE_CHARS + 2]) || !minute_find(frames, stamp))
		return stamp_parse_slowly(stamp, length, ret_ns);
	if (stamp[at] == '.')
		for (at++; digits < NANO_DIGITS && is_digit(stamp[at]); at++, digits++)
			nanos = nanos * 10 + (stamp[at] - '0');
	if (at != length - 1 || stamp[at - 1] == '.')
		return stamp_parse_slowly(stamp, length, ret_ns);
	for (; digits < NANO_DIGITS; digits++)
		nanos *= 10;
	nanos += ((stamp[MINUTE_CHARS + 1] - '0') * 10 + (stamp[MINUTE_CHARS + 2] - '0')) *
		 INT64_C(1000000000);
	*ret_ns = frames->minute_ns + nanos;
	return true;
}

/* Hands over a line and gives it a time that no other line of its second has: each is one nanosecond later than the
 * line before. */
static bool numbered_hand_over(struct frames *frames, struct frames_line *line)
{
	const int64_t second_ns = line->time_ns - line->time_ns % NS_PER_S;
	const int64_t nth = second_ns == frames->second_ns ? frames->nth : 0;

	line->time_ns = second_ns + nth;
	if (!frames->take(frames->arg, line))
		return false;
	frames->second_ns = second_ns;
	frames->nth = nth + 1;
	return true;
}

static bool line_hand_over(struct frames *frames, struct frames_line *line, bool numbered)
{
	if (frames->times == FRAMES_TIMES_SECONDS && !numbered)
		return numbered_hand_over(frames, line);
	return frames->take(frames->arg, line);
}

static bool half_hand_over(struct frames *frames, struct frames_half *half, size_t length, bool continues)
{
	struct frames_line line = {
		.stream = half == &frames->halves[0] ? 1 : 2,
		.time_ns = half->time_ns,
		.data = half->data ? half->data : "",
		.length = length,
		.continues = continues,
		.begun_ns = half->begun_ns,
	};

	if (!line_hand_over(frames, &line, half->numbered))
		return false;
	half->numbered = continues;
	half->time_ns = line.time_ns;
	half->length -= length;
	if (half->data)
		memmove(half->data, half->data + length, half->length);
	if (!continues)
		half->open = half->ready = false;
	return true;
}

/* Marks the current line as complete and offers it to take(). False: take() has no room, and the line is kept for
 * the next try. */
static bool half_finish(struct frames *frames, struct frames_half *half)
{
	half->ready = true;
	return half_hand_over(frames, half, half->length, false);
}

/* Returns the length at which a full line is cut: before a UTF-8 sequence that the cut would split. */
static size_t cut_find(const char *data, size_t length)
{
	size_t cut = length;

	while (cut > 0 && length - cut < 4 && ((unsigned char)data[cut - 1] & 0xc0) == 0x80)
		cut--;
	if (cut == 0 || length - cut >= 4 || (unsigned char)data[cut - 1] < 0xc0)
		return length; /* the data ends in ASCII, or is not UTF-8 */
	/* data[cut - 1] begins a sequence; the cut moves before it unless its @need bytes are all there. */
	unsigned char lead = (unsigned char)data[cut - 1];
	size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;

	return length - (cut - 1) >= need ? length : cut - 1;
}

static void half_reserve(struct frames *frames, struct frames_half *half, size_t wanted)
{
	size_t size = half->size ? half->size : 4096;

	if (wanted <= half->size)
		return;
	while (size < wanted)
		size *= 2;
	if (size > frames->line_max)
		size = frames->line_max;
	half->data = memory_realloc(half->data, size);
	half->size = size;
}

/* Appends text to the current line; first hands over the current line if it is full. */
static enum frames_result half_append(struct frames *frames, struct frames_half *half, const char *data,
				      size_t length, size_t *ret_consumed)
{
	*ret_consumed = 0;
	while (length > 0) {
		size_t room = frames->line_max - half->length;
		size_t take = length < room ? length : room;

		if (room == 0) {
			size_t cut = cut_find(half->data, half->length);

			if (!half_hand_over(frames, half, cut ? cut : half->length, true))
				return FRAMES_HELD;
			continue;
		}
		half_reserve(frames, half, half->length + take);
		memcpy(half->data + half->length, data, take);
		half->length += take;
		data += take;
		length -= take;
		*ret_consumed += take;
	}
	return FRAMES_TAKEN;
}

static enum frames_result header_feed(struct frames *frames, const char *data, size_t length,
				      size_t *ret_consumed)
{
	size_t take = FRAMES_HEADER_BYTES - frames->header_length;
	const unsigned char *header = frames->header;

	if (take > length)
		take = length;
	memcpy(frames->header + frames->header_length, data, take);
	frames->header_length += take;
	*ret_consumed = take;
	if (frames->header_length < FRAMES_HEADER_BYTES)
		return FRAMES_TAKEN;
	if (header[0] < 1 || header[0] > 2 || header[1] || header[2] || header[3])
		return FRAMES_BROKEN;
	frames->stream = header[0];
	frames->left =
		(uint32_t)header[4] << 24 | (uint32_t)header[5] << 16 | (uint32_t)header[6] << 8 | header[7];
	frames->stamp_length = 0;
	frames->stamped = false;
	if (frames->left == 0)
		frames->header_length = 0;
	return FRAMES_TAKEN;
}

/* Handles a complete timestamp. With exact times, an unfinished line with another timestamp had no newline at its
 * end, so it ends here. */
static enum frames_result stamp_finish(struct frames *frames, const char *stamp, size_t length)
{
	struct frames_half *half = &frames->halves[frames->stream - 1];

	if (!frames_parse_stamp(frames, stamp, length, &frames->time_ns))
		return FRAMES_BROKEN;
	frames->stamped = true;
	if (frames->left == 0)
		frames->header_length = 0;
	if (frames->times == FRAMES_TIMES_EXACT && half->open && half->time_ns != frames->time_ns && !half_finish(frames, half))
		return FRAMES_HELD;
	return FRAMES_TAKEN;
}

static enum frames_result stamp_feed(struct frames *frames, const char *data, size_t length,
				     size_t *ret_consumed)
{
	size_t room = FRAMES_STAMP_MAX - frames->stamp_length;
	size_t limit = length < frames->left ? length : frames->left;
	const char *space = memchr(data, ' ', limit < room ? limit : room);
	size_t take = space ? (size_t)(space - data) : limit;

	*ret_consumed = take;
	if (!space && (limit >= room || limit == frames->left))
		return FRAMES_BROKEN;
	if (space && frames->stamp_length == 0) {
		*ret_consumed = take + 1;
		frames->left -= (uint32_t)(take + 1);
		return stamp_finish(frames, data, take);
	}
	memcpy(frames->stamp + frames->stamp_length, data, take);
	frames->stamp_length += take;
	frames->left -= (uint32_t)take;
	if (!space)
		return FRAMES_TAKEN;
	*ret_consumed = take + 1;
	frames->left--;
	return stamp_finish(frames, frames->stamp, frames->stamp_length);
}

/* Whether the fed bytes contain the frame's whole line, which is the usual case: it is then handed over without a
 * copy. */
static bool text_is_whole(const struct frames *frames, const struct frames_half *half, const char *data,
			  size_t length)
{
	return !half->open && frames->left <= length && frames->left <= frames->line_max &&
	       data[frames->left - 1] == '\n';
}

static enum frames_result text_feed(struct frames *frames, const char *data, size_t length,
				    size_t *ret_consumed)
{
	struct frames_half *half = &frames->halves[frames->stream - 1];
	size_t limit = length < frames->left ? length : frames->left;
	bool last, newline;
	enum frames_result result;

	*ret_consumed = 0;
	if (text_is_whole(frames, half, data, length)) {
		struct frames_line line = {
			frames->stream, frames->time_ns, data, frames->left - 1, false, frames->time_ns
		};

		if (!line_hand_over(frames, &line, false))
			return FRAMES_HELD;
		*ret_consumed = frames->left;
		frames->left = 0;
		frames->header_length = 0;
		return FRAMES_TAKEN;
	}
	if (!half->open)
		half->begun_ns = frames->time_ns;
	half->open = true;
	if (!half->numbered)
		half->time_ns = frames->time_ns;
	last = limit == frames->left;
	newline = last && data[limit - 1] == '\n';
	result = half_append(frames, half, data, limit - newline, ret_consumed);
	frames->left -= (uint32_t)*ret_consumed;
	if (result != FRAMES_TAKEN)
		return result;
	*ret_consumed += newline;
	frames->left -= newline;
	if (last)
		frames->header_length = 0;
	return newline && !half_finish(frames, half) ? FRAMES_HELD : FRAMES_TAKEN;
}

static bool ready_hand_over(struct frames *frames)
{
	for (int i = 0; i < 2; i++)
		if (frames->halves[i].ready && !half_finish(frames, &frames->halves[i]))
			return false;
	return true;
}

enum frames_result frames_feed(struct frames *frames, const char *data, size_t length, size_t *ret_consumed)
{
	enum frames_result result = ready_hand_over(frames) ? FRAMES_TAKEN : FRAMES_HELD;
	size_t at = 0, step;

	while (at < length && result == FRAMES_TAKEN) {
		step = 0;
		if (frames->header_length < FRAMES_HEADER_BYTES)
			result = header_feed(frames, data + at, length - at, &step);
		else if (!frames->stamped)
			result = stamp_feed(frames, data + at, length - at, &step);
		else
			result = text_feed(frames, data + at, length - at, &step);
		at += step;
	}
	*ret_consumed = at;
	return result;
}

enum frames_result frames_end(struct frames *frames)
{
	for (int i = 0; i < 2; i++)
		if (frames->halves[i].open && !half_finish(frames, &frames->halves[i]))
			return FRAMES_HELD;
	return FRAMES_TAKEN;
}
