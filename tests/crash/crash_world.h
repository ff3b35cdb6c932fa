/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/crash/crash_world.h: what store_crash.c lets die: scripts, and the store that they use. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/clock.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct objects;
struct store;

enum { STEPS_MAX = 32 };

struct world {
	const char *dir;
	struct clock clock;
	int64_t now_ns;
	struct store *store;
	struct objects *objects;
	struct error err;
	bool power_lost;
	char complaint[512]; /* "": none */
	unsigned long facts; /* rows, lines and files that were compared */
};

/* The same step has the same time in every life. */
void world_init(struct world *world, const char *dir);
void world_step(struct world *world, int step);
void world_deinit(struct world *world);

struct script {
	const char *name;
	int step_count;
	bool survives_power_loss; /* a step that was answered stays; else only that nothing is half done */
	bool (*open)(struct world *world);
	bool (*run)(struct world *world, int step);
	/* Whether the step finds out itself what of it is done, and its look is that of the one before. */
	bool (*repeats)(int step);
	/* All that clients and the scheduler can see; the caller frees. */
	char *(*look)(struct world *world);
	/* What else must hold after a kill; false with a complaint. */
	bool (*check)(struct world *world, int answered);
	void (*close)(struct world *world);
};
extern const struct script jobs_script, objects_script;

/* False, for the caller to return. */
bool __attribute__((format(printf, 2, 3))) complain(struct world *world, const char *format, ...);

/* Every row that @sql gives of the database @file, as text behind @text; columns named operation_id, which are drawn by
 * chance, are left out. */
void rows_print(struct world *world, const char *file, const char *sql, struct text *text);
int64_t number_read(struct world *world, const char *file, const char *sql);

/* Files below a directory of the state directory. */
unsigned files_below(struct world *world, const char *name);
/* After a close: databases that are sound, and no file besides those that belong there. */
bool world_tidy(struct world *world);
void directory_empty(const char *dir);
