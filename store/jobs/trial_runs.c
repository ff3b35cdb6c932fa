/* SPDX-License-Identifier: Apache-2.0 */
/* store/jobs/trial_runs.c: reads what clients see of the jobs that run trials. */
#include "store/jobs/trials.h"
#include "store/store_parts.h"

enum status trial_jobs_visit(struct store *store, int64_t job,
			     void (*visit)(void *arg, const struct trial_run *run), void *arg,
			     struct error *err)
{
	struct reader reader AUTO_READER = { 0 };
	enum status rc = reader_borrow(&store->state_readers, &reader, err);

	if (rc)
		return rc;
	AUTO(statement) sqlite3_stmt *rows = connection_statement(reader.connection, TRIAL_RUNS);

	bind_int(rows, ":job", job);
	while (statement_next(rows, &rc, err))
		visit(arg, &(struct trial_run){
				   .number = (unsigned)sqlite3_column_int(rows, 0),
				   .job_id = column_text(rows, 1),
				   .reason = column_text(rows, 2),
			   });
	return rc;
}
