/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fault/fake_yard.c: `trainyard serve` as it is, but for its engine, which has no containers.
 *
 * A replica's arguments are its program: "lines", N, "exit", CODE says N lines and ends; "hold" runs until it is stopped.
 * The program is linked with --wrap=docker_open. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/clock.h"
#include "daemon/config.h"
#include "daemon/serve.h"
#include "scheduler/engine/docker_json.h"
#include "tests/support/fake_engine.h"

enum { PROGRAMS_MAX = 1024, LINE_PAUSE_US = 1000 };

/* The program of a container. Static, because its own memory must not be affected by faults. */
struct program {
	struct replica_key key;
	struct log_position said;
	int64_t began_ns;
	int lines, exit_code; /* lines < 0: runs until it is stopped */
	bool is_there, is_followed;
};

static struct engine_ops operations, fake_operations;
static struct engine_sink sink;
static struct fake_engine *fake;
static struct program programs[PROGRAMS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool is_over;

static struct program *program_find(const struct replica_key *key)
{
	for (size_t i = 0; i < PROGRAMS_MAX; i++)
		if (programs[i].is_there && docker_key_equal(&programs[i].key, key))
			return &programs[i];
	return NULL;
}

static int number_of(const json_t *args, size_t index)
{
	const char *text = json_string_value(json_array_get(args, index));

	return text ? atoi(text) : 0;
}

static void create_replica(struct engine *engine, const struct replica_spec *spec)
{
	const char *word = json_string_value(json_array_get(spec->args, 0));

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < PROGRAMS_MAX && !program_find(&spec->key); i++)
		if (!programs[i].is_there)
			programs[i] = (struct program){ .key = spec->key,
							.is_there = true,
							.began_ns = clock_wall_ns(&system_clock),
							.lines = word && strcmp(word, "lines") == 0
									 ? number_of(spec->args, 1)
									 : -1,
							.exit_code = number_of(spec->args, 3) };
	pthread_mutex_unlock(&lock);
	fake_operations.create_replica(engine, spec);
}

static void remove_replica(struct engine *engine, const struct replica_key *key)
{
	pthread_mutex_lock(&lock);
	if (program_find(key))
		program_find(key)->is_there = false;
	pthread_mutex_unlock(&lock);
	fake_operations.remove_replica(engine, key);
}

static void follow_logs(struct engine *engine, const struct replica_key *key, const struct log_position *from)
{
	struct program *program;

	pthread_mutex_lock(&lock);
	program = program_find(key);
	if (program && !program->is_followed) {
		program->is_followed = true;
		program->said = *from;
	}
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	fake_operations.follow_logs(engine, key, from);
}

/* The next line to print, or the end. False: nothing now. */
static bool line_say(struct program *program)
{
	const int64_t last = program->said.streams[0].time_ns;
	const int number = last < program->began_ns ? 0 : (int)(last - program->began_ns);
	struct log_reach reach = { .time_ns = program->began_ns + number + 1 };
	char text[32];

	if (number >= program->lines) {
		if (!fake_engine_exit_now(fake, &program->key, program->exit_code))
			return false;
		program->lines = -1;
		return true;
	}
	snprintf(text, sizeof(text), "line %d", number);
	if (!sink.line(sink.arg, &(struct replica_line){ .key = program->key,
							 .stream = 1,
							 .time_ns = reach.time_ns,
							 .data = text,
							 .length = strlen(text),
							 .reach = reach }))
		return false;
	program->said.streams[0] = reach;
	return true;
}

static void *programs_run(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	while (!is_over) {
		bool is_idle = true, is_stuck = false;

		for (size_t i = 0; i < PROGRAMS_MAX; i++)
			if (programs[i].is_there && programs[i].is_followed && programs[i].lines >= 0) {
				is_idle = false;
				if (!line_say(&programs[i]))
					is_stuck = true;
			}
		if (is_stuck) {
			pthread_mutex_unlock(&lock);
			usleep(LINE_PAUSE_US);
			pthread_mutex_lock(&lock);
		}
		if (is_idle)
			pthread_cond_wait(&changed, &lock);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static pthread_t runner;

static void close_engine(struct engine *engine)
{
	(void)engine;
	pthread_mutex_lock(&lock);
	is_over = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	pthread_join(runner, NULL);
	fake_engine_free(fake);
}

static void *engine_come(void *arg)
{
	fake_engine_up(fake);
	return programs_run(arg);
}

enum status __wrap_docker_open(const struct engine_options *options, const struct engine_sink *its_sink,
			       struct engine **ret_engine, struct error *err);
enum status __wrap_docker_open(const struct engine_options *options, const struct engine_sink *its_sink,
			       struct engine **ret_engine, struct error *err)
{
	struct engine *engine;

	(void)options;
	fake = fake_engine_new();
	if (!fake)
		return error_no_memory(err);
	sink = *its_sink;
	engine = fake_engine_open(fake, its_sink);
	fake_operations = operations = *engine->ops;
	operations.create_replica = create_replica;
	operations.remove_replica = remove_replica;
	operations.follow_logs = follow_logs;
	operations.close = close_engine;
	engine->ops = &operations;
	*ret_engine = engine;
	if (pthread_create(&runner, NULL, engine_come, NULL) != 0)
		return error_set(err, STATUS_INTERNAL, NULL, "no thread for the engine");
	return STATUS_OK;
}

int main(int argc, char **argv)
{
	struct error err AUTO_ERROR = { 0 };
	struct config config AUTO_CONFIG = { 0 };

	if (argc < 2 || config_read(&config, CONFIG_SERVE, (const char *const *)argv + 2, &err)) {
		fprintf(stderr, "%s\n", err.text ? err.text : "usage: fake_yard serve [OPTION]...");
		return 2;
	}
	return serve_main(&config);
}
