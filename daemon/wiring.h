/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/wiring.h: the parts of the running daemon and their references to each other.
 *
 * store <- scheduler <-> engine, store <- families <- listener. Opened in that order, closed in the
 * reverse one. Thread: the first. */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct config;
struct wiring;

/* wanted() asks the first thread to close the wiring and open it again; @arg is the caller's. Thread: any. */
struct wiring_reopening {
	void (*wanted)(void *arg);
	void *arg;
};

/* Opens all parts. The daemon serves when this returns, even if the engine is down. An imported state is moved into
 * place; if it cannot be opened, the previous one is restored. */
enum status wiring_open(const struct config *config, const struct wiring_reopening *reopening,
			struct wiring **ret_wiring, struct error *err);
/* The resolved state directory: absolute, without links. */
const char *wiring_state_dir(const struct wiring *wiring);
/* The file with the token for callers, borrowed; NULL: none is required. */
const char *wiring_token_file(const struct wiring *wiring);
uint16_t wiring_port(const struct wiring *wiring);
/* The port of gRPC; 0: it is not served. */
uint16_t wiring_grpc_port(const struct wiring *wiring);
/* Closes all parts of the daemon. @stop_jobs: cancels running jobs and waits for their end, at most their grace
 * period and 15 s more. */
void wiring_close(struct wiring *wiring, bool stop_jobs);
