/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/ledger.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "api/http/error_body.h"
#include "api/http/exchange.h"
#include "daemon/base/memory.h"

/* The methods that exchange.c routes. */
static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };
enum { METHOD_COUNT = sizeof(methods) / sizeof(methods[0]) };

/* The statuses with a counter of their own. The table bounds the number of counters, because injected faults can answer
 * with any status. */
static const unsigned codes[] = { 200, 201, 204, 206, 207, 304, 308, 400, 401, 403, 404,
				  405, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417,
				  428, 429, 431, 499, 500, 501, 502, 503, 504, 505, 507 };
enum { CODE_COUNT = sizeof(codes) / sizeof(codes[0]), CODE_OTHER = CODE_COUNT, CODE_CUT, CODE_SLOTS };

struct ledger {
	atomic_uint_fast64_t counts[METHOD_COUNT][CODE_SLOTS];
	pthread_mutex_t lock;
	pthread_cond_t added;                        /* on the monotonic clock */
	uint64_t last;                               /* the newest entry's number; 0: none */
	struct ledger_entry *entries; /* LEDGER_ENTRIES, number N at N % LEDGER_ENTRIES; NULL: there was no request yet */
};

struct ledger *ledger_new(void)
{
	struct ledger *ledger = memory_calloc(1, sizeof(struct ledger));
	pthread_condattr_t attributes;

	pthread_mutex_init(&ledger->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&ledger->added, &attributes);
	pthread_condattr_destroy(&attributes);
	return ledger;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	pthread_cond_destroy(&ledger->added);
	pthread_mutex_destroy(&ledger->lock);
	free(ledger->entries);
	free(ledger);
}

static size_t method_slot(const char *method)
{
	for (size_t i = 0; i < METHOD_COUNT; i++)
		if (strcmp(methods[i], method) == 0)
			return i;
	return 0; /* an exchange without a known method has "GET" */
}

static size_t code_slot(const struct exchange *exchange)
{
	if (exchange->cut)
		return CODE_CUT;
	for (size_t i = 0; i < CODE_COUNT; i++)
		if (codes[i] == exchange->http_status)
			return i;
	return CODE_OTHER;
}

static const char *method_of(const struct exchange *exchange)
{
	return exchange->method ? exchange->method : "GET";
}

/* Copies as much as fits, with control characters replaced, so that it is one line and harmless in a terminal. */
static void text_keep(char *to, size_t size, const char *from)
{
	const size_t length = from ? strnlen(from, size - 1) : 0;

	memcpy(to, from ? from : "", length);
	to[length] = '\0';
	text_make_harmless(to);
}

/* Keeps the path. A path that may contain a shell's secret key is not kept: for an open row the row's own path is kept,
 * and for other requests to a shell, such as those with a wrong method, only the beginning. */
static void path_keep(struct ledger_entry *entry, const struct exchange *exchange)
{
	static const char shells[] = "_trainyard/shell/";
	const char *path = exchange->target.path ? exchange->target.path : "";

	if (entry->route && entry->route->open)
		path = entry->route->path + 1;
	else if (strncmp(path, shells, strlen(shells)) == 0)
		path = shells;
	entry->path[0] = '/';
	text_keep(entry->path + 1, sizeof(entry->path) - 1, path);
}

static void entry_fill(struct ledger_entry *entry, const struct exchange *exchange)
{
	const struct error *error = &exchange->error;

	entry->time_us = clock_wall_us(exchange->rules->clock);
	entry->duration_us = clock_mono_us(exchange->rules->clock) - exchange->begun_us;
	entry->method = methods[method_slot(method_of(exchange))];
	entry->route = exchange->match.kind == MATCH_ROUTE ? exchange->match.route : NULL;
	entry->http_status = exchange->http_status;
	entry->cut = exchange->cut;
	entry->peer = exchange->peer;
	path_keep(entry, exchange);
	text_keep(entry->agent, sizeof(entry->agent), exchange->head.values[HEADER_USER_AGENT]);
	text_keep(entry->reason, sizeof(entry->reason),
		  !exchange->failed                  ? NULL
		  : error_is_internal(error->status) ? error_message(error)
						     : error->text);
}

