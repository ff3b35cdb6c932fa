/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/ledger.h: the requests that listeners and inner endpoints (http.h) have answered: counts by method and HTTP
 * status, and the last LEDGER_ENTRIES requests one by one.
 *
 * Entries have no bodies and no queries, and no path that is a secret itself. Their texts are cut to the sizes below,
 * so the whole ledger never takes more than 450 KiB.
 *
 * A browser's requests for the console are counted but not listed, unless they are refused: for the console's files,
 * GETs with the header X-Trainyard-Console, and what is typed in its terminals. An open page of the console sends
 * requests all the time, which would push everything else out of the list. Thread: any. */
#include <stdbool.h>
#include <stdint.h>

struct exchange;
struct ledger;
struct route;

enum {
	LEDGER_ENTRIES = 1000,
	LEDGER_PATH_BYTES = 160,
	LEDGER_AGENT_BYTES = 96,
	LEDGER_REASON_BYTES = 128,
};

struct ledger_entry {
	uint64_t number; /* counted from 1, in the order of the answers */
	int64_t time_us; /* wall clock, of the answer */
	int64_t duration_us;
	const char *method;        /* static */
	const struct route *route; /* static; NULL: no row has the path */
	unsigned http_status;
	bool cut;      /* the connection was closed without an answer */
	uint32_t peer; /* the client's address, as call->peer */
	char path
		/* decoded; if route->open: the path in the route, because the requested one may be secret */
		[LEDGER_PATH_BYTES];
	char agent[LEDGER_AGENT_BYTES];   /* User-Agent; "": none */
	char reason[LEDGER_REASON_BYTES]; /* why the request was refused; "": it was not */
};

struct ledger *ledger_new(void);
/* NULL is harmless. */
void ledger_free(struct ledger *ledger);
/* Call once for each exchange, after its end. NULL is harmless. */
void ledger_add(struct ledger *ledger, const struct exchange *exchange);

/* Calls @reported for each method and status that has occurred. @code: "200"; "other": a code that the daemon does not
 * use; "cut": the connection was closed without an answer. */
void ledger_counts_each(const struct ledger *ledger,
			void (*reported)(void *arg, const char *method, const char *code, uint64_t count),
			void *arg);

/* Reads the first kept entry with a number above @after. False: there is none. */
bool ledger_next(struct ledger *ledger, uint64_t after, struct ledger_entry *ret_entry);
/* Waits at most @wait_us for an entry with a number above @after. False: there is none. */
bool ledger_await(struct ledger *ledger, uint64_t after, int64_t wait_us);
