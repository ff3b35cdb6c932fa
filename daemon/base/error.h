/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/error.h: an error is a value on the caller's stack.
 *
 * It holds a canonical status, the text that a client may read, and the fields at fault.
 * Functions that can fail return the status and fill *err on failure only; err may be NULL
 * where the caller needs the status alone. Only api/http/error_body.c makes an HTTP answer of it.
 *
 *     struct error err AUTO_ERROR = { 0 };
 *     rc = job_insert(store, job, &err);
 */
#include <stdbool.h>
#include <stddef.h>

/* Source: https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto (the numbers as in gRPC) */
enum status {
	STATUS_OK = 0,
	STATUS_CANCELLED = 1,
	STATUS_UNKNOWN = 2,
	STATUS_INVALID_ARGUMENT = 3,
	STATUS_DEADLINE_EXCEEDED = 4,
	STATUS_NOT_FOUND = 5,
	STATUS_ALREADY_EXISTS = 6,
	STATUS_PERMISSION_DENIED = 7,
	STATUS_RESOURCE_EXHAUSTED = 8,
	STATUS_FAILED_PRECONDITION = 9,
	STATUS_ABORTED = 10,
	STATUS_OUT_OF_RANGE = 11,
	STATUS_UNIMPLEMENTED = 12,
	STATUS_INTERNAL = 13,
	STATUS_UNAVAILABLE = 14,
	STATUS_DATA_LOSS = 15,
	STATUS_UNAUTHENTICATED = 16,
};

/* The canonical name, "INVALID_ARGUMENT"; never NULL. */
const char *status_name(enum status status);

struct violation {
	char *field; /* path of the field at fault in snake_case; for a quota, the project; NULL: none */
	char *text;
};

/* The kind of the violations. */
enum error_detail {
	ERROR_DETAIL_FIELDS, /* fields of the request */
	ERROR_DETAIL_QUOTA,  /* exceeded quotas */
};

struct error_metadata {
	char *key, *value;
};

struct error {
	enum status status;
	char *text;       /* the whole message */
	bool is_semantic; /* the text consists of violations only: "Field: … Error: …" */
	enum error_detail detail;
	struct violation *violations;
	size_t violation_count;
	/* A machine-readable reason ("RATE_LIMIT_EXCEEDED") and its details; NULL: no reason. */
	char *reason;
	struct error_metadata *metadata;
	size_t metadata_count;
};

#define AUTO_ERROR __attribute__((cleanup(error_deinit)))

void error_deinit(struct error *err);

/* Replaces *err. With a field the text becomes "Field: <field> Error: <description>" and one violation is recorded, in
 * the service's wording of semantic errors; without a field the text is used unchanged. Returns @status, so that
 * callers can write `return error_set(...)`. */
enum status error_set(struct error *err, enum status status, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Adds a "Field: … Error: …" violation; texts are joined by a space. The first call sets the status. */
enum status error_add(struct error *err, enum status status, const char *field, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* For messages in another wording than that of error_add(). error_violation_add() adds a violation (@field may be NULL)
 * and leaves the message as it is; error_text_join() appends @more to the message, after @separator if the message has
 * text already. */
void error_violation_add(struct error *err, const char *field, const char *text);
void error_text_join(struct error *err, const char *separator, const char *more);

/* Sets the machine-readable reason and, with a @key, one detail. */
void error_add_reason(struct error *err, const char *reason, const char *key, const char *value);

/* Prefixes an internal error's text with context ("create job x: disk full"). Texts of statuses that clients cause are
 * unchanged. Returns the status. */
enum status error_wrap(struct error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Moves @from into @to (freeing what @to held); returns the status. @to may be NULL. */
enum status error_move(struct error *to, struct error *from);

/* The error for memory of a client-chosen size (memory.h): UNAVAILABLE. */
enum status error_no_memory(struct error *err);

/* Tells the analyzer, which sees one file at a time, that these functions never return STATUS_OK. */
#ifdef __clang_analyzer__
#define error_set(err, status, ...) (error_set(err, status, __VA_ARGS__), (status))
#define error_no_memory(err)        (error_no_memory(err), STATUS_UNAVAILABLE)
#endif
