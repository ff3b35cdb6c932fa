/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_given.h: copies files of this machine into containers, for an engine that cannot mount them: an
 * engine on another machine, or one that the daemon reaches from inside a container.
 *
 * The files that would be mounted are put into the created container as an archive. A writable mount, which is a directory
 * for reports (engine_options.reports_dir), becomes a directory in the container; docker_reports.h fetches files from it.
 * The last file of the archive is a mark: after a restart of the daemon it shows that all files were put. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct docker;

/* The path, in a container, of the mark that the copies are complete. */
#define GIVEN_MARK "/trainyard/.given"

/* Whether the body of a create request has mounts that need copies. */
bool given_is_wanted(const json_t *body);
/* Removes the mounts from @body, the body of a create request, notes that in its labels, and writes their files to @archive.
 * Outcomes: FAILED_PRECONDITION: a file cannot be read or copied; RESOURCE_EXHAUSTED: together they have more than
 *           ENGINE_FILES_MAX bytes. */
enum status given_take(json_t *body, const char *reports_dir, struct text *archive, struct error *err);
/* Whether the container was made to get copies, by its inspection. */
bool given_is_put(const json_t *container);
