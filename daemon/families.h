/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/families.h: the families of the API, with the contexts of their handlers. */
#include "api/aiplatform/aiplatform.h"
#include "api/emulator/clock.h"
#include "api/emulator/discovery.h"
#include "api/emulator/faults.h"
#include "api/emulator/health.h"
#include "api/emulator/jobs.h"
#include "api/emulator/metrics.h"
#include "api/emulator/state.h"
#include "api/emulator/web_shell.h"
#include "api/http/http.h"
#include "api/logging/routes.h"
#include "api/metadata/metadata.h"
#include "api/ml/ml.h"
#include "api/storage/storage.h"
#include "api/training/image_map.h"
#include "api/training/quota.h"
#include "api/training/runtime_map.h"

struct config;
struct console_sessions;
struct daemon_nodes;
struct front;
struct retention;
struct scheduler;

enum { FAMILIES_MAX = 19, FAMILIES_OF_VERTEX = 3, FAMILIES_BY_RPC = FAMILIES_OF_VERTEX + 1 };

/* Parts of the daemon that open after the families, and before any handler is called. */
struct machinery {
	struct scheduler *scheduler;
	const struct daemon_nodes *nodes;
	struct store *store;
	struct front *grpc;           /* NULL: gRPC is not served */
	struct retention *retention;  /* NULL: all jobs are kept */
	const char *storage_endpoint; /* "http://HOST:PORT" of another emulator of storage; NULL: none */
};

/* Owned by the caller; must outlive the families. */
struct families_parts {
	const struct config *config;
	const struct clock *clock;
	struct store *store;
	struct objects *objects; /* NULL: another emulator of storage is used */
	struct signing_key *signing_key;
	struct shell_sessions *shell_sessions;
	struct console_sessions *console_sessions; /* NULL: no token is asked for */
	const struct image_map *images;
	const struct runtime_map *runtimes;
	const struct quota_limits *quota; /* NULL: none */
	struct quota_counter *counter;
	const char *project_number, *trials_dir;
	struct faults_context *faults;
	struct clock_context *clock_context;
	struct machinery *machinery;
	struct ledger *ledger; /* counts requests; NULL: not counted */
	struct state_context *state;
};

struct families {
	struct family served[FAMILIES_MAX + 1]; /* all families, in the order of matching; ends with a NULL name */
	struct family by_rpc[FAMILIES_BY_RPC +
			     1]; /* copies of those that gRPC also serves: Vertex AI, Cloud Logging */
	struct family *storage;  /* the last elements of served, which gateways also serve; NULL: none */

	/* The contexts of the families. */
	struct families_parts parts;
	struct ml_context ml;
	struct aiplatform_context aiplatform, aiplatform_beta;
	struct logging_context logging;
	struct storage_context storage_context;
	struct health health;
	struct metrics metrics;
	struct jobs_context jobs;
	struct web_shell_context web_shell;
	struct discovery discovery;
	struct identity_context identity;
};

/* Fills *families, which must not move afterwards: contexts have pointers to each other. */
void families_fill(struct families *families, const struct families_parts *parts);
