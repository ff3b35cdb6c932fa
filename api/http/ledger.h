/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/http/ledger.h: the requests that listeners and doors have answered, counted by method and HTTP status.
 *
 * Thread: any. */
#include <stdint.h>

struct exchange;
struct ledger;

struct ledger *ledger_new(void);
/* NULL is harmless. */
void ledger_free(struct ledger *ledger);
/* Call once for each exchange, after its end. NULL is harmless. */
void ledger_add(struct ledger *ledger, const struct exchange *exchange);

/* Calls @told for each method and status that has occurred. @code: "200"; "other": none of those that the daemon answers with;
 * "cut": the connection was closed without an answer. */
void ledger_counts_each(const struct ledger *ledger,
			void (*told)(void *arg, const char *method, const char *code, uint64_t count),
			void *arg);
