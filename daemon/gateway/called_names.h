/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/called_names.h: answers programs that call hosts of the cloud by name, at a job's gateway: a host with
 * a route is forwarded as the route says; a served host (Cloud Storage, Cloud Logging) is answered here; a watched host
 * is reported and forwarded to the real one; other hosts are refused. At port 443 with a certificate of the state
 * directory's authority, and at port 80 without TLS, where the gateway itself answers calls that name no host of the
 * cloud.
 * Thread: the scheduler's, except for called_names_close(). */
#include "daemon/base/device_socket.h"
#include "daemon/gateway/job_gateway.h"

/* The names that resolve to gateways, the same for all jobs. */
struct name_list {
	const char **names; /* the served ones, then those with a route; ends with NULL */
	size_t served_count;
	const char **regions;               /* of gateway_address */
	bool has_self;                      /* a route leads to this daemon */
	bool reported_port, reported_trust; /* what every job lacks is logged once */
};

/* What @options points to must live until name_list_deinit(). */
void name_list_make(const struct gateways_options *options, struct name_list *ret_list);
void name_list_deinit(struct name_list *list);

/* Of one job. Borrowed until called_names_close(). */
struct called_names_options {
	const struct gateways_options *gateways;
	struct name_list *list;
	int64_t job;
	const char *region, *device, *address_text;
	uint32_t address; /* host byte order */
	bool is_carried;  /* of no interface of this machine: connections come by called_names_put() */
	struct device_peers peers;
	const struct family *served,
		*served_rpc; /* the families for callers of served names, by REST and by gRPC */
};

struct called_names;

/* Jobs also run without it: failures are only logged. *ret_names NULL: calls by name are not answered here. */
void called_names_open(const struct called_names_options *options, struct called_names **ret_names);
/* The path of the certificates that programs must trust; NULL: the names are not answered. NULL is harmless here and
 * below. */
const char *called_names_bundle(const struct called_names *names);
/* Serves @port of the gateway's address for calls to port 80; calls of the gateway itself, and of served names, are
 * passed to @gateway, which must live until called_names_plain_close(). UNAVAILABLE: the port cannot be bound. */
enum status called_names_plain_open(struct called_names *names, uint16_t port, struct listener *gateway,
				    struct error *err);
/* With is_carried: a connection to port 443 or, where that was opened, to port 80. @fd is taken over. Thread: any, until either is
 * closed. */
void called_names_put(struct called_names *names, uint16_t port, const struct sockaddr_in *peer, int fd);
/* Harmless if it was not opened. */
void called_names_plain_close(struct called_names *names);
/* Cuts forwarded connections. Waits up to @wait_ms for running requests. Thread: any. */
void called_names_close(struct called_names *names, unsigned wait_ms);
