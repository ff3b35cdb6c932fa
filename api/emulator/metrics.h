/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/metrics.h: GET /metrics: the daemon's counters and gauges in Prometheus' text format.
 *
 * Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (version 0.0.4) */
#include "api/http/http.h"

struct ledger;
struct store;

struct metrics {
	const char *version;
	struct store *store;
	const struct clock *clock;   /* the clock of the jobs' times */
	const struct ledger *ledger; /* NULL: requests are not counted */
	/* Whether the engine answers, and has sent a listing since. Thread: any. */
	void (*engine)(void *arg, bool *ret_reachable, bool *ret_ready);
	/* Calls @write for each node, if there are several. Thread: any. */
	void (*nodes)(void *arg, void (*write)(void *to, const char *name, bool reachable), void *to);
	void *arg;
};

/* The family's routes; its context is a struct metrics. */
extern const struct route metrics_routes[];
