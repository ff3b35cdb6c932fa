/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/requests.h"

#include <inttypes.h>
#include <stdlib.h>

#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/emulator/line_stream.h"
#include "api/http/ledger.h"
#include "api/http/router.h"
#include "api/message/message_write.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"

enum { LOOK_US = 500000, LINES_AT_ONCE = 100, HTTP_REFUSED = 400 };

static const struct field query_fields[] = {
	FIELD("follow", BOOL, 0, "Goes on with new requests until the client leaves."),
	FIELD("failed", BOOL, 0, "Only requests that were refused, failed, or got no answer."),
	{ .name = "tail",
	  .type = FIELD_INT32,
	  .flags = FIELD_PRESENCE,
	  .help = "At most this number of the requests that are there, the last ones." },
	{ .name = NULL },
};
const struct message requests_query = { "trainyard.RequestsRequest", query_fields, "Which requests.",
					.is_own = true };

static const struct field line_fields[] = {
	FIELD("time", TIMESTAMP, 0, "When it was answered, by the system's clock."),
	FIELD("method", STRING, 0, "The HTTP method; POST of a call by gRPC."),
	FIELD("path", STRING, 0,
	      "The path without its query; where the path is a secret, the pattern that it fits."),
	FIELD("api", STRING, 0,
	      "The method's name, such as projects.jobs.create; absent where no method has the path."),
	FIELD("status", INT32, 0, "The HTTP status; absent: the connection was closed without an answer."),
	FIELD("duration", DURATION, 0, "How long it took; of a stream, until it began."),
	FIELD("client", STRING, 0, "The client's IPv4 address; absent for another family of addresses."),
	FIELD("userAgent", STRING, 0, "The beginning of what the client calls itself."),
	FIELD("reason", STRING, 0, "The beginning of why it was refused; absent: it was not."),
	{ .name = NULL },
};
const struct message request_line = { "trainyard.Request", line_fields, "A request of a client.",
				      .is_own = true };

struct requests {
	const struct call *call;
	struct ledger *ledger;
	uint64_t reached; /* the number of the last entry that was looked at */
	uint64_t end;     /* the number of the last that is wanted */
	bool follows, failed_only;
};

static bool is_failed(const struct ledger_entry *entry)
{
	return entry->cut || entry->http_status >= HTTP_REFUSED;
}

static void api_write(const struct route *route, struct writer *line)
{
	struct text name AUTO_TEXT = { 0 };

	if (!route)
		return;
	if (route->doc && route->doc->id)
		text_puts(&name, route->doc->id);
	else
		route_name_write(&name, route);
	member_text(line, "api", name.data);
}

static void entry_write(const struct ledger_entry *entry, struct text *text)
{
	enum { US_PER_S = 1000000 };
	struct writer line = message_open(text, &request_line);

	member_time(&line, "time", entry->time_us, TIME_MICROSECONDS);
	member_text(&line, "method", entry->method);
	member_text(&line, "path", entry->path);
	api_write(entry->route, &line);
	if (!entry->cut)
		member_int(&line, "status", entry->http_status);
	member_printf(&line, "duration", "%" PRId64 ".%06" PRId64 "s", entry->duration_us / US_PER_S,
		      entry->duration_us % US_PER_S);
	if (entry->peer)
		member_printf(&line, "client", "%u.%u.%u.%u", entry->peer >> 24, entry->peer >> 16 & 255,
			      entry->peer >> 8 & 255, entry->peer & 255);
	if (*entry->agent)
		member_text(&line, "userAgent", entry->agent);
	if (*entry->reason)
		member_text(&line, "reason", entry->reason);
	message_close(&line);
	text_putc(text, '\n');
}

static enum status requests_more(void *arg, struct text *text, ssize_t *ret_over, struct error *err)
{
	struct requests *requests = arg;
	struct ledger_entry entry;

	(void)err;
	for (unsigned i = 0; i < LINES_AT_ONCE && requests->reached < requests->end &&
			     ledger_next(requests->ledger, requests->reached, &entry);
	     i++) {
		requests->reached = entry.number;
		if (!requests->failed_only || is_failed(&entry))
			entry_write(&entry, text);
	}
	if (text->length)
		return STATUS_OK;
	if (requests->reached >= requests->end || call_closing(requests->call))
		*ret_over = STREAM_END;
	else if (!ledger_await(requests->ledger, requests->reached, LOOK_US))
		*ret_over = STREAM_QUIET;
	return STATUS_OK;
}

/* Skips all but the last @tail of the present entries. Without ?follow=true, the stream ends after these. */
static void tail_seek(struct requests *requests, int64_t tail)
{
	struct ledger_entry entry;
	int64_t count = 0;
	uint64_t at = 0;

	while (ledger_next(requests->ledger, at, &entry)) {
		at = entry.number;
		count += !requests->failed_only || is_failed(&entry);
	}
	requests->end = requests->follows ? UINT64_MAX : at;
	while (count > tail && ledger_next(requests->ledger, requests->reached, &entry)) {
		requests->reached = entry.number;
		count -= !requests->failed_only || is_failed(&entry);
	}
}

enum status requests_stream(struct call *call, struct error *err)
{
	const struct jobs_context *context = call->context;
	const int64_t tail = json_int_at(call->query, "tail", LEDGER_ENTRIES);
	struct requests *requests;

	if (tail < 0)
		return error_set(err, STATUS_INVALID_ARGUMENT, "tail", "The value must not be negative.");
	requests = memory_calloc(1, sizeof(*requests));
	*requests = (struct requests){ .call = call,
				       .ledger = context->ledger,
				       .follows = json_true_at(call->query, "follow"),
				       .failed_only = json_true_at(call->query, "failed") };
	tail_seek(requests, tail);
	line_stream_begin(call, &(struct line_source){ requests_more, free, requests });
	return STATUS_OK;
}
