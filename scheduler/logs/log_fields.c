/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/logs/log_fields.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "daemon/base/json.h"
#include "daemon/base/timestamp.h"
#include "store/logs/logs.h"

/* ---- severity ---- */

static const struct {
	const char *name;
	int severity;
} severities[] = {
	{ "DEFAULT", SEVERITY_DEFAULT },
	{ "DEBUG", SEVERITY_DEBUG },
	{ "INFO", SEVERITY_INFO },
	{ "NOTICE", SEVERITY_NOTICE },
	{ "WARNING", SEVERITY_WARNING },
	{ "ERROR", SEVERITY_ERROR },
	{ "CRITICAL", SEVERITY_CRITICAL },
	{ "ALERT", SEVERITY_ALERT },
	{ "EMERGENCY", SEVERITY_EMERGENCY },
	{ "WARN", SEVERITY_WARNING },
	{ "FATAL", SEVERITY_CRITICAL },
	{ "CRIT", SEVERITY_CRITICAL },
	{ "SEVERE", SEVERITY_ERROR },
	{ "ERR", SEVERITY_ERROR },
	{ "TRACE", SEVERITY_DEBUG },
	{ "TRACE_INT", SEVERITY_DEBUG },
	{ "FINE", SEVERITY_DEBUG },
	{ "FINER", SEVERITY_DEBUG },
	{ "FINEST", SEVERITY_DEBUG },
	{ "CONFIG", SEVERITY_DEBUG },
	{ "INFORMATION", SEVERITY_INFO },
	{ "EMERG", SEVERITY_EMERGENCY },
	{ "D", SEVERITY_DEBUG },
	{ "I", SEVERITY_INFO },
	{ "N", SEVERITY_NOTICE },
	{ "W", SEVERITY_WARNING },
	{ "E", SEVERITY_ERROR },
	{ "F", SEVERITY_CRITICAL },
	{ "C", SEVERITY_CRITICAL },
	{ "A", SEVERITY_ALERT },
};

static int severity_of_number(double number)
{
	return number >= SEVERITY_EMERGENCY ? SEVERITY_EMERGENCY : (int)number / 100 * 100;
}

static bool severity_find(const char *name, int *ret_severity)
{
	size_t length, digits;

	while (isspace((unsigned char)*name))
		name++;
	for (length = strlen(name); length && isspace((unsigned char)name[length - 1]);)
		length--;
	digits = strspn(name, "0123456789");
	if (digits > 0 && digits == length) {
		*ret_severity = severity_of_number(strtod(name, NULL));
		return true;
	}
	for (size_t i = 0; i < sizeof(severities) / sizeof(severities[0]); i++) {
		if (strlen(severities[i].name) != length ||
		    strncasecmp(severities[i].name, name, length) != 0)
			continue;
		*ret_severity = severities[i].severity;
		return true;
	}
	return false;
}

int log_severity_parse(const char *name)
{
	int severity = SEVERITY_DEFAULT;

	severity_find(name, &severity);
	return severity;
}

void log_severity_lift(json_t *object, int *severity)
{
	const json_t *said = json_object_get(object, "severity");

	if (json_is_number(said) && json_number_value(said) >= 0)
		*severity = severity_of_number(json_number_value(said));
	else if (!json_is_string(said) || !severity_find(json_string_value(said), severity)) {
		if (json_is_string(said) || json_is_number(said))
			*severity = SEVERITY_DEFAULT;
		return;
	}
	json_object_del(object, "severity");
}

/* ---- time ---- */

enum { NANOS_PER_S = 1000000000 };

/* Reads a whole number from 0 to @most, given as a number or as a text. */
static bool whole_at(const json_t *object, const char *key, int64_t most, int64_t *ret_number)
{
	*ret_number = json_int_at(object, key, -1);
	return *ret_number >= 0 && *ret_number <= most;
}

static bool time_of_parts(const json_t *object, const char *seconds, const char *nanos, int64_t *ret_ns)
{
	int64_t whole, part = 0;

	if (!whole_at(object, seconds, TIME_END_S - 1, &whole) ||
	    (json_object_get(object, nanos) && !whole_at(object, nanos, NANOS_PER_S - 1, &part)))
		return false;
	*ret_ns = whole * NANOS_PER_S + part;
	return true;
}

