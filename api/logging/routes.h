/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/routes.h: Cloud Logging v2, as far as a training service needs it: reading and writing
 * entries, and the names of logs. */
#include <stdint.h>

#include "api/http/http.h"
#include "daemon/base/clock.h"

struct discovery_api;
struct log_source;
struct store;

/* The family's context: call->context of its handlers. */
struct logging_context {
	struct store *store;
	const struct clock *clock;
	/* Clients may name the emulated project by its number; both NULL: ids only. */
	const char *project_id, *project_number;
	/* At a job's gateway: the log source of the replica at @peer; its entries are written to that log; borrowed.
	 * NULL: entries come from any client. */
	const struct log_source *(*writer)(void *arg, uint32_t peer);
	void *arg;
};

extern const struct discovery_api logging_api;
extern const struct route logging_routes[];
extern const struct route logging_absent[];
