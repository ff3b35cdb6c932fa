/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/refusal.h"

#include <stdarg.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

enum status refusal_add_transcoding(struct error *err, const char *field, const char *format, ...)
{
	va_list args;

	if (!err)
		return STATUS_INVALID_ARGUMENT;
	va_start(args, format);
	AUTO(string) char *sentence = memory_vprintf(format, args);
	va_end(args);
	err->status = STATUS_INVALID_ARGUMENT;
	error_violation_add(err, field, sentence);
	error_text_join(err, "\n", sentence);
	return STATUS_INVALID_ARGUMENT;
}

enum status refusal_add_listed(struct error *err, const char *field, const char *format, ...)
{
	va_list args;

	if (!err)
		return STATUS_INVALID_ARGUMENT;
	va_start(args, format);
	AUTO(string) char *description = memory_vprintf(format, args);
	va_end(args);
	AUTO(string) char *entry = NULL;
	err->status = STATUS_INVALID_ARGUMENT;
	error_violation_add(err, field, description);
	entry = memory_printf("%zu.Field: %s; Message: %s\t", err->violation_count, field, description);
	if (!err->text)
		error_text_join(err, "", "List of found errors:\t");
	error_text_join(err, "", entry);
	return err->status;
}

void refusal_list(struct error *err)
{
	struct error listed AUTO_ERROR = { 0 };

	if (err->status != STATUS_INVALID_ARGUMENT || !err->is_semantic)
		return;
	for (size_t i = 0; i < err->violation_count; i++)
		refusal_add_listed(&listed, err->violations[i].field, "%s", err->violations[i].text);
	if (listed.violation_count)
		error_move(err, &listed);
}

enum status refusal_set_quota(struct error *err, const char *subject, const char *format, ...)
{
	va_list args;

	if (!err)
		return STATUS_RESOURCE_EXHAUSTED;
	va_start(args, format);
	AUTO(string) char *description = memory_vprintf(format, args);
	va_end(args);
	error_deinit(err);
	err->status = STATUS_RESOURCE_EXHAUSTED;
	err->detail = ERROR_DETAIL_QUOTA;
	error_violation_add(err, subject, description);
	error_text_join(err, " ", description);
	return err->status;
}

enum status refusal_set_argument(struct error *err, const char *field, const char *format, ...)
{
	va_list args;

	if (!err)
		return STATUS_INVALID_ARGUMENT;
	va_start(args, format);
	AUTO(string) char *description = memory_vprintf(format, args);
	va_end(args);
	error_set(err, STATUS_INVALID_ARGUMENT, NULL, "Request contains an invalid argument.");
	error_violation_add(err, field, description);
	return err->status;
}
