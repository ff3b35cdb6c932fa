/* SPDX-License-Identifier: Apache-2.0 */
/* Filters as anybody may write them, to tree and to SQL, over the fields of jobs, Vertex AI's resources and logs.
 *
 * What must hold beside not crashing: what is refused is INVALID_ARGUMENT, the interval of times is one,
 * and the SQL is a condition that SQLite understands, whatever was in the filter. */
#include <sqlite3.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "store/filter/filter_functions.h"
#include "store/jobs/job_filter.h"
#include "store/jobs/pipeline_filter.h"
#include "store/jobs/resource_filter.h"
#include "store/logs/log_filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static const char schema[] =
	"CREATE TABLE job (id, job_id, display_name, state, created_us, updated_us, started_us, running_us, ended_us,"
	"error_message, labels, input, output, traits);"
	"CREATE TABLE pipeline (display_name, labels, input, job, created_us);"
	"CREATE TABLE model (model_id, input, created_us);"
	"CREATE TABLE entry (ts, insert_id, job, source, severity, kind, received_ns, extra, payload);"
	"CREATE TABLE source (id, project, log_name, job, resource_type, resource_labels, labels);"
	"INSERT INTO job VALUES (1, 'a', 'deep net', 1, 1000000, 1000000, 0, 0, 0, NULL,"
	"'{\"k\":\"v\",\"team\":\"a-b-a-b\"}',"
	"'{\"scaleTier\":\"BASIC\"}', '{}', 0);"
	"INSERT INTO pipeline VALUES ('d', '{\"k\":\"v\"}', '{\"trainingTaskDefinition\":\"t\"}', 1, 1000000);"
	"INSERT INTO model VALUES ('m', '{\"displayName\":\"d\",\"labels\":{\"k\":\"v\"}}', 1000000);"
	"INSERT INTO source VALUES (1, 'p', 'l', 1, 'ml_job', '{\"job_id\":\"j\"}', '{}');"
	"INSERT INTO entry VALUES (1, 1, 1, 1, 200, 0, 1, NULL, 'text'), (2, 2, 1, 1, 500, 1, 2, '{}',"
	"'{\"a\":[1,true],\"b\":{\"c\":\"xyz\"},\"d\":null,\"n\":2.75,\"t\":\"True\"}')";

static sqlite3 *database(void)
{
	static sqlite3 *db; /* kept while the fuzzer runs */

	if (db)
		return db;
	expect(sqlite3_open(":memory:", &db) == SQLITE_OK);
	expect(sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK);
	expect(filter_functions_register(db, NULL) == STATUS_OK);
	return db;
}

static void sql_try(const char *before, const struct filter_sql *sql)
{
	struct text text AUTO_TEXT = { 0 };
	sqlite3_stmt *query = NULL;
	int rc;

	text_printf(&text, "%s %s", before, sql->where.length ? sql->where.data : "1");
	expect(!text.failed);
	expect(sqlite3_prepare_v2(database(), text.data, -1, &query, NULL) == SQLITE_OK);
	filter_sql_bind(sql, query);
	while ((rc = sqlite3_step(query)) == SQLITE_ROW)
		expect(sqlite3_column_type(query, 0) != SQLITE_NULL);
	expect(rc == SQLITE_DONE);
	sqlite3_finalize(query);
}

typedef enum status (*filter_maker)(const char *filter, struct filter_sql *ret_sql,
				    struct filter_interval *ret_created, struct error *err);

static void rows_try(const char *filter, filter_maker make, const char *before)
{
	struct filter_sql sql AUTO_FILTER_SQL = { 0 };
	struct filter_interval created;
	enum status rc = make(filter, &sql, &created, NULL);

	expect(rc == STATUS_OK || rc == STATUS_INVALID_ARGUMENT);
	if (rc == STATUS_OK)
		sql_try(before, &sql);
}

static void logs_try(const char *filter, bool of_jobs)
{
	struct log_filter log_filter AUTO_LOG_FILTER = { 0 };
	struct filter_sql sql AUTO_FILTER_SQL = { 0 };
	enum status rc =
		log_filter_init(&log_filter, filter, of_jobs ? INT64_C(1700000000000000000) : 0, 0, NULL);

	if (rc == STATUS_OK)
		rc = log_filter_sql(&log_filter, of_jobs, &sql, NULL);
	expect(rc == STATUS_OK || rc == STATUS_INVALID_ARGUMENT);
	if (rc == STATUS_OK)
		sql_try("SELECT 1 FROM entry AS e JOIN source AS s ON s.id = e.source WHERE", &sql);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *filter = malloc(size + 1);

	if (!filter)
		return 0;
	memcpy(filter, data, size);
	filter[size] = '\0';
	rows_try(filter, job_filter_make, "SELECT 1 FROM job WHERE");
	rows_try(filter, resource_filter_make, "SELECT 1 FROM job WHERE");
	rows_try(filter, pipeline_filter_make, "SELECT 1 FROM pipeline WHERE");
	rows_try(filter, model_filter_make, "SELECT 1 FROM model WHERE");
	logs_try(filter, false);
	logs_try(filter, true);
	return 0;
}
