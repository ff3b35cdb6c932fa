/* SPDX-License-Identifier: Apache-2.0 */
#include "api/http/ledger.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/exchange.h"
#include "daemon/base/memory.h"

/* The methods that exchange.c routes. */
static const char *const methods[] = { "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };
enum { METHOD_COUNT = sizeof(methods) / sizeof(methods[0]) };

/* Ordered faults may answer with any status: the table bounds the number of counters. */
static const unsigned codes[] = { 200, 201, 204, 206, 207, 304, 308, 400, 401, 403, 404, 405, 408, 409,
				  410, 411, 412, 413, 414, 415, 416, 417, 428, 429, 431, 499, 500, 501,
				  502, 503, 504, 505, 507 };
enum { CODE_COUNT = sizeof(codes) / sizeof(codes[0]), CODE_OTHER = CODE_COUNT, CODE_CUT, CODE_SLOTS };

struct ledger {
	atomic_uint_fast64_t counts[METHOD_COUNT][CODE_SLOTS];
};

struct ledger *ledger_new(void)
{
	return memory_calloc(1, sizeof(struct ledger));
}

void ledger_free(struct ledger *ledger)
{
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

void ledger_add(struct ledger *ledger, const struct exchange *exchange)
{
	if (!ledger)
		return;
	atomic_fetch_add_explicit(
		&ledger->counts[method_slot(exchange->method ? exchange->method : "GET")][code_slot(exchange)],
		1, memory_order_relaxed);
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
			void (*told)(void *arg, const char *method, const char *code, uint64_t count),
			void *arg)
{
	char name[8];

	for (size_t method = 0; method < METHOD_COUNT; method++)
		for (size_t slot = 0; slot < CODE_SLOTS; slot++) {
			const uint64_t count = atomic_load_explicit(&ledger->counts[method][slot],
								    memory_order_relaxed);

			if (count)
				told(arg, methods[method], code_name(slot, name), count);
		}
}
