/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/crash/crash_world.h: the scripts that store_crash.c runs and kills, and the store that they use. */
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
	char complaint[512]; /* the first problem; "": none */
	unsigned long facts; /* number of compared rows, lines and files */
};

/* The same step has the same time in each run. */
void world_init(struct world *world, const char *dir);
void world_step(struct world *world, int step);
void world_deinit(struct world *world);

struct script {
	const char *name;
	int step_count;
	/* a power loss keeps answered steps; otherwise it may lose them, but leaves nothing half done */
	bool survives_power_loss;
	bool (*open)(struct world *world);
	bool (*run)(struct world *world, int step);
	/* Whether the step itself finds out how much of it was done; it then looks the same as the step before. */
	bool (*repeats)(int step);
	/* Everything that clients and the scheduler can see; the caller frees. */
	char *(*look)(struct world *world);
	/* Further conditions after a kill; false: sets the complaint. */
	bool (*check)(struct world *world, int answered);
	void (*close)(struct world *world);
};
extern const struct script jobs_script, objects_script;

/* Sets the complaint; always false, for the caller to return. */
bool __attribute__((format(printf, 2, 3))) complain(struct world *world, const char *format, ...);

/* Appends the rows of the query @sql to the database @file, after @text; leaves out columns named operation_id, which
 * are random. */
void rows_print(struct world *world, const char *file, const char *sql, struct text *text);
int64_t number_read(struct world *world, const char *file, const char *sql);

/* The number of files in a directory of the state directory. */
unsigned files_below(struct world *world, const char *name);
/* After a close: databases are sound, and there are no unexpected files. */
bool world_tidy(struct world *world);
void directory_empty(const char *dir);
