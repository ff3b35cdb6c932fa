/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/tuning/event_file.h"

#include "daemon/base/crc32c.h"
#include "scheduler/tuning/event.h"
#include "scheduler/tuning/metric_report.h"

enum { BUFFER_KEPT_BYTES = 64 * 1024 }; /* a larger buffer is not kept for the next record */

void event_file_init(struct event_file *file, int64_t offset)
{
	*file = (struct event_file){ .offset = offset, .whole_bytes = offset };
}

void event_file_deinit(struct event_file *file)
{
	text_deinit(&file->data);
}

/* Masks a checksum as the format does, because a CRC of data that contains plain CRCs detects errors less well. */
static uint32_t crc_mask(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

static uint64_t number_at(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number |= (uint64_t)bytes[i] << 8 * i;
	return number;
}

static enum status file_break(struct event_file *file, const char *breakage)
{
	file->breakage = breakage;
	return STATUS_DATA_LOSS;
}

static enum status breakage_say(const struct event_file *file, struct error *err)
{
	return error_set(err, STATUS_DATA_LOSS, NULL, "the record at byte %lld %s",
			 (long long)file->whole_bytes, file->breakage);
}

static void part_begin(struct event_file *file, enum event_file_part part)
{
	file->part = part;
	file->part_bytes = 0;
}

static uint64_t part_size(const struct event_file *file)
{
	switch (file->part) {
	case EVENT_FILE_HEADER:
		return EVENT_HEADER_BYTES;
	case EVENT_FILE_DATA:
		return file->data_bytes;
	case EVENT_FILE_FOOTER:
		return EVENT_FOOTER_BYTES;
	}
	return 0;
}

static enum status header_end(struct event_file *file)
{
	const uint32_t crc = crc_mask(crc32c_extend(0, file->edge, 8));

	if (number_at(file->edge + 8, 4) != crc)
		return file_break(file, "has a length with a wrong checksum");
	file->data_bytes = number_at(file->edge, 8);
	if (file->data_bytes > EVENT_RECORD_BYTES_MAX)
		return file_break(file, "is longer than an event can be");
	file->crc = 0;
	text_clear(&file->data);
	part_begin(file, file->data_bytes ? EVENT_FILE_DATA : EVENT_FILE_FOOTER);
	return STATUS_OK;
}

/* Whether the record has the version of an event file. False if the record is too long to be read. */
static bool names_version(const struct event_file *file)
{
	return file->data_bytes <= EVENT_BYTES_MAX &&
	       event_kind((const uint8_t *)file->data.data, file->data.length) == EVENT_VERSION;
}

static enum status record_end(struct event_file *file, event_record_taker take, void *arg)
{
	if (number_at(file->edge, EVENT_FOOTER_BYTES) != crc_mask(file->crc))
		return file_break(file, "has data with a wrong checksum");
	if (file->whole_bytes == 0 && !names_version(file))
		return file_break(file, "does not name the version of an event file");
	if (file->data.length)
		take(arg, (const uint8_t *)file->data.data, file->data.length);
	if (file->data.size > BUFFER_KEPT_BYTES)
		text_deinit(&file->data);
	file->whole_bytes = file->offset;
	part_begin(file, EVENT_FILE_HEADER);
	return STATUS_OK;
}

static enum status part_end(struct event_file *file, event_record_taker take, void *arg)
{
	switch (file->part) {
	case EVENT_FILE_HEADER:
		return header_end(file);
	case EVENT_FILE_DATA:
		part_begin(file, EVENT_FILE_FOOTER);
		return STATUS_OK;
	case EVENT_FILE_FOOTER:
		return record_end(file, take, arg);
	}
	return STATUS_OK;
}

static void part_take(struct event_file *file, const uint8_t *bytes, size_t length)
{
	if (file->part != EVENT_FILE_DATA) {
		for (size_t i = 0; i < length; i++)
			file->edge[file->part_bytes + i] = bytes[i];
	} else {
		file->crc = crc32c_extend(file->crc, bytes, length);
		if (file->data_bytes <= EVENT_BYTES_MAX)
			text_append(&file->data, bytes, length);
	}
	file->part_bytes += length;
	file->offset += (int64_t)length;
}

enum status event_file_read(struct event_file *file, event_record_taker take, void *arg, int64_t offset,
			    const void *bytes, size_t length, struct error *err)
{
	const uint8_t *at = bytes;
	enum status rc = STATUS_OK;

	if (file->breakage)
		return breakage_say(file, err);
	if (offset != file->offset)
		return error_set(err, STATUS_OUT_OF_RANGE, NULL,
				 "bytes from offset %lld came, but those from offset %lld are next",
				 (long long)offset, (long long)file->offset);
	while (length > 0 && !rc) {
		const uint64_t missing = part_size(file) - file->part_bytes;
		const size_t piece = length < missing ? length : (size_t)missing;

		part_take(file, at, piece);
		at += piece;
		length -= piece;
		if (file->part_bytes == part_size(file))
			rc = part_end(file, take, arg);
	}
	return file->breakage ? breakage_say(file, err) : rc;
}

static void report_take(void *arg, const uint8_t *data, size_t length)
{
	event_take(arg, data, length);
}

enum status event_file_feed(struct event_file *file, struct metric_report *report, int64_t offset,
			    const void *bytes, size_t length, struct error *err)
{
	const bool was_broken = file->breakage != NULL;
	const enum status rc = event_file_read(file, report_take, report, offset, bytes, length, err);

	if (file->breakage && !was_broken)
		report->is_broken = true;
	return rc;
}
