/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_endpoint.h: the socket through which file systems for this state directory reach the daemon's storage.
 * It is in the state directory, accessible to its owner only, and exists from the daemon's start, so that file systems
 * mounted by an earlier daemon use the present one. */
#include <stdbool.h>

#include "daemon/base/error.h"

#define GCS_SOCKET "gcs.socket"
/* A file of the state directory that exists while the daemon has fault rules: file systems then ask the daemon before
 * they read. */
#define GCS_RULES "gcs.rules"

struct call_gate;
struct family;
struct gcs_endpoint;

/* Serves @families (ends with a NULL name, lives as long as the endpoint). @gate is consulted for each call (NULL: no
 * gate). Only the one daemon of a state directory may call it. */
enum status gcs_endpoint_open(const char *state_dir, const struct family *families,
			      const struct call_gate *gate, struct gcs_endpoint **ret_endpoint,
			      struct error *err);
/* Makes or removes GCS_RULES. UNAVAILABLE: it cannot be made. */
enum status gcs_endpoint_report_rules(const struct gcs_endpoint *endpoint, bool has_rules, struct error *err);
/* Waits for running requests. NULL is harmless. */
void gcs_endpoint_close(struct gcs_endpoint *endpoint);
