/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/clock.h: the emulator's clock as clients see it.
 *
 *   GET  /_trainyard/v1/clock   {"now": TIME, "offset": DURATION, "steppable": BOOL}; offset is what it is ahead of the
 *                               system's
 *   POST /_trainyard/v1/clock   {"advance": DURATION} puts it forward; answers the same */
#include "api/http/http.h"
#include "daemon/base/clock.h"

struct clock_context {
	const struct clock *clock;
	/* Puts it forward by @by_us, above 0, for good; NULL: nobody may. */
	enum status (*advance)(void *arg, int64_t by_us, struct error *err);
	void *arg;
};

/* Its context is a struct clock_context. */
extern const struct route clock_routes[];
