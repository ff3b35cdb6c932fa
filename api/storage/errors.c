/* SPDX-License-Identifier: Apache-2.0 */
/* api/storage/errors.c: errors as the JSON API of Cloud Storage words them.
 * Source: https://cloud.google.com/storage/docs/json_api/v1/status-codes (read 2026-11-22) */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api/http/error_body.h"
#include "api/storage/parts.h"
#include "api/storage/storage.h"
#include "daemon/base/memory.h"

enum status error_parameter(struct error *err, const char *reason, const char *parameter, const char *format,
			    ...)
{
	AUTO(string) char *text = NULL;
	va_list args;

	va_start(args, format);
	text = memory_vprintf(format, args);
	va_end(args);
	error_set(err, STATUS_INVALID_ARGUMENT, NULL, "%s", text);
	error_add_reason(err, reason, parameter ? "parameter" : NULL, parameter);
	return STATUS_INVALID_ARGUMENT;
}

/* Choice: for a malformed mask the error quotes all of it, as no field can be named.
 * Source: https://developers.google.com/workspace/drive/api/guides/fields-parameter and public reports of that service,
 * which answers by the same front end: "Invalid field selection NAME", location fields (read 2026-11-25) */
enum status storage_fields_refuse(const char *mask, const char *path, const char *name, struct error *err)
{
	(void)path;
	return error_parameter(err, "invalidParameter", "fields", "Invalid field selection %.200s",
			       name ? name : mask);
}

unsigned storage_error_status(const struct call *call, const struct error *err)
{
	(void)call;
	switch (err->status) {
	case STATUS_FAILED_PRECONDITION:
		return 412;
	case STATUS_RESOURCE_EXHAUSTED:
		return 507; /* the disk is full: no client should try this again at once */
	case STATUS_OUT_OF_RANGE:
		return 416;
	default:
		return error_http_status(err->status);
	}
}

bool storage_error_has_code(const struct error *err)
{
	return err->reason && isupper((unsigned char)err->reason[0]);
}

static const char *reason_of(unsigned http_status)
{
	static const struct {
		unsigned http_status;
		const char *reason;
	} reasons[] = {
		{ 400, "invalid" },
		{ 401, "authError" },
		{ 403, "forbidden" },
		{ 404, "notFound" },
		{ 405, "methodNotAllowed" },
		{ 409, "conflict" },
		{ 412, "conditionNotMet" },
		{ 413, "uploadTooLarge" },
		{ 415, "unsupportedMediaType" },
		{ 416, "requestedRangeNotSatisfiable" },
		{ 429, "rateLimitExceeded" },
		{ 500, "internalError" },
		{ 501, "notImplemented" },
		{ 507, "insufficientStorage" },
	};

	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (reasons[i].http_status == http_status)
			return reasons[i].reason;
	return "backendError";
}

static void member_write(struct text *text, const char *name, const char *value)
{
	text_printf(text, ",\"%s\":", name);
	text_json(text, value, strlen(value));
}

static void location_write(struct text *text, const struct error *err, unsigned http_status)
{
	const struct error_metadata *at = err->metadata_count ? &err->metadata[0] : NULL;

	if (at && at->key && at->value) {
		member_write(text, "locationType", at->key);
		member_write(text, "location", at->value);
	} else if (http_status == 412) {
		member_write(text, "locationType", "header");
		member_write(text, "location", "If-Match");
	}
}

static const char *message_of(const struct error *err)
{
	if (error_is_internal(err->status))
		return "We encountered an internal error. Please try again.";
	return err->text ? err->text : status_name(err->status);
}

const char *storage_error_render(const struct call *call, const struct error *err, unsigned http_status,
				 struct text *body)
{
	const char *message = message_of(err);

	(void)call;
	text_printf(body, "{\"error\":{\"code\":%u", http_status);
	member_write(body, "message", message);
	text_puts(body, ",\"errors\":[{\"message\":");
	text_json(body, message, strlen(message));
	/* Source: https://github.com/trinodb/trino/issues/19943 (an answer of 429) */
	member_write(body, "domain", http_status == 429 ? "usageLimits" : "global");
	member_write(body, "reason",
		     err->reason && !storage_error_has_code(err) ? err->reason : reason_of(http_status));
	location_write(body, err, http_status);
	text_puts(body, "}]}}");
	return "application/json; charset=UTF-8";
}
