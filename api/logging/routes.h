/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/routes.h: Cloud Logging v2: the methods to read and write entries, and to list and delete logs. */
#include <stdint.h>

#include "api/http/http.h"
#include "daemon/base/clock.h"

struct discovery_api;
struct log_source;
struct store;

/* The context of the family's handlers: call->context. */
struct logging_context {
	struct store *store;
	const struct clock *clock;
	/* Clients may name the emulated project by its number; both NULL: ids only. */
	const char *project_id, *project_number;
	/* Set for a job's gateway: returns the log source (borrowed) of the replica at @peer, which gets the
	 * replica's entries. NULL: any client may write entries. */
	const struct log_source *(*writer)(void *arg, uint32_t peer);
	void *arg;
};

extern const struct discovery_api logging_api;
extern const struct route logging_routes[];
extern const struct route logging_absent[];
