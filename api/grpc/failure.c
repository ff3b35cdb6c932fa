/* SPDX-License-Identifier: Apache-2.0 */
#include "api/grpc/failure.h"

#include <stdio.h>
#include <string.h>

#include "api/message/message_binary.h"
#include "daemon/base/json.h"

#define ROW(NUMBER, NAME, TYPE, FLAGS, ...)                                                                  \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_##TYPE, .flags = (FLAGS), .number = (NUMBER), __VA_ARGS__      \
	}
#define END                                                                                                  \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}

static const struct field field_violation_fields[] = { ROW(1, "field", STRING, 0),
						       ROW(2, "description", STRING, 0),
						       ROW(3, "reason", STRING, 0), END };
static const struct message field_violation = { "google.rpc.BadRequest.FieldViolation",
						field_violation_fields, NULL };

static const struct field bad_request_fields[] = {
	ROW(1, "fieldViolations", MESSAGE, FIELD_REPEATED, .message = &field_violation), END
};
static const struct message bad_request = { "google.rpc.BadRequest", bad_request_fields, NULL };

static const struct field quota_violation_fields[] = { ROW(1, "subject", STRING, 0),
						       ROW(2, "description", STRING, 0), END };
static const struct message quota_violation = { "google.rpc.QuotaFailure.Violation", quota_violation_fields,
						NULL };

static const struct field quota_failure_fields[] = {
	ROW(1, "violations", MESSAGE, FIELD_REPEATED, .message = &quota_violation), END
};
static const struct message quota_failure = { "google.rpc.QuotaFailure", quota_failure_fields, NULL };

static const struct message *const kinds_of_details[] = { &bad_request, &quota_failure, NULL };

static const struct field status_fields[] = { ROW(1, "code", INT32, 0), ROW(2, "message", STRING, 0),
					      ROW(3, "details", STRUCT, FIELD_REPEATED | FIELD_ANY), END };
static const struct message status = { "google.rpc.Status", status_fields, NULL };

/* Names of the codes, in the order of their numbers, from 1. */
static const char *const code_names[] = {
	"CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",   "NOT_FOUND",
	"ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
	"OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",         "DATA_LOSS",
	"UNAUTHENTICATED",
};

static unsigned code_of(const json_t *error)
{
	const char *name = json_text_at(error, "status");

	for (unsigned i = 0; name && i < sizeof(code_names) / sizeof(code_names[0]); i++)
		if (strcmp(code_names[i], name) == 0)
			return i + 1;
	return GRPC_UNKNOWN;
}

/* Writes google.rpc.Status only if the error has details: code and text are sent in headers of their own. */
static void details_write(const json_t *error, unsigned code, const char *text, struct text *bytes)
{
	json_t *details = json_object_get(error, "details");
	AUTO(json) json_t *whole = NULL;
	struct text json AUTO_TEXT = { 0 };

	if (!json_array_size(details))
		return;
	whole = json_pack("{s:i, s:s, s:O}", "code", (int)code, "message", text, "details", details);
	if (whole)
		json_write(&json, whole);
	if (!whole || message_to_binary(&status, json.data, kinds_of_details, bytes, NULL))
		text_clear(bytes);
}

void failure_read(unsigned http_status, const json_t *error, struct rpc_outcome *outcome)
{
	const char *text = json_text_at(error, "message");
	char plain[64];

	snprintf(plain, sizeof(plain), "The server answered with HTTP status %u.", http_status);
	rpc_outcome_fail(outcome, code_of(error), text ? text : plain);
	details_write(error, outcome->code, outcome->message.data ? outcome->message.data : "",
		      &outcome->details);
}
