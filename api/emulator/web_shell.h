/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/web_shell.h: the interactive shell of a replica, in a web browser or with curl.
 *
 * A job with enableWebAccess has, while it runs, one address for each replica. A client that knows it can run programs in
 * that replica. It cannot be guessed, because its last part is a keyed hash of the rest.
 *
 *     GET  ADDRESS                                         the page with a terminal
 *     GET  ADDRESS output?session=ID[&columns=&rows=]      opens a shell; the answer is its output, until it ends
 *     POST ADDRESS input?session=ID                        its input, unchanged
 *     POST ADDRESS resize?session=ID&columns=&rows=
 *
 * A shell lives as long as the request that reads its output. Source of the feature:
 * https://cloud.google.com/ai-platform/training/docs/monitor-debug-interactive-shell (read 2026-11-20) */
#include "api/emulator/shell_session.h"
#include "api/http/http.h"
#include "daemon/base/clock.h"

struct store;

enum { WEB_SHELL_KEY_BYTES = 32 };

struct web_shell_context {
	struct store *store;
	const struct clock *clock;
	const unsigned char *key; /* a secret that is the same at each start */
	struct shell_sessions *sessions;
	/* Runs @command (array of strings) in the replica's container. May take a moment.
	 * Outcomes: FAILED_PRECONDITION: the replica has no such program, or does not run; NOT_FOUND;
	 * UNAVAILABLE. */
	enum status (*open)(void *arg, const struct replica_key *replica, const json_t *command,
			    enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err);
	void *arg;
};

extern const struct route web_shell_routes[];

/* Opens a shell: bash, or sh if there is no bash. Outcomes: those of context->open. */
enum status web_shell_open(const struct web_shell_context *context, const struct replica_key *replica,
			   enum shell_kind kind, struct shell_terminal **ret_terminal, struct error *err);

/* The address of a replica's shell on @host ("localhost:8090"), which works while the job runs, if its input has
 * enableWebAccess. The caller frees. */
char *web_shell_uri(const unsigned char *key, const char *host, int64_t job, enum role role, unsigned index);
