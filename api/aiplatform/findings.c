/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/findings.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/message/refusal.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

void findings_deinit(struct findings *findings)
{
	text_deinit(&findings->path);
	error_deinit(&findings->err);
}

size_t findings_enter(struct findings *findings, const char *name)
{
	const size_t length = findings->path.length;

	text_printf(&findings->path, "%s%s", length ? "." : "", name);
	return length;
}

size_t findings_enter_index(struct findings *findings, size_t index)
{
	const size_t length = findings->path.length;

	text_printf(&findings->path, "[%zu]", index);
	return length;
}

void findings_leave(struct findings *findings, size_t length)
{
	if (length >= findings->path.length)
		return;
	findings->path.length = length;
	findings->path.data[length] = '\0';
}

void findings_add(struct findings *findings, const char *below, const char *format, ...)
{
	AUTO(string) char *text = NULL;
	size_t length = findings->path.length;
	va_list args;

	if (findings_enough(findings))
		return;
	va_start(args, format);
	text = memory_vprintf(format, args);
	va_end(args);
	if (below)
		length = findings_enter(findings, below);
	refusal_add_listed(&findings->err, findings->path.data ? findings->path.data : "", "%s", text);
	findings_leave(findings, length);
}

bool findings_enough(const struct findings *findings)
{
	return findings->err.violation_count >= FINDINGS_MAX;
}

enum status findings_finish(struct findings *findings, struct error *err)
{
	return findings->err.status ? error_move(err, &findings->err) : STATUS_OK;
}
