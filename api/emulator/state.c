/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/state.h"

#include <stdlib.h>

#include "api/emulator/fields.h"
#include "api/emulator/jobs.h"
#include "api/message/message_write.h"
#include "daemon/base/json.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/tree.h"
#include "store/jobs/jobs.h"
#include "store/jobs/summaries.h"
#include "store/objects/objects_clear.h"
#include "store/state_export.h"
#include "store/state_folder.h"
#include "store/state_import.h"

static const struct field status_fields[] = {
	FIELD("version", STRING, 0, "The release of the daemon."),
	FIELD("run", STRING, 0,
	      "A name that is new whenever the daemon has started, or has taken over a state."),
	FIELD("importProblem", STRING, 0,
	      "Why the state that was imported last could not be used, so that the one before is there again."),
	{ .name = NULL },
};
const struct message status_message = { "trainyard.Status", status_fields, "What serves, and since when.",
					.is_own = true };

static const struct field archive_fields[] = { { .name = NULL } };
const struct message state_archive_message = {
	"trainyard.StateArchive", archive_fields,
	"An archive (tar): manifest.json, databases and the bytes of objects.", .is_own = true
};

static const struct field import_query_fields[] = {
	FIELD("replace", BOOL, 0, "Confirms that all present jobs, logs and objects are removed."),
	{ .name = NULL },
};
const struct message state_import_query = { "trainyard.ImportRequest", import_query_fields,
					    "A state takes the place of another.", .is_own = true };

static const struct field import_fields[] = {
	FIELD("run", STRING, 0, "The run that ends now; the state is there when GET status gives another run."),
	FIELD("jobCount", INT32, 0, "How many jobs came, trials not counted; absent if 0."),
	FIELD("unfinishedCount", INT32, 0, "How many of them go on, in new containers; absent if 0."),
	FIELD("objectCount", INT64, 0, "How many objects came; absent if 0."),
	{ .name = NULL },
};
const struct message state_import_message = { "trainyard.ImportStatus", import_fields,
					      "What has been taken over.", .is_own = true };

static struct state_context *context_of(const struct call *call)
{
	const struct jobs_context *jobs = call->context;

	return jobs->state;
}

/* False: another export, or import, is running. */
static bool turn_take(bool *turn)
{
	return !__atomic_exchange_n(turn, true, __ATOMIC_ACQUIRE);
}

static void turn_leave(bool *turn)
{
	__atomic_store_n(turn, false, __ATOMIC_RELEASE);
}

enum status status_answer(struct call *call, struct error *err)
{
	const struct state_context *context = context_of(call);
	struct writer answer = message_open(&call->answer, &status_message);

	(void)err;
	member_text(&answer, "version", PACKAGE_VERSION);
	member_text(&answer, "run", context->run);
	member_text(&answer, "importProblem", context->import_problem);
	message_close(&answer);
	return STATUS_OK;
}

/* ---- export ---- */

struct export
{
	struct state_context *context;
	char *folder;
	struct state_packer *packer;
};

static void export_close(void *arg)
{
	struct export *export = arg;

	state_packer_close(export->packer);
	if (export->folder)
		tree_remove(export->folder, SIZE_MAX);
	turn_leave(&export->context->exports);
	free(export->folder);
	free(export);
}

static ssize_t export_read(void *arg, char *buffer, size_t size)
{
	struct export *export = arg;
	struct error err AUTO_ERROR = { 0 };
	const ssize_t length = state_packer_read(export->packer, buffer, size, &err);

	if (length >= 0)
		return length ? length : STREAM_END;
	log_event(LOG_WARNING, "export-cut", "error=\"%s\"", err.text ? err.text : "");
	return STREAM_CUT;
}

enum status state_export_stream(struct call *call, struct error *err)
{
	struct state_context *context = context_of(call);
	struct export *export;
	enum status rc;

