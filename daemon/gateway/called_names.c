/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/gateway/called_names.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/aiplatform/aiplatform.h"
#include "api/grpc/front.h"
#include "api/training/regions.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/client_hello.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/gateway/forward.h"
#include "daemon/gateway/host_filter.h"
#include "daemon/gateway/host_routes.h"
#include "store/keys/authority.h"

enum { PORT_HTTPS = GATEWAY_TLS_PORT, HELLO_PATIENCE_MS = 5000, NS_PER_S = 1000000000 };

#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* Host names of Cloud Storage (for TensorFlow's gs:// and links to public objects), then that of Cloud Logging. */
static const char *const served_names[] = { "storage.googleapis.com", "www.googleapis.com",
					    "logging.googleapis.com", NULL };
enum { STORAGE_NAMES = 2 };

struct called_names {
	struct called_names_options options;
	pthread_mutex_t lock; /* guards the next two members */
	bool tried, are_up;   /* a call needed the servers below; these are running, until called_names_close() */
	/* Servers for calls to hosts that are served here, by HTTP/1.1 and by gRPC; both NULL: none has started. */
	struct listener *secure;
	struct front *grpc;
	/* Servers for calls to hosts that a route (--route) leads to this daemon; NULL: there is no such route. */
	struct listener *self_secure;
	struct front *self_grpc;
	struct listener *self_plain;
	struct forwarder *forwarder; /* for calls that go on to another host; NULL: such calls are refused */
	char *ca_bundle;
	struct host_filter *tls_filter, *plain_filter;
	struct listener *gateway; /* serves the connections of plain_filter that no other server gets; borrowed */
};

/* ---- the list ---- */

static bool is_served(const struct name_list *list, const char *host)
{
	for (size_t i = 0; i < list->served_count; i++)
		if (strcmp(host, list->names[i]) == 0)
			return true;
	return false;
}

static size_t names_count(const struct name_list *list)
{
	size_t count = 0;

	while (list->names[count])
		count++;
	return count;
}

void name_list_make(const struct gateways_options *options, struct name_list *ret_list)
{
	const char *const *served = served_names + (options->storage ? 0 : STORAGE_NAMES);
	const size_t routed = options->routes ? options->routes->count : 0;
	struct name_list list = { .names = memory_calloc(COUNT_OF(served_names) + routed, sizeof(char *)) };
	size_t known = 0;

	while (regions[known].name)
		known++;
	list.regions = memory_calloc(known + 1, sizeof(char *));
	for (size_t i = 0; i < known; i++)
		list.regions[i] = regions[i].name;
	for (; !options->names_alone && *served; served++)
		list.names[list.served_count++] = *served;
	for (size_t i = 0; i < routed; i++) {
		const struct host_route *route = &options->routes->list[i];

		list.has_self |= route->kind == ROUTE_SELF;
		if (!is_served(&list, route->name))
			list.names[names_count(&list)] = route->name;
	}
	*ret_list = list;
}

void name_list_deinit(struct name_list *list)
{
	free(list->names);
	free(list->regions);
	*list = (struct name_list){ 0 };
}

/* ---- a call ---- */

static void on_tried(void *arg, const char *host)
{
	const struct called_names *names = arg;
	const struct gateways_options *gateways = names->options.gateways;

	gateways->cloud_tried(gateways->arg, names->options.job, host);
}

/* Returns true if a call of @host, which is neither served nor has a route, is reported and forwarded to the real host. */
static bool is_handed_on(const struct called_names *names, const char *host)
{
	return !names->options.gateways->cut_off &&
	       gateway_watches(host, names->options.region, names->options.list->regions);
}

/* The differences between the filters. */
struct entrance {
	const char *port;                    /* port at which real hosts are called */
	enum forward_kind kinds[ROUTE_SELF]; /* how connections are forwarded, by the kind of the route */
};

static const struct entrance entrance_tls = { "443",
					      { [ROUTE_PLAIN] = FORWARD_PLAIN, [ROUTE_TLS] = FORWARD_TLS } };
static const struct entrance entrance_plain = {
	"80", { [ROUTE_PLAIN] = FORWARD_BYTES, [ROUTE_TLS] = FORWARD_TLS_ADDED }
};

