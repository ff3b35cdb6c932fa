/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/docker_given.h: copies of this machine's files for containers of an engine that does not have them: one on
 * another machine, or that the daemon reaches from a container.
 *
 * What would be mounted is put into the created container as an archive. A directory that the container reports to
 * (engine_options.reports_dir) becomes one of its own, and its files are fetched: docker_reports.h. A mark, which the
 * archive ends with, tells after a restart of the daemon whether all of it was put. */
#include <jansson.h>
#include <stdbool.h>

#include "daemon/base/error.h"
#include "daemon/base/text.h"

/* Where the mark is in a container. */
#define GIVEN_MARK "/trainyard/.given"

/* Whether the body of a create has mounts, so something to be given. */
bool given_is_wanted(const json_t *body);
/* Takes the mounts out of @body, the body of a create, says so in its labels, and writes what they hold into @archive.
 * Outcomes: FAILED_PRECONDITION: something cannot be read here, or be copied; RESOURCE_EXHAUSTED: it has more than
 *           ENGINE_FILES_MAX bytes. */
enum status given_take(json_t *body, const char *reports_dir, struct text *archive, struct error *err);
/* Whether a container, as inspected, was given copies. */
bool given_is_put(const json_t *container);
