/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/aiplatform/field_rows.h: short macros for the rows of message tables. A row begins with the number of the field
 * in protobuf's binary form. */
#include "api/message/message.h"

#define REPEATED  FIELD_REPEATED
#define MAP       FIELD_MAP
#define OUT       FIELD_OUTPUT_ONLY
#define REQUIRED  FIELD_REQUIRED
#define IMMUTABLE FIELD_IMMUTABLE
#define PRESENCE  FIELD_PRESENCE
#define WRAPPED   (FIELD_WRAPPED | FIELD_PRESENCE)
#define ANY       FIELD_ANY

#define FIELD(NUMBER, NAME, TYPE, FLAGS, HELP)                                                               \
	{                                                                                                    \
		.number = (NUMBER), .name = (NAME), .type = FIELD_##TYPE, .flags = (FLAGS), .help = (HELP)   \
	}
#define ENUM(NUMBER, NAME, ENUM_TYPE, FLAGS, HELP)                                                           \
	{                                                                                                    \
		.number = (NUMBER), .name = (NAME), .type = FIELD_ENUM, .flags = (FLAGS),                    \
		.enum_type = &(ENUM_TYPE), .help = (HELP)                                                    \
	}
#define MESSAGE(NUMBER, NAME, OF, FLAGS, HELP)                                                               \
	{                                                                                                    \
		.number = (NUMBER), .name = (NAME), .type = FIELD_MESSAGE, .flags = (FLAGS),                 \
		.message = &(OF), .help = (HELP)                                                             \
	}
/* A row for a member of a oneof, if the member is a message. */
#define CHOICE(ONEOF, NUMBER, NAME, OF, FLAGS, HELP)                                                         \
	{                                                                                                    \
		.oneof = (ONEOF), .number = (NUMBER), .name = (NAME), .type = FIELD_MESSAGE,                 \
		.flags = (FLAGS), .message = &(OF), .help = (HELP)                                           \
	}
/* A row for a member of a oneof, if the member is a scalar. */
#define CHOICE_FIELD(ONEOF, NUMBER, NAME, TYPE, FLAGS, HELP)                                                 \
	{                                                                                                    \
		.oneof = (ONEOF), .number = (NUMBER), .name = (NAME), .type = FIELD_##TYPE,                  \
		.flags = (FLAGS) | FIELD_PRESENCE, .help = (HELP)                                            \
	}
#define END_OF_FIELDS                                                                                        \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}
#define END_OF_VALUES                                                                                        \
	{                                                                                                    \
		.name = NULL                                                                                 \
	}
