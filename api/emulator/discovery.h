/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/discovery.h: the discovery documents of the emulated APIs, and their directory.
 *
 *     GET /$discovery/rest?version=v1           of the API that has this version: ml v1, logging v2
 *     GET /discovery/v1/apis/{api}/{version}/rest
 *     GET /discovery/v1/apis                    the directory; ?name=, ?preferred=
 *
 * A document names the host of the request, so that clients built from it call this daemon. */
#include "api/http/http.h"

struct discovery_api;

struct discovery_entry {
	const struct discovery_api *api;
	const struct route *routes; /* the methods to describe; rows without a doc are left out */
	const struct route *more;   /* a second table of methods of the same API; NULL: none */
};

struct discovery {
	const struct discovery_entry *entries; /* ends with a NULL api */
};

/* The family's routes; its context is a struct discovery. */
extern const struct route discovery_routes[];
