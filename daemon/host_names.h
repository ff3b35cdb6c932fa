/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/host_names.h: the names of the Host header that the daemon answers to, beside its addresses. */
#include <jansson.h>

struct config;

struct host_names {
	const char **names; /* the configuration's, and the next; ends with NULL */
	json_t *own;        /* what --host-name auto stands for; NULL: it was not given */
};

/* "auto" stands for the names that neighbours in the engine know this process by. @config must outlive the names.
 * Asks the engine once if "auto" was given; without an answer there are none of those. */
struct host_names host_names_make(const struct config *config);
void host_names_deinit(struct host_names *host_names);
