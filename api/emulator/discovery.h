/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* api/emulator/discovery.h: the discovery documents of what is emulated, and the directory of them.
 *
 *     GET /$discovery/rest?version=v1           of the API that has this version: ml v1, logging v2
 *     GET /discovery/v1/apis/{api}/{version}/rest
 *     GET /discovery/v1/apis                    the directory; ?name=, ?preferred=
 *
 * A document names the host that it was asked at, so that clients that are built from it come back here. */
#include "api/http/http.h"

struct discovery_api;

struct discovery_entry {
	const struct discovery_api *api;
	const struct route *routes; /* a family's; those without a doc are left out */
	const struct route *more;   /* those of another family that belong to the same API; NULL: there are none */
};

struct discovery {
	const struct discovery_entry *entries; /* ends with a NULL api */
};

/* The family's routes; its context is a struct discovery. */
extern const struct route discovery_routes[];