static bool servers_need(struct called_names *names);

/* Forwards the connection @fd as @route says; NULL: to the real host. Returns false if nothing can be forwarded. */
static bool forward(struct called_names *names, const struct entrance *entrance,
		    const struct client_hello *hello, int fd, const struct host_route *route)
{
	struct forward_target target = { .kind = FORWARD_BYTES,
					 .name = hello->name,
					 .host = hello->name,
					 .port = entrance->port,
					 .http2 = hello->http2_only };

	if (!servers_need(names))
		return false;
	if (route) {
		target.kind = entrance->kinds[route->kind];
		target.host = route->host;
		target.port = route->port;
	} else {
		on_tried(names, hello->name);
	}
	forwarder_take(names->forwarder, fd, &target);
	return true;
}

static const struct host_route *route_find(const struct called_names *names, const char *host)
{
	const struct host_routes *routes = names->options.gateways->routes;

	return routes ? host_routes_find(routes, host) : NULL;
}

static bool on_called(void *arg, const struct client_hello *hello, int fd, const struct sockaddr_in *peer)
{
	struct called_names *names = arg;
	const struct host_route *route = route_find(names, hello->name);
	const bool is_self = route && route->kind == ROUTE_SELF;
	struct listener *rest;
	struct front *grpc;

	if (!is_self && (route || !is_served(names->options.list, hello->name)))
		return (route || is_handed_on(names, hello->name)) &&
		       forward(names, &entrance_tls, hello, fd, route);
	if (!servers_need(names))
		return false;
	rest = is_self ? names->self_secure : names->secure;
	grpc = is_self ? names->self_grpc : names->grpc;
	if (hello->http2_only ? !grpc : !rest)
		return false;
	if (hello->http2_only)
		front_adopt(grpc, fd, peer);
	else
		listener_adopt(rest, fd, (const struct sockaddr *)peer, sizeof(*peer));
	return true;
}

static bool on_called_plain(void *arg, const struct client_hello *hello, int fd,
			    const struct sockaddr_in *peer)
{
	struct called_names *names = arg;
	const struct host_route *route = route_find(names, hello->name);
	const bool is_self = route && route->kind == ROUTE_SELF;

	if (!is_self && (route || is_handed_on(names, hello->name)))
		return forward(names, &entrance_plain, hello, fd, route);
	if (is_self ? !servers_need(names)
		    : !is_served(names->options.list, hello->name) && names->options.gateways->cut_off &&
			      gateway_knows(hello->name, names->options.region, names->options.list->regions))
		return false;
	listener_adopt(is_self ? names->self_plain : names->gateway, fd, (const struct sockaddr *)peer,
		       sizeof(*peer));
	return true;
}

static void on_failed(void *arg, const struct forward_target *target, const char *problem)
{
	const struct called_names *names = arg;
	const struct gateways_options *gateways = names->options.gateways;
	AUTO(string)
	char *text =
		route_find(names, target->name)
			? memory_printf("leads to %s:%s (--route), where no server answers: %s. Start the "
					"server, or change the route.",
					target->host, target->port, problem)
			: memory_printf("this machine cannot reach: %s.", problem);

	gateways->call_failed(gateways->arg, names->options.job, target->name, text);
}

/* ---- the servers ---- */

static const char lost[] = "TensorFlow's gs://, google-cloud-logging and --route do not work in jobs";

static int64_t now_s(void)
{
	return clock_wall_ns(&system_clock) / NS_PER_S; /* programs check certificates by this clock */
}

/* Sets *ret_path to the file of certificates that a job's programs trust: the authority's and those of this machine. A
 * job without a route to the outside needs only the authority's. */
static enum status bundle_find(const struct called_names *names, struct text *ret_path, struct error *err)
{
	const struct gateways_options *gateways = names->options.gateways;
	const char *system = gateways->cut_off ? NULL : authority_system_bundle();
	enum status rc;

	if (!system && !gateways->cut_off)
		return error_set(
			err, STATUS_FAILED_PRECONDITION, NULL,
			"this machine has no certificates (is the package ca-certificates missing?)");
	rc = authority_bundle(gateways->authority, system, now_s(), ret_path, err);
	if (!rc && strchr(ret_path->data, ':'))
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "%s: a path with a ':' cannot be given to containers", ret_path->data);
	return rc;
}

