/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/crash/crash_world.h"

#include <dirent.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* 2026-11-20T00:00:00Z */
#define START_NS  INT64_C(1795132800000000000)
#define SECOND_NS INT64_C(1000000000)

static int64_t world_wall_ns(void *arg)
{
	return __atomic_load_n(&((struct world *)arg)->now_ns, __ATOMIC_RELAXED);
}

static int64_t world_mono_us(void *arg)
{
	return world_wall_ns(arg) / 1000;
}

void world_init(struct world *world, const char *dir)
{
	*world = (struct world){ .dir = dir, .now_ns = START_NS };
	world->clock = (struct clock){ world_wall_ns, world_mono_us, world };
}

void world_step(struct world *world, int step)
{
	__atomic_store_n(&world->now_ns, START_NS + (step + 1) * SECOND_NS, __ATOMIC_RELAXED);
}

void world_deinit(struct world *world)
{
	error_deinit(&world->err);
}

bool complain(struct world *world, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(world->complaint, sizeof(world->complaint), format, arguments);
	va_end(arguments);
	return false;
}

/* ---- databases ---- */

static sqlite3 *database_open(struct world *world, const char *file)
{
	char path[256];
	sqlite3 *db = NULL;

	snprintf(path, sizeof(path), "%s/%s", world->dir, file);
	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
		sqlite3_close(db);
		return NULL;
	}
	sqlite3_busy_timeout(db, 5000);
	return db;
}

static void row_print(struct world *world, sqlite3_stmt *query, struct text *text)
{
	for (int column = 0; column < sqlite3_column_count(query); column++) {
		const char *value = (const char *)sqlite3_column_text(query, column);

		if (strcmp(sqlite3_column_name(query, column), "operation_id") != 0)
			text_printf(text, "%s|", value ? value : "NULL");
	}
	text_putc(text, '\n');
	world->facts++;
}

void rows_print(struct world *world, const char *file, const char *sql, struct text *text)
{
	sqlite3 *db = database_open(world, file);
	sqlite3_stmt *query = NULL;

	if (!db || sqlite3_prepare_v2(db, sql, -1, &query, NULL) != SQLITE_OK)
		text_printf(text, "%s: %s\n", sql, db ? sqlite3_errmsg(db) : "does not open");
	while (query && sqlite3_step(query) == SQLITE_ROW)
		row_print(world, query, text);
	sqlite3_finalize(query);
	sqlite3_close(db);
}

int64_t number_read(struct world *world, const char *file, const char *sql)
{
	struct text text AUTO_TEXT = { 0 };

	rows_print(world, file, sql, &text);
	return text.data ? strtoll(text.data, NULL, 10) : 0;
}

/* ---- files ---- */

static unsigned files_counted;

static int file_count(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)path, (void)info, (void)walk;
	files_counted += kind == FTW_F || kind == FTW_SL;
	return 0;
}

unsigned files_below(struct world *world, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", world->dir, name);
	files_counted = 0;
	nftw(path, file_count, 16, FTW_PHYS);
	world->facts += files_counted;
	return files_counted;
}

static bool file_sound(struct world *world, const char *name)
{
	static const char *const known[] = { "lock", "blobs", "uploads", "gs", ".", ".." };
	size_t length = strlen(name);
	struct text text AUTO_TEXT = { 0 };

	if (length > 3 && strcmp(name + length - 3, ".db") == 0) {
		rows_print(world, name, "PRAGMA integrity_check", &text);
		rows_print(world, name, "PRAGMA foreign_key_check", &text);
		return strcmp(text.data, "ok|\n") == 0 || complain(world, "%s: %s", name, text.data);
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(name, known[i]) == 0)
			return true;
	return complain(world, "%s is left", name);
}

bool world_tidy(struct world *world)
{
	DIR *listing = opendir(world->dir);
	struct dirent *file;
	bool sound = listing != NULL;

	/* Looking at databases makes files, so the names are read first. */
	char names[16][sizeof(file->d_name)];
	int count = 0;

	while (listing && count < 16 && (file = readdir(listing)))
		snprintf(names[count++], sizeof(names[0]), "%s", file->d_name);
	if (listing)
		closedir(listing);
	for (int i = 0; i < count && sound; i++)
		sound = file_sound(world, names[i]);
	return sound;
}

static int path_remove(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info, (void)kind;
	return walk->level == 0 ? 0 : remove(path);
}

void directory_empty(const char *dir)
{
	nftw(dir, path_remove, 16, FTW_DEPTH | FTW_PHYS);
}
