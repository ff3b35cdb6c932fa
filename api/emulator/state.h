/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/state.h: the whole state of the daemon, out of it and into it.
 *
 *   GET  /_trainyard/v1/status                     which opening of which state it is
 *   GET  /_trainyard/v1/state:export               jobs, logs and objects, as an archive (tar; store/state_folder.h)
 *   POST /_trainyard/v1/state:import[?replace=true]   the same archive: it takes the place of all that there is
 *
 * An import is checked as a whole before it counts. Then the daemon closes and opens again, in the same process and at the same
 * address: what it has then is what a start on the imported state has. */
#include "api/http/http.h"

struct objects;
struct store;

struct state_context {
	const char *state_dir;
	struct store *store;
	struct objects *objects; /* NULL: another emulator of storage is used */
	const char *run;         /* a name of this opening, at random */
	const char *
		import_problem; /* why the state that was imported before this opening could not be used; NULL: none was, or
	                             * it could */
	bool clock_is_steppable;
	/* Closes the daemon and opens it again, once this returns and calls are answered. Thread: any. */
	void (*reopen)(void *arg);
	void *arg;
	bool exports, imports; /* atomic: one is under way */
};

extern const struct message status_message, state_archive_message, state_import_query, state_import_message;

/* Their context is a struct jobs_context. */
enum status status_answer(struct call *call, struct error *err);
enum status state_export_stream(struct call *call, struct error *err);
enum status state_import_begin_call(struct call *call, struct error *err);
enum status state_import_end_call(struct call *call, struct error *err);
