/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_door.h: where file systems that serve this state directory reach the daemon's storage: a socket in
 * the state directory, for its owner alone. It is there from the daemon's start, whoever mounted what: the file
 * systems of an earlier daemon's jobs come to this one with what they have to store. */
#include "daemon/base/error.h"

#define GCS_DOOR "gcs.socket"

struct family;
struct gcs_door;

/* Serves @families (ends with a NULL name, lives as long as the door). Only the one daemon of a state directory may
 * call it. */
enum status gcs_door_open(const char *state_dir, const struct family *families, struct gcs_door **ret_door,
			  struct error *err);
/* Lets requests that are under way end. NULL is harmless. */
void gcs_door_close(struct gcs_door *door);
