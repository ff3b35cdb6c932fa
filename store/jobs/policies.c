/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/policies.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/memory.h"
#include "store/reader_pool.h"
#include "store/state_writer.h"
#include "store/store_parts.h"

/* Choice: the etag that clients of the service see for jobs without a policy. */
static const char etag_of_none[] = "ACAB";

enum { ETAG_SIZE = 16, JOB_COLUMN = 0, VERSION_COLUMN, POLICY_COLUMN };

/* A row of table policy; version 0: the job has no policy. */
struct policy_row {
	int64_t job, version;
	char *policy;
};

static void policy_row_deinit(struct policy_row *row)
{
	free(row->policy);
}

static void etag_make(int64_t job, int64_t version, char ret_etag[ETAG_SIZE])
{
	static const unsigned char key[crypto_shorthash_KEYBYTES] = "trainyard iam..";
	unsigned char tag[crypto_shorthash_BYTES];
	const int64_t identity[2] = { job, version };

	if (!version) {
		snprintf(ret_etag, ETAG_SIZE, "%s", etag_of_none);
		return;
	}
	crypto_shorthash(tag, (const unsigned char *)identity, sizeof(identity), key);
	sodium_bin2base64(ret_etag, ETAG_SIZE, tag, sizeof(tag), sodium_base64_VARIANT_ORIGINAL);
}

static char *etag_new(int64_t job, int64_t version)
{
	char etag[ETAG_SIZE];

	etag_make(job, version, etag);
	return memory_strdup(etag);
}

static enum status row_fetch(struct connection *connection, const char *project, const char *job_id,
			     struct policy_row *ret_row, struct error *err)
{
	AUTO(statement) sqlite3_stmt *statement = connection_statement(connection, POLICY_OF_JOB);
	bool found = false;
	enum status rc;

	bind_text(statement, ":project", project);
	bind_text(statement, ":job_id", job_id);
	rc = statement_step(statement, &found, err);
	if (rc)
		return rc;
	if (!found)
		return error_set(err, STATUS_NOT_FOUND, "resource",
				 "The job projects/%s/jobs/%s could not be found.", project, job_id);
	ret_row->job = sqlite3_column_int64(statement, JOB_COLUMN);
	ret_row->version = sqlite3_column_int64(statement, VERSION_COLUMN);
	if (!ret_row->version)
		return STATUS_OK;
	ret_row->policy = column_copy(statement, POLICY_COLUMN);
	return STATUS_OK;
}

enum status policy_get(struct store *store, const char *project, const char *job_id, char **ret_policy,
		       char **ret_etag, struct error *err)
{
	struct policy_row row __attribute__((cleanup(policy_row_deinit))) = { 0 };
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (!rc)
		rc = row_fetch(reader.connection, project, job_id, &row, err);
	if (rc)
		return rc;
	*ret_etag = etag_new(row.job, row.version);
	*ret_policy = TAKE(row.policy);
	return STATUS_OK;
}

struct replacement {
	const char *project, *job_id, *policy, *etag;
	char *made; /* out: the new etag */
};

static enum status etag_check(const struct policy_row *row, const char *wanted, struct error *err)
{
	char etag[ETAG_SIZE];

	etag_make(row->job, row->version, etag);
	if (!wanted || strcmp(etag, wanted) == 0)
		return STATUS_OK;
	return error_set(err, STATUS_ABORTED, "policy.etag",
			 "The policy has changed since it was read: its etag is %s now, the request has %s. "
			 "Read it again, change it and write it again.",
			 etag, wanted);
}

static enum status replacement_run(struct change_scope *scope, void *arg, struct error *err)
{
	struct replacement *replacement = arg;
	struct policy_row row __attribute__((cleanup(policy_row_deinit))) = { 0 };
	enum status rc = row_fetch(scope->connection, replacement->project, replacement->job_id, &row, err);

	if (!rc)
		rc = etag_check(&row, replacement->etag, err);
	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *put = connection_statement(scope->connection, POLICY_PUT);

	bind_int(put, ":job", row.job);
	bind_int(put, ":version", row.version + 1);
	bind_text(put, ":policy", replacement->policy);
	rc = statement_run(put, err);
	if (!rc)
		replacement->made = etag_new(row.job, row.version + 1);
	return rc;
}

enum status policy_set(struct store *store, const char *project, const char *job_id, const char *policy,
		       const char *etag, char **ret_etag, struct error *err)
{
	struct replacement replacement = {
		.project = project,
		.job_id = job_id,
		.policy = policy,
		.etag = etag,
	};
	enum status rc = state_writer_change(store->state, replacement_run, &replacement, err);

	if (rc)
		free(replacement.made);
	else
		*ret_etag = replacement.made;
	return rc;
}
