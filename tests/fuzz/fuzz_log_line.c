/* SPDX-License-Identifier: Apache-2.0 */
/* One line of a container's output: any bytes.
 *
 * What must hold beside not crashing: payloads and other texts are UTF-8, JSON payloads are objects,
 * the time is a day later than the engine's at most, the severity is one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/json.h"
#include "scheduler/logs/log_line.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const int64_t now_ns = INT64_C(1700000000000000000);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void expect_object(const char *text, size_t length)
{
	AUTO(json) json_t *value = json_loadb(text, length, 0, NULL);

	expect(json_is_object(value));
}

static void line_check(const struct log_record *record)
{
	expect(record->time_ns <= now_ns + LOG_LINE_AHEAD_NS);
	expect(record->dated || record->time_ns == now_ns);
	expect(record->severity >= 0 && record->severity <= 800 && record->severity % 100 == 0);
	expect(utf8_valid(record->payload, record->payload_length));
	expect(!memchr(record->payload, '\0', record->payload_length));
	if (record->kind == LOG_JSON)
		expect_object(record->payload, record->payload_length);
	if (record->extra)
		expect_object(record->extra, strlen(record->extra));
	if (record->insert_id)
		expect(utf8_valid(record->insert_id, strlen(record->insert_id)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct log_line line = { .project = "p" }; /* kept from one input to the next, as in the product */

	for (int stream = 1; stream <= 2; stream++) {
		log_line_read(&line, (const char *)data, size, stream, now_ns);
		line_check(&line.record);
		log_line_wrap(&line, "workerpool0-0");
		expect(line.record.kind == LOG_JSON);
		line_check(&line.record);
	}
	return 0;
}