/* The methods that one group of names offers to callers. */
struct offer {
	const struct message *const *any;
	const struct family *families, *rpc_families;
	struct caller_rule caller;
};

/* @key and @certificate: PEM; NULL: the listener uses no TLS. */
static struct listener_options offer_options(const struct called_names *names, const struct offer *offer,
					     const char *key, const char *certificate)
{
	return (struct listener_options){ .address = names->options.address_text,
					  .families = offer->families,
					  .clock = &system_clock,
					  .gate = names->options.gateways->gate,
					  .connection_limit = GATEWAY_CONNECTIONS_MAX,
					  .any_host = true,
					  .caller = offer->caller,
					  .owner = names->options.job,
					  .tls_key = key,
					  .tls_certificate = certificate,
					  .adopts_only = true };
}

static enum status rest_start(const struct called_names *names, const struct offer *offer, const char *key,
			      const char *certificate, struct listener **ret_listener, struct error *err)
{
	const struct listener_options options = offer_options(names, offer, key, certificate);

	return listener_open(&options, ret_listener, err);
}

/* In a build without gRPC, *ret_front stays NULL and this succeeds. */
static enum status grpc_start(const struct called_names *names, const struct offer *offer, const char *key,
			      const char *certificate, struct front **ret_front, struct error *err)
{
	struct front_options options = { .common = offer_options(names, offer, key, certificate),
					 .any = offer->any };
	enum status rc;

	options.common.families = offer->rpc_families;
	rc = front_open(&options, ret_front, err);
	if (rc == STATUS_FAILED_PRECONDITION) {
		error_deinit(err);
		rc = STATUS_OK;
	}
	return rc;
}

static enum status offers_start(struct called_names *names, const char *key, const char *certificate,
				struct error *err)
{
	const struct gateways_options *gateways = names->options.gateways;
	const struct offer served = { .families = names->options.served,
				      .rpc_families = names->options.served_rpc };
	const struct offer self = { .any = aiplatform_any,
				    .families = gateways->self,
				    .rpc_families = gateways->self_rpc,
				    .caller = gateways->self_caller };
	enum status rc = rest_start(names, &served, key, certificate, &names->secure, err);

	if (!rc)
		rc = grpc_start(names, &served, key, certificate, &names->grpc, err);
	if (rc || !names->options.list->has_self)
		return rc;
	rc = rest_start(names, &self, key, certificate, &names->self_secure, err);
	if (!rc)
		rc = rest_start(names, &self, NULL, NULL, &names->self_plain, err);
	return rc ? rc : grpc_start(names, &self, key, certificate, &names->self_grpc, err);
}

static enum status servers_start(struct called_names *names, struct error *err)
{
	const struct gateways_options *gateways = names->options.gateways;
	const struct name_list *list = names->options.list;
	struct text key AUTO_TEXT = { 0 };
	struct text certificate AUTO_TEXT = { 0 };
	enum status rc = authority_issue(gateways->authority, list->names, names_count(list), now_s(), &key,
					 &certificate, err);

	if (!rc)
		rc = offers_start(names, key.data, certificate.data, err);
	if (!rc)
		rc = forwarder_open(&(struct forwarder_options){ .key = key.data,
								 .certificate = certificate.data,
								 .failed = on_failed,
								 .arg = names },
				    &names->forwarder, err);
	return rc;
}

static void servers_close(struct called_names *names, unsigned wait_ms)
{
	forwarder_close(names->forwarder);
	listener_close(names->secure, wait_ms);
	listener_close(names->self_secure, wait_ms);
	listener_close(names->self_plain, wait_ms);
	front_close(names->grpc);
	front_close(names->self_grpc);
	names->forwarder = NULL;
	names->secure = names->self_secure = names->self_plain = NULL;
	names->grpc = names->self_grpc = NULL;
}

/* Starts the servers at the first call that needs them. Most jobs call no host by name, and to make the certificate and to
 * load it takes 15 million instructions, between a job's admission and its first container. False: they cannot be
 * started, which is logged. */
