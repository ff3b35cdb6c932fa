/* SPDX-License-Identifier: Apache-2.0 */
/* Kills a process that uses the store at each change of a file that it makes, and looks at what is left.
 *
 *   store_crash [--cycles N] [--seed S] [--every K] [--dir DIR]
 *
 * A script is a list of steps, each of which the store answers once. For n = 1, 2, … a child does the script on a fresh
 * copy of nothing and is killed at its n-th change (kill_at.h), until a child comes through: that is a sweep. After each
 * kill, and in half of them after a second one during the recovery, the store must be as after the last step that was
 * answered, or the one after it: every row, every line, once. From there the script is done to its end, which must look
 * like that of a run that was not killed. A cycle is a sweep of each script; the ways to die take turns, so that
 * three cycles go through all of them at every change. With --every it is each K-th change, beginning with one by chance.
 *
 * What is promised: kill -9 loses nothing that was answered, of any database. A power loss loses nothing of state.db that
 * was answered; it may lose answered changes of storage.db, though no generation that was promised, and bytes of objects,
 * from the end, and lines of containers that their containers still have. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "tests/crash/crash_world.h"
#include "tests/crash/kill_at.h"

enum { FAILURES_MAX = 5, RECOVERY_CHANGES = 120 };

static const struct script *const scripts[] = { &jobs_script, &objects_script };

static struct {
	unsigned long kills, recoveries_killed, sweeps, facts;
	unsigned failures;
} figures;

struct options {
	unsigned long cycles, seed, every;
	char dir[128];
};

static uint64_t chance;

/* The next number of a random sequence. */
static uint64_t draw(void)
{
	chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return chance >> 33;
}

/* ---- one child ---- */

struct death {
	const struct script *script;
	struct kill_order order;
	unsigned long recovery_at; /* the change of the recovery at which it was killed; 0: it was not */
	unsigned long again_at;    /* the change of the second recovery at which it was killed; 0: it was not */
};

static const char *const way_names[KILL_WAY_COUNT] = { "before", "torn", "power loss" };

static void __attribute__((format(printf, 2, 3))) fail(const struct death *death, const char *format, ...)
{
	va_list arguments;

	fprintf(stderr, "FAILED %s, killed at change %lu (%s, seed %llu), then %lu: ", death->script->name,
		death->order.at, way_names[death->order.way], (unsigned long long)death->order.seed,
		death->again_at);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	figures.failures++;
}

/* Opens the store, runs @steps steps of the script and closes it; writes each answered step to @fd. */
static void live(const struct death *death, int steps, int fd)
{
	struct world world;

	world_init(&world, death->order.dir);
	kill_arm(&death->order);
	if (!death->script->open(&world))
		_exit(2);
	for (int step = 0; step < steps; step++) {
		world_step(&world, step);
		if (!death->script->run(&world, step))
			_exit(2);
		if (write(fd, "k", 1) != 1)
			_exit(3);
	}
	death->script->close(&world);
	_exit(0);
}

/* Runs a child. Returns the number of answered steps; @ret_killed: whether it was killed rather than completed. -1:
 * neither. */
