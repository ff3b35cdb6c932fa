/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/fields.h: a row of a message's table. */
#include "api/message/message.h"

#define FIELD(NAME, TYPE, FLAGS, HELP)                                                                       \
	{                                                                                                    \
		.name = (NAME), .type = FIELD_##TYPE, .flags = (FLAGS), .help = (HELP)                       \
	}
