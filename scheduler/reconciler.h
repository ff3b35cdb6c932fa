/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/reconciler.h: settings and services that all steps of a job use; all borrowed. Thread: the scheduler's. */
#include <stdbool.h>

#include "scheduler/engine/engine.h"
#include "scheduler/gateway.h"
#include "scheduler/gcs.h"

struct clock;
struct fault_registry;
struct log_pump;
struct objects;
struct store;

struct reconciler {
	struct store *store;
	const struct clock *clock;
	struct log_pump *pump;
	const char *project_number; /* for the link in errorMessage */
	unsigned stop_grace_s;      /* time from SIGTERM to SIGKILL when a job is cancelled */
	unsigned retry_pause_ms;
	int64_t node_patience_us; /* how long a node may be away before it is lost; 0: for ever */
	struct gateway_ops gateway;
	struct gcs_ops gcs;
	const char
		*trials_dir; /* on this machine: the directory for the metrics of trials; made when needed */
	struct objects *objects;  /* NULL: this daemon has no storage */
	const char *adc, *wheels; /* on this machine, absolute; NULL: none */
	bool cut_off;             /* job networks have no route to the outside */
	struct fault_registry *faults; /* fault rules; NULL: faults cannot be injected */
};