/* Times beyond 64 bits of nanoseconds are ignored: also the year 1, which programs write for "no time". */
static bool time_of_text(const json_t *text, int64_t *ret_ns)
{
	return json_is_string(text) && time_parse_strict(json_string_value(text), ret_ns) &&
	       *ret_ns != INT64_MIN && *ret_ns != INT64_MAX;
}

/* Removes the time from the line's object and returns it. Times in unknown forms stay in the line. */
bool log_time_lift(json_t *object, int64_t latest_ns, int64_t *ret_ns)
{
	static const char *const texts[] = { "time", "timestamp" };
	int64_t time_ns;

	if (time_of_parts(json_object_get(object, "timestamp"), "seconds", "nanos", &time_ns) &&
	    time_ns <= latest_ns) {
		json_object_del(object, "timestamp");
	} else if (time_of_parts(object, "timestampSeconds", "timestampNanos", &time_ns) &&
		   time_ns <= latest_ns) {
		json_object_del(object, "timestampSeconds");
		json_object_del(object, "timestampNanos");
	} else if (whole_at(object, "timeNanos", latest_ns, &time_ns)) {
		json_object_del(object, "timeNanos");
	} else {
		size_t i = 0;

		while (i < 2 &&
		       (!time_of_text(json_object_get(object, texts[i]), &time_ns) || time_ns > latest_ns))
			i++;
		if (i == 2)
			return false;
		json_object_del(object, texts[i]);
	}
	*ret_ns = time_ns;
	return true;
}

/* ---- other members ---- */

enum part_type { PART_TEXT, PART_INT64, PART_INT32, PART_TRUTH, PART_LATENCY };

struct part {
	const char *name;
	enum part_type type;
};

static const struct part http_request[] = {
	{ "requestMethod", PART_TEXT },
	{ "requestUrl", PART_TEXT },
	{ "requestSize", PART_INT64 },
	{ "status", PART_INT32 },
	{ "responseSize", PART_INT64 },
	{ "userAgent", PART_TEXT },
	{ "remoteIp", PART_TEXT },
	{ "serverIp", PART_TEXT },
	{ "referer", PART_TEXT },
	{ "latency", PART_LATENCY },
	{ "cacheLookup", PART_TRUTH },
	{ "cacheHit", PART_TRUTH },
	{ "cacheValidatedWithOriginServer", PART_TRUTH },
	{ "cacheFillBytes", PART_INT64 },
	{ "protocol", PART_TEXT },
	{ NULL },
};
static const struct part operation[] = {
	{ "id", PART_TEXT },
	{ "producer", PART_TEXT },
	{ "first", PART_TRUTH },
	{ "last", PART_TRUTH },
	{ NULL },
};
static const struct part source_location[] = {
	{ "file", PART_TEXT },
	{ "line", PART_INT64 },
	{ "function", PART_TEXT },
	{ NULL },
};

static json_t *truth_of(const json_t *value)
{
	const char *text = json_string_value(value);

	if (json_is_boolean(value))
		return json_boolean(json_is_true(value));
	if (json_is_integer(value) && (json_integer_value(value) & ~(json_int_t)1) == 0)
		return json_boolean(json_integer_value(value) == 1);
	if (text && (!strcmp(text, "true") || !strcmp(text, "false")))
		return json_boolean(!strcmp(text, "true"));
	return NULL;
}

static json_t *text_of(const json_t *value)
{
	AUTO(string)
	char *text = json_is_number(value) || json_is_boolean(value) ? json_dump_compact(value) : NULL;

	return json_is_string(value) ? json_copy((json_t *)value) : text ? json_string(text) : NULL;
}

/* A whole number in protobuf's JSON form: @is_text: as a text, for 64-bit fields. NULL: not a whole number. */
static json_t *whole_of(const json_t *value, bool is_text)
{
	const double real = json_real_value(value);
	json_int_t number = json_integer_value(value);
	char *end = NULL;

	errno = 0;
	if (json_is_string(value) && json_string_length(value) > 0)
		number = strtoll(json_string_value(value), &end, 10);
	else if (json_is_real(value) && fabs(real) < 0x1p63 && trunc(real) == real)
		number = (json_int_t)real;
	else if (!json_is_integer(value))
		return NULL;
	if (errno || (end && *end) || (!is_text && (number < INT32_MIN || number > INT32_MAX)))
		return NULL;
	return is_text ? json_sprintf("%" JSON_INTEGER_FORMAT, number) : json_integer(number);
}

