/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/state.h: exports and imports the whole state of the daemon.
 *
 *   GET  /_trainyard/v1/status                     identifies the state, and the daemon's present run on it
 *   GET  /_trainyard/v1/state:export               jobs, logs and objects, as an archive (tar; store/state_folder.h)
 *   POST /_trainyard/v1/state:import[?replace=true]   the same archive, which replaces the whole state
 *
 * An import is checked completely before it takes effect. Then the daemon closes and opens again, in the same process and at
 * the same address, like a start on the imported state. */
#include "api/http/http.h"

struct objects;
struct store;

struct state_context {
	const char *state_dir;
	struct store *store;
	struct objects *objects; /* NULL: another emulator of storage is used */
	const char *run;         /* a random name, new each time the daemon opens the state */
	const char *
		import_problem; /* why the last imported state could not be used; NULL: it could, or there was none */
	bool clock_is_steppable;
	/* Closes the daemon and opens it again, after this has returned and calls are answered. Thread: any. */
	void (*reopen)(void *arg);
	void *arg;
	bool exports, imports; /* atomic: one is running */
};

extern const struct message status_message, state_archive_message, state_import_query, state_import_message;

/* Handlers; their context is a struct jobs_context. */
enum status status_answer(struct call *call, struct error *err);
enum status state_export_stream(struct call *call, struct error *err);
enum status state_import_begin_call(struct call *call, struct error *err);
enum status state_import_end_call(struct call *call, struct error *err);
