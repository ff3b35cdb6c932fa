/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/health.h: GET /healthz, which says that requests are served. */
#include "api/http/http.h"

struct health {
	const char *version;
	/* Adds members to the answer ("engine": "unreachable"); may be NULL. Must not wait. Thread: any. */
	void (*details_add)(void *arg, json_t *answer);
	void *arg;
};

/* The family's routes; its context is a struct health. */
extern const struct route health_routes[];
