/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_door.h: where file systems that serve this state directory reach the daemon's storage: a socket in
 * the state directory, for its owner alone. It is there from the daemon's start, whoever mounted what: the file
 * systems of an earlier daemon's jobs come to this one with what they have to store. */
#include <stdbool.h>

#include "daemon/base/error.h"

#define GCS_DOOR "gcs.socket"
/* A file of the state directory that is there while the daemon has rules of faults: file systems ask it before they
 * read then. */
#define GCS_RULES "gcs.rules"

struct call_gate;
struct family;
struct gcs_door;

/* Serves @families (ends with a NULL name, lives as long as the door), whose calls @gate is asked about (NULL: none).
 * Only the one daemon of a state directory may call it. */
enum status gcs_door_open(const char *state_dir, const struct family *families, const struct call_gate *gate,
			  struct gcs_door **ret_door, struct error *err);
/* Makes or removes GCS_RULES. UNAVAILABLE: it cannot be made. */
enum status gcs_door_tell_rules(const struct gcs_door *door, bool has_rules, struct error *err);
/* Lets requests that are under way end. NULL is harmless. */
void gcs_door_close(struct gcs_door *door);
