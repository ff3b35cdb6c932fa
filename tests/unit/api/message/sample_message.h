/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/api/message/sample_message.h: a message with a field of every type and flag. */
#include "api/message/message.h"

static const struct enum_value sample_color_values[] = { { "NONE", 0, "" },
							 { "RED", 1, "" },
							 { "BLUE", 4, "" },
							 { "GREY", ENUM_BY_NAME, "" },
							 { "BLACK", ENUM_BY_NAME, "" },
							 { NULL, 0, NULL } };
static const struct enum_type sample_color = { "test.Color", sample_color_values };

static const struct message sample_message;

static const struct field sample_fields[] = {
	{ "text", FIELD_STRING, 0, NULL, NULL, "" },
	{ "flag", FIELD_BOOL, 0, NULL, NULL, "" },
	{ "smallCount", FIELD_INT32, 0, NULL, NULL, "" },
	{ "largeCount", FIELD_INT64, 0, NULL, NULL, "" },
	{ "ratio", FIELD_DOUBLE, 0, NULL, NULL, "" },
	{ "etag", FIELD_BYTES, 0, NULL, NULL, "" },
	{ "waitTime", FIELD_DURATION, 0, NULL, NULL, "" },
	{ "endTime", FIELD_TIMESTAMP, 0, NULL, NULL, "" },
	{ "updateMask", FIELD_MASK, 0, NULL, NULL, "" },
	{ "bag", FIELD_STRUCT, 0, NULL, NULL, "" },
	{ "thing", FIELD_VALUE, 0, NULL, NULL, "" },
	{ "color", FIELD_ENUM, 0, &sample_color, NULL, "" },
	{ "child", FIELD_MESSAGE, 0, NULL, &sample_message, "" },
	{ "words", FIELD_STRING, FIELD_REPEATED, NULL, NULL, "" },
	{ "numbers", FIELD_INT64, FIELD_REPEATED, NULL, NULL, "" },
	{ "colors", FIELD_ENUM, FIELD_REPEATED, &sample_color, NULL, "" },
	{ "children", FIELD_MESSAGE, FIELD_REPEATED, NULL, &sample_message, "" },
	{ "labels", FIELD_STRING, FIELD_MAP, NULL, NULL, "" },
	{ "nodes", FIELD_MESSAGE, FIELD_MAP, NULL, &sample_message, "" },
	{ "consumedMLUnits", FIELD_DOUBLE, FIELD_OUTPUT_ONLY, NULL, NULL, "" },
	{ "output", FIELD_MESSAGE, FIELD_OUTPUT_ONLY, NULL, &sample_message, "" },
	{ NULL, FIELD_STRING, 0, NULL, NULL, NULL },
};

static const char *const sample_unset[] = { "ownerName", NULL };
static const struct message sample_message = { "test.Sample", sample_fields, "", sample_unset };
