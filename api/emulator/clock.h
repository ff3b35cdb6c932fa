/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/clock.h: the emulator's clock for clients.
 *
 *   GET  /_trainyard/v1/clock   {"now": TIME, "offset": DURATION, "steppable": BOOL}; offset: how far it is ahead of the
 *                               system's clock
 *   POST /_trainyard/v1/clock   {"advance": DURATION} moves it forward; answers the same */
#include "api/http/http.h"
#include "daemon/base/clock.h"

struct clock_context {
	const struct clock *clock;
	/* Moves the clock forward by @by_us, above 0; it cannot be moved back. NULL: the clock cannot be moved. */
	enum status (*advance)(void *arg, int64_t by_us, struct error *err);
	void *arg;
};

/* The context of these rows is a struct clock_context. */
extern const struct route clock_routes[];
