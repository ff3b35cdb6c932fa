/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/host_routes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/training/regions.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/memory.h"

enum { NAME_BYTES_MAX = 253 };

static const char domain[] = ".googleapis.com";
static const char plain[] = "http://", secure[] = "https://", self[] = "self";

bool endpoint_valid(const char *url, const char *scheme)
{
	const char *host = url + strlen(scheme);
	const char *colon = strncmp(url, scheme, strlen(scheme)) == 0 ? strrchr(host, ':') : NULL;
	const size_t digits = colon ? strlen(colon + 1) : 0;

	return colon && colon != host && digits >= 1 && digits <= 5 &&
	       strspn(colon + 1, "0123456789") == digits && strtoul(colon + 1, NULL, 10) - 1 < 65535 &&
	       strcspn(host, "/?#@") == strlen(host);
}

/* Accepts only names below googleapis.com, because the authority signs certificates for these alone. */
static bool name_valid(const char *name, size_t length)
{
	const size_t tail = strlen(domain);
	const size_t star = length > 2 && strncmp(name, "*-", 2) == 0 ? 2 : 0;

	if (length <= star + tail || length > NAME_BYTES_MAX ||
	    strncmp(name + length - tail, domain, tail) != 0)
		return false;
	for (size_t i = star; i < length; i++) {
		const bool edge = i == star || name[i - 1] == '.';

		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", name[i]) ||
		    (edge && (name[i] == '.' || name[i] == '-')))
			return false;
	}
	return true;
}

bool host_route_valid(const char *rule)
{
	const char *equals = strchr(rule, '=');
	const char *url = equals ? equals + 1 : "";

	return equals && name_valid(rule, (size_t)(equals - rule)) &&
	       (strcmp(url, self) == 0 || endpoint_valid(url, plain) || endpoint_valid(url, secure));
}

/* Sets the route's kind, host and port from @url. The host and the port share one allocation, which the host begins. */
static void target_split(const char *url, struct host_route *route)
{
	const bool is_plain = strncmp(url, plain, strlen(plain)) == 0;
	char *host, *colon;

	if (strcmp(url, self) == 0) {
		route->kind = ROUTE_SELF;
		return;
	}
	route->kind = is_plain ? ROUTE_PLAIN : ROUTE_TLS;
	host = memory_strdup(url + strlen(is_plain ? plain : secure));
	colon = strrchr(host, ':'); /* host_route_valid() has checked it */
	*colon = '\0';
	route->port = colon + 1;
	if (host[0] == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		memmove(host, host + 1, strlen(host));
	}
	route->host = host;
}

/* Adds a route for @name or, if @region is not NULL, for @region followed by @name. */
static enum status route_add(struct host_routes *routes, const char *region, const char *name, int length,
			     const char *url, struct error *err)
{
	struct host_route *route = &routes->list[routes->count];
	char *whole = memory_printf("%s%.*s", region ? region : "", length, name);

	if (host_routes_find(routes, whole)) {
		free(whole);
		return STATUS_OK;
	}
	if (routes->count == ROUTES_MAX) {
		free(whole);
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "--route: there are rules for more than %d host names", ROUTES_MAX);
	}
	*route = (struct host_route){ .name = whole };
	routes->count++;
	target_split(url, route);
	return STATUS_OK;
}

static enum status rule_take(struct host_routes *routes, const char *rule, struct error *err)
{
	const char *equals = strchr(rule, '=');
	const bool is_pattern = *rule == '*';
	const char *name = rule + is_pattern;
	const int length = (int)(equals - name);
	enum status rc = STATUS_OK;

	if (!is_pattern)
		return route_add(routes, NULL, name, length, equals + 1, err);
	for (const struct region *region = regions; region->name && !rc; region++)
		rc = route_add(routes, region->name, name, length, equals + 1, err);
	return rc;
}

enum status host_routes_make(const char *const *rules, size_t count, struct host_routes *ret_routes,
			     struct error *err)
{
	struct host_routes routes = { .list = memory_calloc(ROUTES_MAX + 1, sizeof(*routes.list)) };
	enum status rc = STATUS_OK;

	for (size_t i = 0; i < count && !rc; i++)
		rc = rule_take(&routes, rules[i], err);
	if (rc)
		host_routes_deinit(&routes);
	else
		*ret_routes = routes;
	return rc;
}

void host_routes_deinit(struct host_routes *routes)
{
	for (size_t i = 0; i < routes->count; i++) {
		free((char *)routes->list[i].name);
		free((char *)routes->list[i].host);
	}
	free(routes->list);
	*routes = (struct host_routes){ 0 };
}

const struct host_route *host_routes_find(const struct host_routes *routes, const char *name)
{
	for (size_t i = 0; i < routes->count; i++)
		if (strcmp(routes->list[i].name, name) == 0)
			return &routes->list[i];
	return NULL;
}
