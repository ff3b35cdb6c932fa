/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/emulator_clock.h: the clock of jobs, logs, storage and tokens, as chosen by --clock.
 *
 *   "real"            the system's
 *   "steppable"       the same, and users can move it forward
 *   "steppable@TIME"  the same; in a new state directory it begins at TIME (RFC 3339)
 *
 * The clock's lead, which is its time minus the real time, is kept in the state directory's file "clock", so that no
 * time occurs again after a restart. For the same reason, "real" is refused while the kept lead is above 0. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"

struct emulator_clock;

bool emulator_clock_choice_valid(const char *choice);

/* Call this before opening anything in @state_dir, which may not exist yet. @choice must be valid. INVALID_ARGUMENT: the
 * clock would go back, or is beyond its end. */
enum status emulator_clock_open(const char *state_dir, const char *choice, struct emulator_clock **ret_clock,
				struct error *err);
void emulator_clock_free(struct emulator_clock *clock);
DEFINE_AUTO(emulator_clock, struct emulator_clock *, emulator_clock_free)

/* Stores the lead of @clock. Call this once the state directory exists and is locked. */
enum status emulator_clock_keep(struct emulator_clock *clock, struct error *err);

/* Returns the clock; valid until @clock is freed. */
const struct clock *emulator_clock_get(const struct emulator_clock *clock);
bool emulator_clock_is_steppable(const struct emulator_clock *clock);

/* Sets the hook that runs after each step, on the thread that made the step. There is one hook at most. */
void emulator_clock_on_step(struct emulator_clock *clock, void (*stepped)(void *arg), void *arg);

/* Moves @clock forward by @by_us, above 0; the step is on disk when this returns. @clock is a steppable struct
 * emulator_clock. INVALID_ARGUMENT: the time would be beyond the clock's end. Thread: any. */
enum status emulator_clock_advance(void *clock, int64_t by_us, struct error *err);
