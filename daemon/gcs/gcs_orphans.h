/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gcs/gcs_orphans.h: removes the remains of /gcs in the state directory of a daemon that has ended: the
 * process that serves the files (gcs_mount.h), which ends by itself with the last container that uses them, and its
 * mount. */
#include <stdbool.h>

struct gcs_orphans_report {
	/* Called for each thing found, with borrowed texts. @problem NULL: it was removed, or would be. */
	void (*reported)(void *arg, const char *kind, const char *name, const char *problem);
	void *arg;
};

/* Removes what killed processes have left. @state_dir: an absolute path without symbolic links, locked by the
 * caller; its containers must be gone. @only_look: report without removing. Waits up to six seconds for each
 * process. False: something remains, and was reported. */
bool gcs_orphans_clear(const char *state_dir, bool only_look, const struct gcs_orphans_report *report);
