/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/tally.h: counters of this process, published by GET /metrics.
 *
 * Counters only grow. Adding is one atomic instruction, so it is allowed on any path. Thread: any. */
#include <stdint.h>

enum tally {
	TALLY_ENGINE_OK,      /* calls that the container engine answered with success */
	TALLY_ENGINE_REFUSED, /* calls that it answered with an error */
	TALLY_ENGINE_FAILED,  /* calls without a complete answer */
	TALLY_LOG_LINES,      /* stored log entries */
	TALLY_STORAGE_RECEIVED_BYTES,
	TALLY_STORAGE_SENT_BYTES,
	TALLY_COUNT
};

void tally_add(enum tally which, uint64_t amount);
uint64_t tally_get(enum tally which);