static bool servers_need(struct called_names *names)
{
	struct error problem AUTO_ERROR = { 0 };
	bool are_up;

	pthread_mutex_lock(&names->lock);
	if (!names->tried && names->ca_bundle) {
		names->are_up = !servers_start(names, &problem);
		if (!names->are_up) {
			servers_close(names, 0);
			log_event(LOG_WARNING, "storage-names-unserved", "job=%lld error=\"%s\" hint=\"%s\"",
				  (long long)names->options.job, problem.text ? problem.text : "", lost);
		}
	}
	names->tried = true;
	are_up = names->are_up;
	pthread_mutex_unlock(&names->lock);
	return are_up;
}

static enum status tls_filter_start(struct called_names *names, struct error *err)
{
	const struct called_names_options *options = &names->options;

	return host_filter_open(
		&(struct host_filter_options){ .protocol = &host_protocol_tls,
					       .device = options->device,
					       .address = options->address,
					       .port = PORT_HTTPS,
					       .is_carried = options->is_carried,
					       .peers = options->peers,
					       .patience_ms = HELLO_PATIENCE_MS,
					       .serve = on_called,
					       .tried = options->gateways->cut_off ? on_tried : NULL,
					       .arg = names },
		&names->tls_filter, err);
}

enum status called_names_plain_open(struct called_names *names, uint16_t port, struct listener *gateway,
				    struct error *err)
{
	const struct called_names_options *options = &names->options;

	names->gateway = gateway;
	return host_filter_open(&(struct host_filter_options){ .protocol = &host_protocol_plain,
							       .device = options->device,
							       .address = options->address,
							       .port = port,
							       .is_carried = options->is_carried,
							       .peers = options->peers,
							       .patience_ms = HELLO_PATIENCE_MS,
							       .serve = on_called_plain,
							       .tried = on_tried,
							       .arg = names },
				&names->plain_filter, err);
}

void called_names_put(struct called_names *names, uint16_t port, const struct sockaddr_in *peer, int fd)
{
	struct host_filter *filter = port == PORT_HTTPS ? names->tls_filter : names->plain_filter;

	if (filter)
		host_filter_put(filter, peer, fd);
	else
		close(fd);
}

void called_names_plain_close(struct called_names *names)
{
	host_filter_close(names->plain_filter);
	names->plain_filter = NULL;
}

static void report_once(bool *reported, const char *event, const struct error *err, const char *hint)
{
	if (!*reported)
		log_event(LOG_WARNING, event, "error=\"%s\" hint=\"%s\"", err->text ? err->text : "", hint);
	*reported = true;
}

static void names_free(struct called_names *names)
{
	called_names_close(names, 0);
}

DEFINE_AUTO(names, struct called_names *, names_free)

void called_names_open(const struct called_names_options *options, struct called_names **ret_names)
{
	const struct gateways_options *gateways = options->gateways;
	struct name_list *list = options->list;
	struct error problem AUTO_ERROR = { 0 };
	AUTO(names) struct called_names *names = NULL;
	struct text bundle AUTO_TEXT = { 0 };

	*ret_names = NULL;
	if (!gateways->cut_off && !gateways->authority)
		return;
	names = memory_calloc(1, sizeof(*names));
	names->options = *options;
	pthread_mutex_init(&names->lock, NULL);
	if (gateways->authority && bundle_find(names, &bundle, &problem)) {
		report_once(&list->reported_trust, "storage-names-unserved", &problem, lost);
		error_deinit(&problem);
	} else if (gateways->authority) {
		names->ca_bundle = text_take(&bundle);
	}
	if (!gateways->cut_off && !names->ca_bundle)
		return;
	if (tls_filter_start(names, &problem))
		report_once(&list->reported_port, "port-443-missing", &problem,
			    gateways->cut_off ? "jobs that call the cloud are turned away and not told of"
					      : lost);
	else
		*ret_names = TAKE(names);
}

const char *called_names_bundle(const struct called_names *names)
{
	return names ? names->ca_bundle : NULL;
}

void called_names_close(struct called_names *names, unsigned wait_ms)
{
	if (!names)
		return;
	called_names_plain_close(names);
	host_filter_close(names->tls_filter);
	servers_close(names, wait_ms);
	pthread_mutex_destroy(&names->lock);
	free(names->ca_bundle);
	free(names);
}
