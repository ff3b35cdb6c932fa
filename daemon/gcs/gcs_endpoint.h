/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_endpoint.h: the socket through which file systems for this state directory reach the daemon's storage.
 * It is in the state directory, accessible to its owner only, and exists from the daemon's start, so that file systems
 * mounted by an earlier daemon use the present one. */
#include <stdbool.h>

#include "daemon/base/error.h"

#define GCS_SOCKET "gcs.socket"
/* Name of a file in the state directory that exists while the daemon has fault rules: while it exists, file systems
 * ask the daemon before they read. */
#define GCS_RULES "gcs.rules"

struct call_gate;
struct family;
struct gcs_endpoint;

/* Serves the methods of @families (the array ends with a NULL name and lives as long as the endpoint). @gate is
 * consulted for each call (NULL: no gate). Call only in the daemon that holds the lock of the state directory. */
enum status gcs_endpoint_open(const char *state_dir, const struct family *families,
			      const struct call_gate *gate, struct gcs_endpoint **ret_endpoint,
			      struct error *err);
/* Makes the file GCS_RULES if @has_rules, else removes it. UNAVAILABLE: the file cannot be made. */
enum status gcs_endpoint_report_rules(const struct gcs_endpoint *endpoint, bool has_rules, struct error *err);
/* Waits for running requests, and closes the socket. NULL is harmless. */
void gcs_endpoint_close(struct gcs_endpoint *endpoint);