static void entry_add(struct ledger *ledger, const struct exchange *exchange)
{
	struct ledger_entry entry;

	entry_fill(&entry, exchange);
	pthread_mutex_lock(&ledger->lock);
	if (!ledger->entries)
		ledger->entries = memory_calloc(LEDGER_ENTRIES, sizeof(*ledger->entries));
	entry.number = ++ledger->last;
	ledger->entries[entry.number % LEDGER_ENTRIES] = entry;
	pthread_cond_broadcast(&ledger->added);
	pthread_mutex_unlock(&ledger->lock);
}

/* True if a page in a browser only reads, or types into a terminal. Such requests are not kept: a page that shows the
 * list of requests would fill the list with its own requests, and a terminal in a page with a request for each key. */
static bool is_console_read(const struct exchange *exchange)
{
	static const char files[] = "_trainyard/console/", shells[] = "_trainyard/v1/shells/";
	const char *agent = exchange->head.values[HEADER_USER_AGENT], *path = exchange->target.path;

	if (!agent || strncmp(agent, "Mozilla/", strlen("Mozilla/")) != 0 || exchange->failed || exchange->cut ||
	    (strcmp(method_of(exchange), "GET") != 0 && !(path && strncmp(path, shells, strlen(shells)) == 0)))
		return false;
	return (path && strncmp(path, files, strlen(files)) == 0) ||
	       head_find(&exchange->head, "X-Trainyard-Console");
}

void ledger_add(struct ledger *ledger, const struct exchange *exchange)
{
	if (!ledger)
		return;
	atomic_fetch_add_explicit(&ledger->counts[method_slot(method_of(exchange))][code_slot(exchange)], 1,
				  memory_order_relaxed);
	if (!is_console_read(exchange))
		entry_add(ledger, exchange);
}

static const struct ledger_entry *entry_after(const struct ledger *ledger, uint64_t after)
{
	uint64_t number = after + 1;

	if (ledger->last >= LEDGER_ENTRIES && number <= ledger->last - LEDGER_ENTRIES)
		number = ledger->last - LEDGER_ENTRIES + 1;
	return number <= ledger->last ? &ledger->entries[number % LEDGER_ENTRIES] : NULL;
}

bool ledger_next(struct ledger *ledger, uint64_t after, struct ledger_entry *ret_entry)
{
	const struct ledger_entry *entry;

	pthread_mutex_lock(&ledger->lock);
	entry = entry_after(ledger, after);
	if (entry)
		*ret_entry = *entry;
	pthread_mutex_unlock(&ledger->lock);
	return entry != NULL;
}

bool ledger_await(struct ledger *ledger, uint64_t after, int64_t wait_us)
{
	const int64_t until_us = clock_mono_us(&system_clock) + wait_us;
	const struct timespec until = { .tv_sec = until_us / 1000000, .tv_nsec = until_us % 1000000 * 1000 };
	bool there;

	pthread_mutex_lock(&ledger->lock);
	while (ledger->last <= after && pthread_cond_timedwait(&ledger->added, &ledger->lock, &until) == 0)
		;
	there = ledger->last > after;
	pthread_mutex_unlock(&ledger->lock);
	return there;
}

static const char *code_name(size_t slot, char name[8])
{
	if (slot == CODE_OTHER)
		return "other";
	if (slot == CODE_CUT)
		return "cut";
	snprintf(name, 8, "%u", codes[slot]);
	return name;
}

void ledger_counts_each(const struct ledger *ledger,
			void (*reported)(void *arg, const char *method, const char *code, uint64_t count),
			void *arg)
{
	char name[8];

	for (size_t method = 0; method < METHOD_COUNT; method++)
		for (size_t slot = 0; slot < CODE_SLOTS; slot++) {
			const uint64_t count =
				atomic_load_explicit(&ledger->counts[method][slot], memory_order_relaxed);

			if (count)
				reported(arg, methods[method], code_name(slot, name), count);
		}
}