static int child_run(const struct death *death, int steps, bool *ret_killed)
{
	int ends[2], status, answered = 0;
	char one;
	pid_t child;

	if (pipe(ends) != 0 || (child = fork()) < 0) {
		perror("store_crash");
		exit(2);
	}
	if (child == 0) /* with both ends: no file of the store is to have a lower number, see power_lose() */
		live(death, steps, ends[1]);
	close(ends[1]);
	while (read(ends[0], &one, 1) == 1)
		answered++;
	close(ends[0]);
	waitpid(child, &status, 0);
	*ret_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (*ret_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return answered;
	fail(death, "the child ended with status %#x after step %d", (unsigned)status, answered);
	return -1;
}

/* ---- what is left ---- */

/* Returns the number of the look of the unkilled run that this one equals: after @answered steps, or one more; after a
 * power loss that the script does not promise to survive, any earlier one. -1: none. */
static int look_find(const struct death *death, char *const looks[], const char *look, int answered)
{
	int first = death->order.way == KILL_POWER && !death->script->survives_power_loss ? 0 : answered;
	int last = answered < death->script->step_count ? answered + 1 : answered;

	for (int step = first; step <= last; step++)
		if (strcmp(looks[step], look) == 0)
			return step;
	return -1;
}

static void script_end(const struct death *death, struct world *world, char *const looks[], int step)
{
	AUTO(string) char *look = NULL;

	for (int next = 0; next < death->script->step_count; next++) {
		if (next < step && !death->script->repeats(next))
			continue;
		world_step(world, next);
		if (!death->script->run(world, next)) {
			fail(death, "step %d cannot be done after the kill: %s", next, world->err.text);
			return;
		}
	}
	world->power_lost = false; /* from here on, no data may be missing */
	look = death->script->look(world);
	if (strcmp(look, looks[death->script->step_count]) != 0)
		fail(death, "at the end there is\n%s\nnot\n%s", look, looks[death->script->step_count]);
	else if (!death->script->check(world, death->script->step_count))
		fail(death, "at the end: %s", world->complaint);
}

static void post_commit_check(const struct death *death, char *const looks[], int answered)
{
	struct world world;
	AUTO(string) char *look = NULL;
	bool power = death->order.way == KILL_POWER;
	int step;

	world_init(&world, death->order.dir);
	world.power_lost = power;
	if (!death->script->open(&world)) {
		fail(death, "the store does not open again: %s", world.err.text);
		return;
	}
	look = death->script->look(&world);
	step = look_find(death, looks, look, answered);
	if (step < 0)
		fail(death, "after %d answers there is\n%s\nnot\n%s\nor\n%s", answered, look, looks[answered],
		     answered < death->script->step_count ? looks[answered + 1] : "");
	else if (!death->script->check(&world, answered))
		fail(death, "after %d answers: %s", answered, world.complaint);
	else if (death->script->survives_power_loss || !power)
		script_end(death, &world, looks, step);
	death->script->close(&world);
	if (step >= 0 && !world.complaint[0] && !world_tidy(&world))
		fail(death, "%s", world.complaint);
	figures.facts += world.facts;
	world_deinit(&world);
}

/* ---- sweeps ---- */

static void looks_take(const struct script *script, const char *dir, char *looks[])
{
	struct world world;

	world_init(&world, dir);
	if (!script->open(&world)) {
		fprintf(stderr, "store_crash: %s does not open: %s\n", script->name, world.err.text);
		exit(2);
	}
	looks[0] = script->look(&world);
	for (int step = 0; step < script->step_count; step++) {
		world_step(&world, step);
		if (!script->run(&world, step)) {
			fprintf(stderr, "store_crash: %s step %d: %s\n", script->name, step, world.err.text);
			exit(2);
		}
		looks[step + 1] = script->look(&world);
		if (!script->repeats(step) && strcmp(looks[step], looks[step + 1]) == 0) {
			fprintf(stderr, "store_crash: %s step %d changes nothing\n", script->name, step);
			exit(2);
		}
	}
	script->close(&world);
	world_deinit(&world);
}

/* True: the child was not killed. */
static bool point_try(struct death *death, char *const looks[])
{
	bool killed;
	int answered = child_run(death, death->script->step_count, &killed);

	if (answered < 0)
		return figures.failures >= FAILURES_MAX;
	if (!killed)
		return true;
	figures.kills++;
	if (draw() % 2) {
		struct death second = *death;

		death->again_at = second.order.at = 1 + draw() % RECOVERY_CHANGES;
		second.order.seed = draw();
		child_run(&second, 0, &killed);
		figures.recoveries_killed += killed;
		figures.kills += killed;
	}
	post_commit_check(death, looks, answered);
	return figures.failures >= FAILURES_MAX;
}

static void sweep(const struct script *script, const char *dir, unsigned turn, unsigned long every)
{
	char *looks[STEPS_MAX + 1] = { NULL };
	bool through = false;

	looks_take(script, dir, looks);
	for (unsigned long at = 1 + draw() % every; !through; at += every) {
		const enum kill_way way = (enum kill_way)((at / every + turn) % KILL_WAY_COUNT);
		struct death death = { script, { dir, at, way, draw() }, 0 };

		directory_empty(dir);
		through = point_try(&death, looks);
	}
	directory_empty(dir);
	for (int step = 0; step <= script->step_count; step++)
		free(looks[step]);
	figures.sweeps++;
}

static bool count_read(const char *text, unsigned long least, unsigned long *ret_number)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || number < least)
		return false;
	*ret_number = number;
	return true;
}

static bool option_read(struct options *options, const char *name, const char *value)
{
	if (strcmp(name, "--cycles") == 0)
		return count_read(value, 1, &options->cycles);
	if (strcmp(name, "--seed") == 0)
		return count_read(value, 0, &options->seed);
	if (strcmp(name, "--every") == 0)
		return count_read(value, 1, &options->every);
	if (strcmp(name, "--dir") == 0)
		return snprintf(options->dir, sizeof(options->dir), "%s/trainyard-crash-XXXXXX", value) <
		       (int)sizeof(options->dir);
	return false;
}

int main(int argc, char **argv)
{
	struct options options = { 1, 0, 1, "/dev/shm/trainyard-crash-XXXXXX" };
	char *dir = options.dir;

	for (int i = 1; i < argc; i += 2)
		if (!argv[i + 1] || !option_read(&options, argv[i], argv[i + 1])) {
			fputs("usage: store_crash [--cycles N] [--seed S] [--every K] [--dir DIR]\n", stderr);
			return 2;
		}
	chance = options.seed;
	signal(SIGPIPE, SIG_IGN);
	if (!mkdtemp(dir) &&
	    (snprintf(dir, sizeof(options.dir), "/tmp/trainyard-crash-XXXXXX"), !mkdtemp(dir))) {
		perror(dir);
		return 2;
	}
	for (unsigned cycle = 0; cycle < options.cycles && figures.failures < FAILURES_MAX; cycle++)
		for (size_t i = 0;
		     i < sizeof(scripts) / sizeof(scripts[0]) && figures.failures < FAILURES_MAX; i++)
			sweep(scripts[i], dir, cycle, options.every);
	rmdir(dir);
	printf("%lu kills survived, %lu of them during a recovery, in %lu sweeps; %lu facts checked; %u failed\n",
	       figures.kills, figures.recoveries_killed, figures.sweeps, figures.facts, figures.failures);
	return figures.failures != 0;
}
