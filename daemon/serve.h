/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/serve.h: `trainyard serve`: runs the daemon. */

struct config;

/* Serves until a signal ends it. Returns the exit code (daemon/main.h). */
int serve_main(const struct config *config);
