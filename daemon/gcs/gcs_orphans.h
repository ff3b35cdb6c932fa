/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_orphans.h: removes what /gcs left in the state directory of a daemon that is gone: the process that
 * serves the files (gcs_mount.h), which ends by itself with the last container that uses them, and its mount. */
#include <stdbool.h>

struct gcs_orphans_report {
	/* @problem NULL: it was removed, or would be. Borrowed. */
	void (*reported)(void *arg, const char *kind, const char *name, const char *problem);
	void *arg;
};

/* @state_dir absolute and without links, locked by the caller; its containers are gone. @only_look: removes nothing.
 * Waits up to six seconds for each process. False: something is left, and was reported. */
bool gcs_orphans_clear(const char *state_dir, bool only_look, const struct gcs_orphans_report *report);
