/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/logging/entry_list.h: shared by all methods that read entries: the requested projects, and an entry's JSON. */
#include <jansson.h>
#include <stddef.h>

#include "api/message/message_write.h"
#include "daemon/base/error.h"
#include "daemon/base/text.h"

struct log_entry;
struct logging_context;

/* Source: https://cloud.google.com/logging/docs/reference/v2/rest/v2/entries/list (read 2026-11-20) */
enum { RESOURCE_NAMES_MAX = 100 };

struct projects {
	char *ids[RESOURCE_NAMES_MAX];
	size_t count;
};
void projects_deinit(struct projects *projects);
/* Reads a request's resourceNames and projectIds; @projects has those read so far even after a failure.
 * INVALID_ARGUMENT: there is none, there are too many, or one is not a resource name. */
enum status projects_read(const struct logging_context *context, const json_t *body,
			  struct projects *projects, struct error *err);

/* State shared while the entries of an answer are written. */
struct entry_rendering {
	struct writer entries;
	struct text name; /* buffer for the log name of the current entry; the caller deinits it */
};
/* Adds an entry to the list; @arg is a struct entry_rendering. */
void entry_put(void *arg, const struct log_entry *entry);
