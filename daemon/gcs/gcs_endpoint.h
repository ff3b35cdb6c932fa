/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_endpoint.h: the socket by which file systems that serve this state directory reach the daemon's storage. It
 * is in the state directory, open to its owner alone, and exists from the daemon's start: file systems that an earlier
 * daemon mounted store by way of the daemon that runs now. */
#include <stdbool.h>

#include "daemon/base/error.h"

#define GCS_SOCKET "gcs.socket"
/* A file of the state directory that is there while the daemon has rules of faults: file systems ask it before they
 * read then. */
#define GCS_RULES "gcs.rules"

struct call_gate;
struct family;
struct gcs_endpoint;

/* Serves @families (ends with a NULL name, lives as long as the endpoint). @gate is asked about each call (NULL: no gate).
 * Only the one daemon of a state directory may call it. */
enum status gcs_endpoint_open(const char *state_dir, const struct family *families,
			      const struct call_gate *gate, struct gcs_endpoint **ret_endpoint,
			      struct error *err);
/* Makes or removes GCS_RULES. UNAVAILABLE: it cannot be made. */
enum status gcs_endpoint_report_rules(const struct gcs_endpoint *endpoint, bool has_rules, struct error *err);
/* Lets requests that are under way end. NULL is harmless. */
void gcs_endpoint_close(struct gcs_endpoint *endpoint);
