/* SPDX-License-Identifier: Apache-2.0 */
#include "api/storage/xml.h"
#include "daemon/base/timestamp.h"

#include <inttypes.h>

const char xml_media_type[] = "application/xml; charset=UTF-8";

/* Whether the bytes at @at are U+FFFE or U+FFFF, which XML cannot express. Source:
 * https://www.w3.org/TR/xml/#charsets */
static bool is_no_character(const unsigned char *at)
{
	return at[0] == 0xef && at[1] == 0xbf && (at[2] == 0xbe || at[2] == 0xbf);
}

void xml_text(struct text *text, const char *string)
{
	for (const unsigned char *c = (const unsigned char *)string; *c; c++) {
		if (is_no_character(c)) {
			text_putc(text, '?');
			c += 2;
			continue;
		}
		switch (*c) {
		case '&':
			text_puts(text, "&amp;");
			break;
		case '<':
			text_puts(text, "&lt;");
			break;
		case '>':
			text_puts(text, "&gt;");
			break;
		default:
			text_putc(text, (char)(*c >= ' ' || *c == '\t' || *c == '\n' ? *c : '?'));
		}
	}
}

void xml_element(struct text *text, const char *name, const char *string)
{
	if (!string)
		return;
	text_printf(text, "<%s>", name);
	xml_text(text, string);
	text_printf(text, "</%s>", name);
}

void xml_number(struct text *text, const char *name, int64_t number)
{
	text_printf(text, "<%s>%" PRId64 "</%s>", name, number, name);
}

void xml_time(struct text *text, const char *name, int64_t wall_us)
{
	const int64_t second_us = wall_us / 1000000 * 1000000;
	struct text time AUTO_TEXT = { 0 };

	text_time_seconds(&time, second_us);
	text_printf(text, "<%s>%.*s.%03dZ</%s>", name, time.length ? (int)time.length - 1 : 0,
		    time.data ? time.data : "", (int)((wall_us - second_us) / 1000), name);
}

void xml_begin(struct text *text)
{
	text_puts(text, "<?xml version='1.0' encoding='UTF-8'?>");
}

void xml_error_write(struct text *text, const char *code, const char *message, const char *details)
{
	xml_begin(text);
	text_puts(text, "<Error>");
	xml_element(text, "Code", code);
	xml_element(text, "Message", message);
	xml_element(text, "Details", details);
	text_puts(text, "</Error>");
}
