/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/ml/field_rows.h: short macros for the rows of message tables. */
#include "api/message/message.h"

#define REPEATED  FIELD_REPEATED
#define MAP       FIELD_MAP
#define OUT       FIELD_OUTPUT_ONLY
#define REQUIRED  FIELD_REQUIRED
#define IMMUTABLE FIELD_IMMUTABLE

#define FIELD(NAME, TYPE, FLAGS, HELP)                                                                       \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_##TYPE, .flags = (FLAGS), .help = (HELP)                       \
	}
#define ENUM(NAME, ENUM_TYPE, FLAGS, HELP)                                                                   \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_ENUM, .flags = (FLAGS), .enum_type = &(ENUM_TYPE),             \
		.help = (HELP)                                                                               \
	}
#define MESSAGE(NAME, OF, FLAGS, HELP)                                                                       \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_MESSAGE, .flags = (FLAGS), .message = &(OF), .help = (HELP)    \
	}
#define END_OF_FIELDS                                                                                        \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}
#define END_OF_VALUES                                                                                        \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}
