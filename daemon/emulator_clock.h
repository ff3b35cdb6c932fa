/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/emulator_clock.h: the clock of jobs, logs, storage and tokens, as chosen by --clock.
 *
 *   "real"            the system's
 *   "steppable"       the same, and users can move it forward
 *   "steppable@TIME"  likewise; a new state directory's begins at TIME (RFC 3339)
 *
 * Its lead is kept in the state directory's file "clock", so that no time occurs again after a restart. A clock
 * that is ahead therefore cannot become the real one again. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/clock.h"
#include "daemon/base/error.h"

struct emulator_clock;

bool emulator_clock_choice_valid(const char *choice);

/* To be called before anything in @state_dir is opened; the directory may not exist yet. @choice is valid.
 * INVALID_ARGUMENT: the clock would go back, or is beyond its end. */
enum status emulator_clock_open(const char *state_dir, const char *choice, struct emulator_clock **ret_clock,
				struct error *err);
void emulator_clock_free(struct emulator_clock *clock);
DEFINE_AUTO(emulator_clock, struct emulator_clock *, emulator_clock_free)

/* Stores its lead; to be called when the state directory exists and is locked. */
enum status emulator_clock_keep(struct emulator_clock *clock, struct error *err);

/* Valid until it is freed. */
const struct clock *emulator_clock_get(const struct emulator_clock *clock);
bool emulator_clock_is_steppable(const struct emulator_clock *clock);

/* Hook called after each step, on the thread that made it. At most one. */
void emulator_clock_on_step(struct emulator_clock *clock, void (*stepped)(void *arg), void *arg);

/* Moves it forward by @by_us, above 0; the step is on disk when this returns. @clock is a steppable struct
 * emulator_clock. INVALID_ARGUMENT: beyond its end. Thread: any. */
enum status emulator_clock_advance(void *clock, int64_t by_us, struct error *err);
