/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/cli/verb_rows.h: shared by the files with rows of verbs. */
#include "daemon/cli/verb.h"

#define OPTIONS(...)                                                                                         \
	(const struct verb_option[])                                                                         \
	{                                                                                                    \
		__VA_ARGS__,                                                                                 \
		{                                                                                            \
			.name = NULL                                                                         \
		}                                                                                            \
	}

/* The verbs of one group; each list ends with a NULL name. */
extern const struct verb job_verbs[], queue_verbs[];
