/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that an import is complete or has no effect, wherever it is interrupted. */
#include "store/state_import.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/base/work.h"
#include "store/connection.h"
#include "store/state_export.h"
#include "tests/unit/store/store_testing.h"

/* The items in the order in which they are moved. */
static const char *const items[] = { "state.db-wal", "state.db-shm", "state.db",       "logs.db-wal",
				     "logs.db-shm",  "logs.db",      "storage.db-wal", "storage.db-shm",
				     "storage.db",   "clock",        "blobs",          "uploads",
				     "gs",           "trials" };

static char top[64];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
	va_list arguments;
	AUTO(string) char *line = NULL;

	va_start(arguments, format);
	line = memory_vprintf(format, arguments);
	va_end(arguments);
	assert_int_equal(system(line), 0); /* NOLINT(cert-env33-c) */
}

/* Makes a state directory, and files that must not be touched. */
static void state_make(const char *name, const char *mark)
{
	struct clock clock = system_clock;
	struct store *store = NULL;
	struct error err AUTO_ERROR = { 0 };
	AUTO(string) char *dir = memory_printf("%s/%s", top, name);

	assert_int_equal(store_open(dir, &clock, &store, &err), STATUS_OK);
	store_close(store);
	shell("cd %s && echo %s > clock && mkdir -p gs/b uploads trials blobs/00 && echo %s | tee gs/b/x uploads/x trials/x "
	      "> blobs/00/x && echo %s > storage.db-wal",
	      dir, mark, mark, mark);
}

static int setup(void **state)
{
	(void)state;
	strcpy(top, "/tmp/trainyard-test-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	shell("rm -rf %s", top);
	return 0;
}

/* All contents of a state as one text; also for a directory that does not exist. */
static char *contents(const char *dir)
{
	struct text text AUTO_TEXT = { 0 };
	char piece[4096];
	FILE *told;
	AUTO(string)
	char *line = memory_printf(
		"cd %s/%s && find . -type f ! -path './import*' ! -name lock ! -name '*.absent' "
		"! -name manifest.json | sort | xargs -r md5sum",
		top, dir);

	told = popen(line, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(told);
	text_puts(&text, "");
	while (fgets(piece, sizeof(piece), told))
		text_puts(&text, piece);
	pclose(told);
	return text_take(&text);
}

/* The state after the first @count items were moved. */
static void place_some(const char *dir, const char *from, const char *keep, size_t count)
{
	shell("mkdir -p %s/%s/%s", top, dir, keep);
	for (size_t i = 0; i < count; i++)
		shell("cd %s/%s && if [ -e %s ]; then mv %s %s/; else : > %s/%s.absent; fi; "
		      "if [ -e %s/%s ]; then mv %s/%s .; else rm -f %s/%s.absent; fi",
		      top, dir, items[i], items[i], keep, keep, items[i], from, items[i], from, items[i],
		      from, items[i]);
}

/* Fails with: items_place() that removes a place's item where @from has neither an item nor a mark; old_remove() that marks what is
 * kept already; state_import_revert() without the rename. */
static void an_import_goes_on_where_it_was_cut_off(void **state)
{
	struct import_facts facts;
	struct error err AUTO_ERROR = { 0 };
	AUTO(string) char *old = NULL;
	AUTO(string) char *new = NULL;
	AUTO(string) char *from = memory_printf("%s/from", top);
	AUTO(string) char *to = memory_printf("%s/to", top);
	AUTO(string) char *out = memory_printf("%s/out", top);

	(void)state;
	state_make("from", "7");
	shell("rm %s/storage.db-wal", from);
	state_make("to", "9");
	old = contents("to");
	assert_int_equal(state_export_into(from, out, &err), STATUS_OK);
	assert_int_equal(state_import_folder(to, out, &facts, &err), STATUS_OK);
	assert_int_equal(facts.ahead_ns, 7);
	new = contents("to/import.ready");
	assert_string_not_equal(old, new);
	for (size_t count = 0; count <= COUNT_OF(items); count++)
		for (int back = 0; back < 2; back++) {
			AUTO(string) char *cut = memory_printf("%s/cut", top);
			AUTO(string) char *now = NULL;

			shell("rm -rf %s && cp -a %s %s", cut, to, cut);
			if (!back)
				place_some("cut", "import.ready", "import.before", count);
			assert_int_equal(state_import_place(cut, &err), STATUS_OK);
			if (back) {
				shell("mv %s/import.before %s/import.back", cut, cut);
				place_some("cut", "import.back", "thrown", count);
				shell("rm -rf %s/thrown", cut);
				assert_int_equal(state_import_place(cut, &err), STATUS_OK);
			} else if (count % 2) {
				assert_true(state_import_revert(cut));
			} else {
				assert_true(state_import_confirm(cut));
			}
			now = contents("cut");
			assert_string_equal(now, back || count % 2 ? old : new);
			assert_false(state_import_revert(cut));
			assert_false(state_import_confirm(cut));
			shell("! ls -d %s/import* 2>/dev/null", cut);
		}
}

static bool client_has_gone(void *arg)
{
	(void)arg;
	return true;
}

/* Fails with: database_copy() without its progress handler: the databases were copied for no client. */
static void an_export_ends_when_its_client_goes(void **state)
{
	const struct work work = { .is_abandoned = client_has_gone };
	struct error err AUTO_ERROR = { 0 };
	sqlite3 *database = NULL;

	(void)state;
	state_make("large", "large");
	AUTO(string) char *from = memory_printf("%s/large", top);
	AUTO(string) char *out = memory_printf("%s/large-out", top);
	AUTO(string) char *path = memory_printf("%s/state.db", from);

	assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(database,
			     "CREATE TABLE filler AS WITH RECURSIVE n (i) AS"
			     " (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i FROM n",
			     NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(database);
	work_begin(&work);
	/* work_is_abandoned() looks at the client only now and then; the copy may be faster */
	while (!work_is_abandoned())
		continue;
	assert_int_equal(state_export_into(from, out, &err), STATUS_CANCELLED);
	work_end();
	assert_int_equal(access(out, F_OK), -1);
	assert_int_equal(state_export_into(from, out, &err), STATUS_OK);
}

static int TEST_MAIN(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_import_goes_on_where_it_was_cut_off, setup, teardown),
		cmocka_unit_test_setup_teardown(an_export_ends_when_its_client_goes, setup, teardown),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("state_import", tests, NULL, NULL);
}
