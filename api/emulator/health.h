/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/health.h: GET /healthz, which says that requests are served, and what is missing for jobs; GET /readyz,
 * which answers 503 until jobs can run. */
#include "api/http/http.h"

struct health {
	const char *version;
	const char *project; /* id of the emulated project */
	/* Adds members to the answer; may be NULL. *ret_reason, the caller's: why jobs do not progress now; NULL: they
	 * do. Must not wait. Thread: any. */
	void (*details_add)(void *arg, json_t *answer, char **ret_reason);
	/* Whether jobs progress: the engine answers, and its containers are known. NULL: always. Thread: any. */
	bool (*ready)(void *arg);
	void *arg;
};

/* The family's routes; its context is a struct health. */
extern const struct route health_routes[];
