/* SPDX-License-Identifier: Apache-2.0 */
/* What reading the trials of a page of tuning jobs costs without a daemon: prints the milliseconds of the median of so
 * many readings, each with every text of every row.
 *
 *     bare_trials STATE_DB ROUNDS */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char query[] =
	"SELECT number, run, outcome, known, ended_as, stopped_early, parameters, final, state, started_us, running_us,"
	" ended_us FROM trial CROSS JOIN job ON job.parent = trial.job AND job.trial = trial.number"
	" ORDER BY trial.job, number";

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Reads all texts. */
static size_t rows_read(sqlite3_stmt *rows)
{
	size_t bytes = 0;

	while (sqlite3_step(rows) == SQLITE_ROW)
		for (int i = 0; i < sqlite3_column_count(rows); i++)
			bytes += sqlite3_column_type(rows, i) == SQLITE_TEXT
					 ? strlen((const char *)sqlite3_column_text(rows, i))
					 : (size_t)sqlite3_column_int64(rows, i) % 2;
	sqlite3_reset(rows);
	return bytes;
}

int main(int argc, char **argv)
{
	const int rounds = argc == 3 ? atoi(argv[2]) : 0;
	double *times = calloc((size_t)rounds + 1, sizeof(*times));
	sqlite3_stmt *rows = NULL;
	sqlite3 *db = NULL;
	size_t bytes = 0;

	if (rounds < 1 || !times)
		return 2;
	if (sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL) ||
	    sqlite3_prepare_v2(db, query, -1, &rows, NULL)) {
		fprintf(stderr, "bare_trials: %s\n", sqlite3_errmsg(db));
		return 1;
	}
	for (int i = 0; i < rounds; i++) {
		const double began = now_ms();

		bytes += rows_read(rows);
		times[i] = now_ms() - began;
	}
	qsort(times, (size_t)rounds, sizeof(*times), compare);
	printf("%.3f\n", bytes ? times[rounds / 2] : 0);
	sqlite3_finalize(rows);
	sqlite3_close(db);
	free(times);
	return 0;
}
