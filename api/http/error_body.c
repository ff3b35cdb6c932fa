/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/error_body.h"

#include <string.h>

struct wire_status {
	unsigned http;
	const char *reason; /* the older form's word */
};

/* Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto (the HTTP mapping there) */
static struct wire_status wire_status(enum status status)
{
	switch (status) {
	case STATUS_OK:
		return (struct wire_status){ 200, "" };
	case STATUS_CANCELLED:
		return (struct wire_status){ 499, "cancelled" };
	case STATUS_UNKNOWN:
		return (struct wire_status){ 500, "backendError" };
	case STATUS_INVALID_ARGUMENT:
		return (struct wire_status){ 400, "badRequest" };
	case STATUS_DEADLINE_EXCEEDED:
		return (struct wire_status){ 504, "deadlineExceeded" };
	case STATUS_NOT_FOUND:
		return (struct wire_status){ 404, "notFound" };
	case STATUS_ALREADY_EXISTS:
		return (struct wire_status){ 409, "alreadyExists" };
	case STATUS_PERMISSION_DENIED:
		return (struct wire_status){ 403, "forbidden" };
	case STATUS_RESOURCE_EXHAUSTED:
		return (struct wire_status){ 429, "rateLimitExceeded" };
	case STATUS_FAILED_PRECONDITION:
		return (struct wire_status){ 400, "failedPrecondition" };
	case STATUS_ABORTED:
		return (struct wire_status){ 409, "aborted" };
	case STATUS_OUT_OF_RANGE:
		return (struct wire_status){ 400, "outOfRange" };
	case STATUS_UNIMPLEMENTED:
		return (struct wire_status){ 501, "notImplemented" };
	case STATUS_INTERNAL:
		return (struct wire_status){ 500, "backendError" };
	case STATUS_UNAVAILABLE:
		return (struct wire_status){ 503, "backendError" };
	case STATUS_DATA_LOSS:
		return (struct wire_status){ 500, "backendError" };
	case STATUS_UNAUTHENTICATED:
		return (struct wire_status){ 401, "unauthorized" };
	}
	return (struct wire_status){ 500, "backendError" }; /* no status at all */
}

static struct wire_status wire_refusal(enum refusal refusal, enum status status)
{
	switch (refusal) {
	case REFUSAL_BY_STATUS:
		break;
	case REFUSAL_METHOD_NOT_ALLOWED:
		return (struct wire_status){ refusal, "httpMethodNotAllowed" };
	case REFUSAL_TOO_LARGE:
		return (struct wire_status){ refusal, "uploadTooLarge" };
	case REFUSAL_MEDIA_TYPE:
		return (struct wire_status){ refusal, "unsupportedMediaType" };
	}
	return wire_status(status);
}

unsigned error_http_status(enum status status)
{
	return wire_status(status).http;
}

bool error_is_internal(enum status status)
{
	return error_http_status(status) == 500;
}

const char *error_message(const struct error *err)
{
	if (error_is_internal(err->status))
		return "Internal error encountered.";
	return err->text ? err->text : status_name(err->status);
}

static void member_write(struct text *text, const char *name, const char *value)
{
	text_printf(text, "\"%s\":", name);
	text_json(text, value, strlen(value));
}

/* The type of each detail, and the names of its parts.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/error_details.proto */
static const struct {
	const char *type, *violations, *field;
} detail_forms[] = {
	[ERROR_DETAIL_FIELDS] = { "BadRequest", "fieldViolations", "field" },
	[ERROR_DETAIL_QUOTA] = { "QuotaFailure", "violations", "subject" },
};

static void detail_open(struct text *text, const char *type)
{
	text_printf(text, "{\"@type\":\"type.googleapis.com/google.rpc.%s\",", type);
}

static void violations_write(struct text *text, const struct error *err)
{
	detail_open(text, detail_forms[err->detail].type);
	text_printf(text, "\"%s\":[", detail_forms[err->detail].violations);
	for (size_t i = 0; i < err->violation_count; i++) {
		const struct violation *violation = &err->violations[i];

		text_puts(text, i ? ",{" : "{");
		if (violation->field) {
			member_write(text, detail_forms[err->detail].field, violation->field);
			text_putc(text, ',');
		}
		member_write(text, "description", violation->text ? violation->text : "");
		text_putc(text, '}');
	}
	text_puts(text, "]}");
}

static void reason_write(struct text *text, const struct error *err)
{
	detail_open(text, "ErrorInfo");
	member_write(text, "reason", err->reason);
	text_puts(text, ",\"domain\":\"googleapis.com\",\"metadata\":{");
	for (size_t i = 0; i < err->metadata_count; i++) {
		const struct error_metadata *metadata = &err->metadata[i];

		if (i)
			text_putc(text, ',');
		member_write(text, metadata->key ? metadata->key : "",
			     metadata->value ? metadata->value : "");
	}
	text_puts(text, "}}");
}

static void details_write(struct text *text, const struct error *err)
{
	text_puts(text, ",\"details\":[");
	if (err->reason)
		reason_write(text, err);
	if (err->reason && err->violation_count)
		text_putc(text, ',');
	if (err->violation_count)
		violations_write(text, err);
	text_putc(text, ']');
}

void error_body_write(struct text *text, const struct error *err, enum refusal refusal, enum error_form form)
{
	const struct wire_status wire = wire_refusal(refusal, err->status);
	const char *message = error_message(err);

	text_printf(text, "{\"error\":{\"code\":%u,", wire.http);
	member_write(text, "message", message);
	if (form == ERROR_FORM_1) {
		text_puts(text, ",\"errors\":[{");
		member_write(text, "message", message);
		text_printf(text, ",\"domain\":\"global\",\"reason\":\"%s\"}]", wire.reason);
	}
	text_printf(text, ",\"status\":\"%s\"", status_name(err->status));
	if ((err->violation_count || err->reason) && !error_is_internal(err->status))
		details_write(text, err);
	text_puts(text, "}}");
}