	if (!turn_take(&context->exports))
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 "Another export is under way: try again when it is over.");
	export = memory_calloc(1, sizeof(*export));
	export->context = context;
	rc = state_export_make(context->state_dir, &export->folder, err);
	if (!rc)
		rc = state_packer_open(export->folder, &export->packer, err);
	if (rc) {
		export_close(export);
		return rc;
	}
	call->content_type = "application/x-tar";
	call->stream = (struct answer_stream){ export_read, export_close, export, -1 };
	return STATUS_OK;
}

/* ---- import ---- */

static enum status jobs_check(const struct state_context *context, struct error *err)
{
	struct job_list list AUTO_JOB_LIST = { 0 };
	enum status rc = job_list_unfinished(context->store, &list, err);

	if (rc || !list.count)
		return rc;
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"%zu job%s not ended: cancel and wait, or reset all, before you import a state.", list.count,
		list.count == 1 ? " of this daemon has" : "s of this daemon have");
}

static enum status emptiness_check(const struct state_context *context, struct error *err)
{
	struct summary_list list AUTO_SUMMARY_LIST = { 0 };
	bool stored = false;
	enum status rc = summary_list_page(context->store, NULL, NULL, 1, NULL, &list, err);

	if (!rc && context->objects)
		rc = objects_are_any(context->objects, &stored, err);
	if (rc || (!list.count && !stored))
		return rc;
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"This daemon has jobs or objects: an import removes them, which replace=true (trainyard "
		"import --yes) confirms.");
}

struct import {
	struct state_context *context;
	struct state_import *import;
};

static enum status import_take(void *arg, const char *data, size_t length, struct error *err)
{
	const struct import *import = arg;

	return state_import_take(import->import, data, length, err);
}

static void import_close(void *arg)
{
	struct import *import = arg;

	state_import_close(import->import);
	turn_leave(&import->context->imports);
	free(import);
}

enum status state_import_begin_call(struct call *call, struct error *err)
{
	struct state_context *context = context_of(call);
	struct import *import;
	enum status rc = jobs_check(context, err);

	if (!rc && !json_true_at(call->query, "replace"))
		rc = emptiness_check(context, err);
	if (rc)
		return rc;
	if (!turn_take(&context->imports))
		return error_set(err, STATUS_UNAVAILABLE, NULL, "Another import is under way.");
	import = memory_calloc(1, sizeof(*import));
	import->context = context;
	rc = state_import_begin(context->state_dir, &import->import, err);
	if (rc) {
		import_close(import);
		return rc;
	}
	call->intake = (struct intake){ import_take, import_close, import };
	return STATUS_OK;
}

static void import_answer(struct call *call, const struct import_facts *facts)
{
	struct writer answer = message_open(&call->answer, &state_import_message);

	member_text(&answer, "run", context_of(call)->run);
	if (facts->jobs)
		member_int(&answer, "jobCount", facts->jobs);
	if (facts->unfinished_jobs)
		member_int(&answer, "unfinishedCount", facts->unfinished_jobs);
	if (facts->objects)
		member_int(&answer, "objectCount", facts->objects);
	message_close(&answer);
}

/* Checks once more that no job is unfinished, because jobs may have been submitted while the archive arrived. */
enum status state_import_end_call(struct call *call, struct error *err)
{
	const struct import *import = call->intake.arg;
	const struct state_context *context = import->context;
	struct import_facts facts;
	enum status rc = state_import_check(import->import, &facts, err);

	if (!rc && facts.ahead_ns > 0 && !context->clock_is_steppable)
		rc = error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			       "The clock of the state is ahead of the real one: only a daemon with --clock "
			       "steppable can import it.");
	if (!rc)
		rc = jobs_check(context, err);
	if (!rc)
		rc = state_import_commit(import->import, err);
	if (rc)
		return rc;
	import_answer(call, &facts);
	context->reopen(context->arg);
	return STATUS_OK;
}
