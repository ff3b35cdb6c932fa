/* SPDX-License-Identifier: Apache-2.0 */
#include "api/metadata/page.h"

#include <string.h>

const char page_media_type[] = "text/html; charset=UTF-8";

void page_path_write(const struct call *call, struct text *path)
{
	const char *row = call->route->path;
	const size_t fixed = strcspn(row, "{");

	text_append(path, row, fixed);
	if (row[fixed])
		text_puts(path, call_param(call, "path"));
}

void page_text_write(struct text *page, const char *plain)
{
	for (; *plain; plain++) {
		if (*plain == '<')
			text_puts(page, "&lt;");
		else if (*plain == '>')
			text_puts(page, "&gt;");
		else if (*plain == '&')
			text_puts(page, "&amp;");
		else if (*plain == '"')
			text_puts(page, "&quot;");
		else
			text_putc(page, *plain);
	}
}

static const char *reason_of(unsigned http_status)
{
	switch (http_status) {
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 404:
		return "Not Found";
	case 405:
		return "Method Not Allowed";
	case 503:
		return "Service Unavailable";
	default:
		return "Server Error";
	}
}

void page_write(struct text *page, unsigned http_status, const char *sentence)
{
	text_printf(page,
		    "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n<title>Error %u (%s)!!1</title>\n"
		    "<p><b>%u.</b> <ins>That\u2019s an error.</ins>\n"
		    "<p>%s <ins>That\u2019s all we know.</ins>\n",
		    http_status, reason_of(http_status), http_status, sentence);
}
