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

/* Asks the first thread to close the wiring and to open it again; @arg is the caller's. Thread: any. */
struct wiring_reopening {
	void (*wanted)(void *arg);
	void *arg;
};

/* Everything up and serving when it returns; the engine may be down. A state that was imported is in its place; if it cannot
 * be opened, the one before is. */
enum status wiring_open(const struct config *config, const struct wiring_reopening *reopening,
			struct wiring **ret_wiring, struct error *err);
/* The state directory as it was found: absolute, without links. */
const char *wiring_state_dir(const struct wiring *wiring);
/* Where the token is that callers must know, borrowed; NULL: none is asked for. */
const char *wiring_token_file(const struct wiring *wiring);
uint16_t wiring_port(const struct wiring *wiring);
/* Where gRPC is served; 0: it is not. */
uint16_t wiring_grpc_port(const struct wiring *wiring);
/* @stop_jobs: cancels what runs and waits for its end, at most its grace and 15 s more. */
void wiring_close(struct wiring *wiring, bool stop_jobs);
