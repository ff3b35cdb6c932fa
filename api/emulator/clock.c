/* SPDX-License-Identifier: Apache-2.0 */
/* Choice: the service has nothing like this, so names and forms are our own. */
#include "api/emulator/clock.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/message/message.h"
#include "daemon/base/json.h"
#include "daemon/base/timestamp.h"

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

static const struct field step_fields[] = {
	{ .name = "advance",
	  .type = FIELD_DURATION,
	  .flags = FIELD_REQUIRED,
	  .help = "By how much the clock is put forward: \"604800s\"." },
	{ .name = NULL },
};
static const struct message step_message = { "trainyard.ClockStep", step_fields, "A step of the clock.",
					     .is_own = true };

/* Appends a duration in the form of protobuf's JSON. */
static void duration_write(struct text *text, int64_t us)
{
	const int64_t part = llabs(us % US_PER_S);

	text_printf(text, "%s%" PRId64, us < 0 ? "-" : "", (int64_t)llabs(us / US_PER_S));
	if (part)
		text_printf(text, ".%06" PRId64, part);
	text_putc(text, 's');
}

static void clock_answer(struct call *call)
{
	const struct clock_context *context = call->context;
	struct text now AUTO_TEXT = { 0 }, offset AUTO_TEXT = { 0 };
	AUTO(json) json_t *answer = NULL;

	text_time_micros(&now, clock_wall_us(context->clock));
	duration_write(&offset, clock_ahead_ns(context->clock) / NS_PER_US);
	answer = json_pack("{s:s, s:s, s:b}", "now", now.data, "offset", offset.data, "steppable",
			   context->advance != NULL);
	json_write(&call->answer, answer);
}

static enum status clock_get(struct call *call, struct error *err)
{
	(void)err;
	clock_answer(call);
	return STATUS_OK;
}

static enum status clock_advance(struct call *call, struct error *err)
{
	const struct clock_context *context = call->context;
	const char *by = json_text_at(call->body, "advance");
	int64_t by_us = 0;
	enum status rc;

	if (!context->advance)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "The clock is the real one and cannot be put forward: start trainyard with "
				 "--clock steppable.");
	if (!by)
		return error_set(err, STATUS_INVALID_ARGUMENT, "advance", "The field is required.");
	if (!duration_parse(by, &by_us) || by_us <= 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "advance",
				 "The value must be positive: the clock never goes back.");
	rc = context->advance(context->arg, by_us, err);
	if (!rc)
		clock_answer(call);
	return rc;
}

#define CLOCK "/_trainyard/v1/clock"

const struct route clock_routes[] = {
	{ .method = "GET", .path = CLOCK, .handler = clock_get },
	{ .method = "POST", .path = CLOCK, .handler = clock_advance, .body = &step_message, .body_root = "" },
	{ .method = NULL },
};
