/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

#undef error_set
#undef error_no_memory

static const char *const names[] = {
	[STATUS_OK] = "OK",
	[STATUS_CANCELLED] = "CANCELLED",
	[STATUS_UNKNOWN] = "UNKNOWN",
	[STATUS_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
	[STATUS_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
	[STATUS_NOT_FOUND] = "NOT_FOUND",
	[STATUS_ALREADY_EXISTS] = "ALREADY_EXISTS",
	[STATUS_PERMISSION_DENIED] = "PERMISSION_DENIED",
	[STATUS_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
	[STATUS_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
	[STATUS_ABORTED] = "ABORTED",
	[STATUS_OUT_OF_RANGE] = "OUT_OF_RANGE",
	[STATUS_UNIMPLEMENTED] = "UNIMPLEMENTED",
	[STATUS_INTERNAL] = "INTERNAL",
	[STATUS_UNAVAILABLE] = "UNAVAILABLE",
	[STATUS_DATA_LOSS] = "DATA_LOSS",
	[STATUS_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *status_name(enum status status)
{
	if ((size_t)status >= sizeof(names) / sizeof(names[0]))
		return "UNKNOWN";
	return names[status];
}

void error_deinit(struct error *err)
{
	for (size_t i = 0; i < err->violation_count; i++) {
		free(err->violations[i].field);
		free(err->violations[i].text);
	}
	for (size_t i = 0; i < err->metadata_count; i++) {
		free(err->metadata[i].key);
		free(err->metadata[i].value);
	}
	free(err->violations);
	free(err->metadata);
	free(err->reason);
	free(err->text);
	*err = (struct error){ 0 };
}

void error_violation_add(struct error *err, const char *field, const char *text)
{
	err->violations = memory_resize(err->violations, err->violation_count + 1, sizeof(*err->violations));
	err->violations[err->violation_count++] =
		(struct violation){ .field = memory_strdup(field), .text = memory_strdup(text) };
}

void error_text_join(struct error *err, const char *separator, const char *more)
{
	char *joined;

	if (!err->text) {
		err->text = memory_strdup(more);
		return;
	}
	joined = memory_printf("%s%s%s", err->text, separator, more);
	free(err->text);
	err->text = joined;
}

static enum status add_semantic(struct error *err, enum status status, const char *field, const char *format,
				va_list args)
{
	AUTO(string) char *description = memory_vprintf(format, args);
	AUTO(string) char *sentence = NULL;

	if (err->status == STATUS_OK)
		err->status = status;
	if (!field) {
		error_text_join(err, " ", description);
		err->is_semantic = false;
		return err->status;
	}
	err->is_semantic = err->is_semantic || !err->text;
	error_violation_add(err, field, description);
	sentence = memory_printf("Field: %s Error: %s", field, description);
	error_text_join(err, " ", sentence);
	return err->status;
}

enum status error_set(struct error *err, enum status status, const char *field, const char *format, ...)
{
	va_list args;

	if (!err)
		return status;
	error_deinit(err);
	va_start(args, format);
	add_semantic(err, status, field, format, args);
	va_end(args);
	return status;
}

enum status error_add(struct error *err, enum status status, const char *field, const char *format, ...)
{
	va_list args;

	if (!err)
		return status;
	va_start(args, format);
	status = add_semantic(err, status, field, format, args);
	va_end(args);
	return status;
}

void error_add_reason(struct error *err, const char *reason, const char *key, const char *value)
{
	if (!err)
		return;
	if (!err->reason)
		err->reason = memory_strdup(reason);
	if (!key)
		return;
	err->metadata = memory_resize(err->metadata, err->metadata_count + 1, sizeof(*err->metadata));
	err->metadata[err->metadata_count++] =
		(struct error_metadata){ memory_strdup(key), memory_strdup(value) };
}

enum status error_wrap(struct error *err, const char *format, ...)
{
	va_list args;
	char *wrapped;

	if (!err)
		return STATUS_INTERNAL;
	if (err->status != STATUS_INTERNAL && err->status != STATUS_UNAVAILABLE)
		return err->status;
	va_start(args, format);
	AUTO(string) char *context = memory_vprintf(format, args);
	va_end(args);
	wrapped = memory_printf("%s: %s", context, err->text ? err->text : "");
	free(err->text);
	err->text = wrapped;
	return err->status;
}

enum status error_move(struct error *to, struct error *from)
{
	enum status status = from->status;

	if (to) {
		error_deinit(to);
		*to = *from;
		*from = (struct error){ 0 };
	} else {
		error_deinit(from);
	}
	return status;
}

enum status error_no_memory(struct error *err)
{
	return error_set(err, STATUS_UNAVAILABLE, NULL,
			 "There is no memory for this request now. Try again later.");
}
