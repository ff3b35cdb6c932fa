/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/host_names.h: the names of the Host header that the daemon answers to, beside its addresses. */
#include <jansson.h>

struct config;

struct host_names {
	const char **names; /* the names of --host-name, then those in own; ends with NULL */
	json_t *own;        /* the names that "auto" stands for; NULL: --host-name auto was not given */
};

/* Finds the names. "auto" stands for the names by which other containers of the engine reach this process; with it, the
 * engine is asked once, and without an answer "auto" adds no names. @config must outlive the result. */
struct host_names host_names_make(const struct config *config);
void host_names_deinit(struct host_names *host_names);
