/* SPDX-License-Identifier: Apache-2.0 */
/* A file of metrics: any text, read first up to where its first two bytes say, then whole, then once more.
 *
 * What must hold beside not crashing: the third reading gives nothing new, what is given is finite, and as much
 * comes in two readings as in one. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/text.h"
#include "scheduler/tuning/metric_file.h"
#include "scheduler/tuning/metric_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char first_name[] = "a", second_name[] = "b";
static const struct metric metrics[] = { { first_name, false }, { second_name, false } };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Returns the number of new values. */
static size_t values_check(const struct metric_report *report)
{
	size_t values = 0;

	for (size_t i = 0; i < report->measurement_count; i++) {
		const struct measurement *measurement = &report->measurements[i];
		size_t own = 0;

		expect(isfinite(measurement->elapsed_s) && measurement->elapsed_s >= 0);
		for (size_t metric = 0; metric < METRICS_MAX; metric++) {
			expect(isfinite(measurement->values[metric]) || isnan(measurement->values[metric]));
			own += !isnan(measurement->values[metric]);
		}
		expect(own > 0);
		values += own;
	}
	return values;
}

static size_t file_read(struct metric_file *file, struct metric_report *report, const uint8_t *data,
			size_t size)
{
	/* Allocated with its exact size, so that a sanitizer finds a read beyond the end. */
	AUTO(string) char *copy = malloc(size ? size : 1);

	expect(copy != NULL);
	memcpy(copy, data, size);
	metric_report_clear(report);
	metric_file_read(file, report, copy, size);
	return values_check(report);
}

static void absence_check(const struct metric_report *report)
{
	struct text text AUTO_TEXT = { 0 };

	metric_absence_text(&text, report, 0, METRIC_SOURCE_READ, NULL);
	expect(utf8_valid(text.data, text.length));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct metric_file once, twice;
	struct metric_report report;
	size_t first, in_one, in_two;

	if (size < 2)
		return 0;
	first = (size_t)(data[0] | data[1] << 8) % (size - 1);
	data += 2;
	size -= 2;
	once = twice = (struct metric_file){ 0 };
	metric_report_init(&report, metrics, 2, 1700000000);
	in_one = file_read(&once, &report, data, size);
	in_two = file_read(&twice, &report, data, first);
	in_two += file_read(&twice, &report, data, size);
	expect(in_two >= in_one);
	expect(file_read(&once, &report, data, size) == 0);
	expect(file_read(&twice, &report, data, size) == 0);
	absence_check(&report);
	metric_report_deinit(&report);
	return 0;
}