static json_t *part_of(const json_t *value, enum part_type type)
{
	struct text latency AUTO_TEXT = { 0 };
	int64_t latency_us;

	switch (type) {
	case PART_TEXT:
		return text_of(value);
	case PART_INT64:
	case PART_INT32:
		return whole_of(value, type == PART_INT64);
	case PART_TRUTH:
		return truth_of(value);
	case PART_LATENCY:
		if (!json_is_string(value) || !duration_parse(json_string_value(value), &latency_us))
			return NULL;
		text_duration(&latency, json_string_value(value));
		return json_string(latency.data);
	}
	return NULL;
}

/* Whether the field is empty. Empty fields are removed from the line, because logging handlers write all fields in each
 * line. */
static bool is_empty(const json_t *value)
{
	return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0) ||
	       (json_is_object(value) && json_object_size(value) == 0);
}

static void member_put(json_t *extra, const char *member, json_t *value)
{
	if (json_object_size(value))
		json_object_set(extra, member, value);
}

static void message_lift(json_t *object, json_t *extra, const char *key, const char *member,
			 const struct part *parts)
{
	json_t *message = json_object_get(object, key);
	AUTO(json) json_t *lifted = json_object();

	for (; json_is_object(message) && parts->name; parts++) {
		json_t *part = part_of(json_object_get(message, parts->name), parts->type);

		if (!part)
			continue;
		json_object_set_new(lifted, parts->name, part);
		json_object_del(message, parts->name);
	}
	member_put(extra, member, lifted);
	if (is_empty(message))
		json_object_del(object, key);
}

/* Moves the line's labels to @extra. Labels are texts: numbers, true and false become texts. */
static void labels_lift(json_t *object, json_t *extra)
{
	static const char key[] = "logging.googleapis.com/labels";
	json_t *labels = json_object_get(object, key), *value;
	AUTO(json) json_t *lifted = json_object();
	const char *name;
	void *next;

	json_object_foreach_safe(labels, next, name, value) {
		json_t *text = text_of(value);

		if (!text)
			continue;
		json_object_set_new(lifted, name, text);
		json_object_del(labels, name);
	}
	member_put(extra, "labels", lifted);
	if (is_empty(labels))
		json_object_del(object, key);
}

/* The full name of a trace: a plain id is completed with the entry's project. NULL: not a text.
 * Source: the agent's compute_trace(). */
static json_t *trace_of(const json_t *value, const char *project)
{
	const char *trace = json_string_value(value);

	if (project && trace && strlen(trace) == 32 && strspn(trace, "0123456789abcdefABCDEF") == 32)
		return json_sprintf("projects/%s/traces/%s", project, trace);
	return json_is_string(value) ? json_copy((json_t *)value) : NULL;
}

static void value_put(json_t *object, json_t *extra, const char *key, const char *member, json_t *value)
{
	if (value && !is_empty(value))
		json_object_set(extra, member, value);
	if (value || is_empty(json_object_get(object, key)))
		json_object_del(object, key);
	json_decref(value);
}

void log_members_lift(json_t *object, json_t *extra, const char *project)
{
#define KEY(name) "logging.googleapis.com/" name
	const json_t *span = json_object_get(object, KEY("spanId"));

	message_lift(object, extra, "httpRequest", "httpRequest", http_request);
	labels_lift(object, extra);
	message_lift(object, extra, KEY("operation"), "operation", operation);
	message_lift(object, extra, KEY("sourceLocation"), "sourceLocation", source_location);
	value_put(object, extra, KEY("spanId"), "spanId",
		  json_is_string(span) ? json_copy((json_t *)span) : NULL);
	value_put(object, extra, KEY("trace"), "trace",
		  trace_of(json_object_get(object, KEY("trace")), project));
	value_put(object, extra, KEY("trace_sampled"), "traceSampled",
		  truth_of(json_object_get(object, KEY("trace_sampled"))));
#undef KEY
}
