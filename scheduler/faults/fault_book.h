/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/faults/fault_book.h: the rules of ordered faults as they stand, for all threads: the scheduler's, the engine's and
 * those of clients' calls. The store keeps them; the book is what is looked at. Without rules a look costs one atomic
 * read. Thread: any, unless it says otherwise. */
#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/faults/fault.h"

struct fault_book;
struct replica_line;
struct store;

/* Choice: more would make every line of a log expensive. */
enum { FAULT_RULES_MAX = 1000 };

/* What a rule that hit wants to happen. */
struct fault_order {
	int64_t rule;
	enum fault_kind kind;
	int exit_code;
	int64_t seconds_us;
	int http_status;
	int64_t bytes_per_s;
};

/* Takes up the rules that the store has. */
enum status fault_book_open(struct store *store, uint64_t seed, struct fault_book **ret_book,
			    struct error *err);
void fault_book_free(struct fault_book *book);

/* Called after the rules have changed. At most two hooks; set before clients can change rules. */
void fault_book_on_change(struct fault_book *book, void (*changed)(void *arg), void *arg);

/* @canonical: as fault_rule_read() takes it. INVALID_ARGUMENT; RESOURCE_EXHAUSTED: there are too many. */
enum status fault_book_add(struct fault_book *book, const json_t *canonical, bool from_file, int64_t *ret_id,
			   struct error *err);
/* NOT_FOUND: there is none. */
enum status fault_book_remove(struct fault_book *book, int64_t id, struct error *err);
enum status fault_book_clear(struct fault_book *book, struct error *err);

/* Whether there is any rule. */
bool fault_book_is_empty(const struct fault_book *book);
/* Whether the rule is there: what one does that was taken back is over. */
bool fault_book_has(struct fault_book *book, int64_t id);

/* The first rule, by its number, that hits the scene now: it has hit once more then, until it is given back. False: none
 * does; *ret_wait_us is how long until one may, INT64_MAX: unless something happens. A container that is already hit is
 * the caller's to leave out. */
bool fault_book_take(struct fault_book *book, const struct fault_scene *scene, struct fault_order *ret_order,
		     int64_t *ret_wait_us);
/* The hit did not take place. */
void fault_book_return(struct fault_book *book, int64_t rule);
/* A call's hit is stored at once; others are with their jobs. */
enum status fault_book_count(struct fault_book *book, int64_t rule, struct error *err);

/* A line that was printed. True: it is the container's first that fits some rule's pattern, so that its job is to be
 * looked at. That is stored when it returns: a line that is stored is not read again. Thread: the engine's. */
bool fault_book_line(struct fault_book *book, const struct replica_line *line);
