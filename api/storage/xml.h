/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/storage/xml.h: writes the XML of the plain paths. Pure. */
#include "daemon/base/text.h"

/* Appends text between tags, escaped. Control characters, which XML 1.0 cannot represent, become "?". */
void xml_text(struct text *text, const char *string);
/* Appends "<name>string</name>"; nothing if @string is NULL. */
void xml_element(struct text *text, const char *name, const char *string);
/* "<name>17</name>", "<name>2026-11-20T21:29:51.123Z</name>" */
void xml_number(struct text *text, const char *name, int64_t number);
void xml_time(struct text *text, const char *name, int64_t wall_us);
/* Appends "<?xml version='1.0' encoding='UTF-8'?>". */
void xml_begin(struct text *text);
extern const char xml_media_type[];
/* The namespace of elements that are the same as in Amazon S3. */
#define XML_NAMESPACE "http://s3.amazonaws.com/doc/2006-03-01/"
/* Appends the body of an error; @details may be NULL. */
void xml_error_write(struct text *text, const char *code, const char *message, const char *details);
