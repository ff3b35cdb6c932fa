/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/support/memory_faults.h: memory that cannot be had, for what this program's own code, jansson and SQLite ask for,
 * on whatever thread. A program that uses it is linked with $(memory_faults_wrap) of tests/local.mk. */
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"
#include "tests/unit/testing.h"

/* Before the first use of jansson and SQLite. */
void memory_faults_init(void);
/* The askings @first to @first + @count - 1 from now on, counted from 1, get nothing. */
void memory_faults_begin(unsigned first, unsigned count);
/* All get something again. Whether any did not. */
bool memory_faults_end(void);
/* Until it is taken back, what this thread asks for is not counted and gets something: it only looks on. */
void memory_faults_spare(bool spared);

/* Something that is done again and again, each time with another asking that gets nothing. */
struct memory_operation {
	const char *name;
	/* Puts there what it wants, for the @number-th time from 0; may be NULL. */
	void (*prepare)(void *world, unsigned number);
	/* Does it, and says what it found: the same every time. */
	enum status (*run)(void *world, unsigned number, struct text *ret_said, struct error *err);
	/* Writes down all that there is; NULL: it stays as it is by construction. */
	void (*look)(void *world, struct text *ret_seen);
	bool changes; /* what look() sees */
};

/* Does it without faults, then so that each single asking fails once, until one goes well without having met that, then
 * so that all from some of those on do. An operation that fails says so and has changed nothing; one that goes well has
 * found what it found the first time, and changed what it is to change. */
void memory_sweep(const struct memory_operation *operation, void *world);

/* What memory_operation.run points to. */
#define MEMORY_RUN(name)                                                                                     \
	static enum status name(void *arg, unsigned number __attribute__((unused)),                          \
				struct text *ret_said __attribute__((unused)), struct error *err)

/* One test for each of @count operations: its sweep, in a world that @world_open makes and @world_close ends. Their
 * argument points to the world. */
void memory_tests_fill(struct CMUnitTest *ret_tests, const struct memory_operation *operations, size_t count,
		       CMFixtureFunction world_open, CMFixtureFunction world_close);
