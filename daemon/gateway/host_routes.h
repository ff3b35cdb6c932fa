/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/host_routes.h: --route NAME=URL: forwards calls of jobs to a Google host. NAME is a host below
 * googleapis.com, or "*-REST" for the regional ones of all known regions; URL is http://HOST:PORT, https://HOST:PORT,
 * or "self" for this daemon. */
#include <stdbool.h>
#include <stddef.h>

#include "daemon/base/error.h"

enum route_kind { ROUTE_PLAIN, ROUTE_TLS, ROUTE_SELF };

struct host_route {
	const char *name; /* lowercase */
	enum route_kind kind;
	const char *host, *port; /* the target's address (IPv6 without brackets) and port; NULL with SELF */
};

struct host_routes {
	struct host_route *list;
	size_t count;
};

/* Returns true if @url is @scheme ("http://") followed by HOST:PORT, without a path. */
bool endpoint_valid(const char *url, const char *scheme);
bool host_route_valid(const char *rule);
/* Makes the routes of the rules. If several rules match a name, the first counts. @rules are valid. INVALID_ARGUMENT:
 * they have more than ROUTES_MAX names. */
enum status host_routes_make(const char *const *rules, size_t count, struct host_routes *ret_routes,
			     struct error *err);
void host_routes_deinit(struct host_routes *routes);
/* Finds the route of a name. NULL: no route has @name. */
const struct host_route *host_routes_find(const struct host_routes *routes, const char *name);

/* Choice: the number is limited because each name is in a certificate, and in each container's /etc/hosts. */
enum { ROUTES_MAX = 256 };
