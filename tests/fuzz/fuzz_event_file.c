/* SPDX-License-Identifier: Apache-2.0 */
/* An event file: any bytes when the first is even, else events of any bytes (two bytes of length before each) in
 * records with right checksums; read in one piece, and in pieces as the first byte says.
 *
 * What must hold beside not crashing: both give the same measurements and stop at the same record; a reader that
 * begins where another's whole records end takes no more; values are finite. The same for curves (scalars.h): their steps
 * never go back, and which have as few points as was asked for. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "scheduler/tuning/event_file.h"
#include "scheduler/tuning/metric_report.h"
#include "scheduler/tuning/scalars.h"
#include "tests/support/event_writing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char first_name[] = "a", second_name[] = "b";
static const struct metric metrics[] = { { first_name, false }, { second_name, false } };

struct reading {
	struct event_file file;
	struct metric_report report;
	enum status rc;
};

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void piece_feed(struct reading *reading, const char *data, size_t size)
{
	/* Allocated with its exact size, so that a sanitizer finds a read beyond the end. */
	AUTO(string) char *copy = malloc(size ? size : 1);

	expect(copy != NULL);
	if (size)
		memcpy(copy, data, size);
	reading->rc =
		event_file_feed(&reading->file, &reading->report, reading->file.offset, copy, size, NULL);
	expect(reading->rc == STATUS_OK || reading->rc == STATUS_DATA_LOSS);
	expect(reading->file.whole_bytes <= reading->file.offset);
}

static void text_read(struct reading *reading, const struct text *text, size_t from, size_t step)
{
	metric_report_init(&reading->report, metrics, 2, 1700000000);
	event_file_init(&reading->file, (int64_t)from);
	reading->rc = STATUS_OK;
	for (size_t at = from; at < text->length && !reading->rc; at += step)
		piece_feed(reading, text->data + at, text->length - at < step ? text->length - at : step);
}

static void reading_release(struct reading *reading)
{
	event_file_deinit(&reading->file);
	metric_report_deinit(&reading->report);
}

static void values_check(const struct metric_report *report)
{
	for (size_t i = 0; i < report->measurement_count; i++) {
		expect(isfinite(report->measurements[i].elapsed_s) && report->measurements[i].elapsed_s >= 0);
		expect(isfinite(report->measurements[i].values[0]) ||
		       isfinite(report->measurements[i].values[1]));
	}
}

static void readings_compare(const struct reading *a, const struct reading *b)
{
	expect(a->rc == b->rc && a->file.whole_bytes == b->file.whole_bytes);
	expect(a->report.measurement_count == b->report.measurement_count);
	expect(a->report.tag_count == b->report.tag_count);
	for (size_t i = 0; i < a->report.measurement_count; i++)
		expect(memcmp(&a->report.measurements[i], &b->report.measurements[i],
			      sizeof(*a->report.measurements)) == 0);
}

/* ---- curves ---- */

static void curve_check(const struct scalar_curve *curve, size_t points_max)
{
	expect(curve->point_count <= points_max && curve->point_count <= curve->whole_count);
	expect(curve->point_count + curve->not_finite_count > 0);
	expect(strlen(curve->tag) == curve->tag_length && curve->tag_length <= SCALAR_TAG_BYTES_MAX);
	for (size_t i = 0; i < curve->point_count; i++) {
		expect(isfinite(curve->points[i].value) && isfinite(curve->points[i].time_s));
		expect(!i || curve->points[i - 1].step <= curve->points[i].step);
	}
}

static void scalars_read(struct scalars *scalars, const struct text *text, size_t points_max, size_t step)
{
	struct event_file file;

	scalars_init(scalars, points_max);
	event_file_init(&file, 0);
	for (size_t at = 0, length; at < text->length; at += length) {
		length = text->length - at < step ? text->length - at : step;
		if (event_file_read(&file, scalars_take, scalars, (int64_t)at, text->data + at, length, NULL))
			break;
	}
	event_file_deinit(&file);
}

static void curves_check(const struct text *text, uint8_t first)
{
	struct scalars whole AUTO_SCALARS = { 0 }, pieces AUTO_SCALARS = { 0 };
	const size_t points_max = SCALAR_POINTS_MIN + first % 8;

	scalars_read(&whole, text, points_max, text->length);
	scalars_read(&pieces, text, points_max, 1 + first / 2);
	expect(whole.curve_count == pieces.curve_count && whole.curve_count <= SCALAR_CURVES_MAX);
	for (size_t i = 0; i < whole.curve_count; i++) {
		const struct scalar_curve *a = &whole.curves[i], *b = &pieces.curves[i];

		curve_check(a, points_max);
		expect(a->point_count == b->point_count && a->whole_count == b->whole_count);
		expect(memcmp(a->points, b->points, a->point_count * sizeof(*a->points)) == 0);
	}
}

static void records_write(struct text *text, const uint8_t *data, size_t size)
{
	version_write(text);
	while (size >= 2) {
		const size_t wanted = (size_t)(data[0] | data[1] << 8);
		const size_t length = wanted < size - 2 ? wanted : size - 2;

		record_write(text, data + 2, length);
		data += 2 + length;
		size -= 2 + length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text text AUTO_TEXT = { 0 };
	struct reading whole, pieces, rest;

	if (size < 1)
		return 0;
	if (data[0] & 1)
		records_write(&text, data + 1, size - 1);
	else
		text_append(&text, data + 1, size - 1);
	text_read(&whole, &text, 0, text.length);
	text_read(&pieces, &text, 0, 1 + data[0] / 2);
	readings_compare(&whole, &pieces);
	values_check(&whole.report);
	curves_check(&text, data[0]);
	if (whole.file.whole_bytes > 0) {
		text_read(&rest, &text, (size_t)whole.file.whole_bytes, text.length);
		expect(rest.rc == whole.rc && rest.report.measurement_count == 0);
		reading_release(&rest);
	}
	reading_release(&whole);
	reading_release(&pieces);
	return 0;
}
