/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/gateway/called_names.h: answers programs that call hosts of the cloud by name, at a job's gateway: a host with
 * a route is forwarded as the route says; a served host (Cloud Storage, Cloud Logging) is answered here; a watched host
 * is reported and forwarded to the real one; other hosts are refused. This is done at port 443, with a certificate of
 * the state directory's authority, and at port 80 without TLS; there the gateway itself answers calls that name no host
 * of the cloud.
 * The servers of a job start at its first call by name.
 * Thread: the scheduler's, except for called_names_close(). */
#include "daemon/base/device_socket.h"
#include "daemon/gateway/job_gateway.h"

/* The host names that resolve to gateways, the same for all jobs. */
struct name_list {
	const char **names; /* the names served here, then those with a route; ends with NULL */
	size_t served_count;
	const char **regions;               /* for gateway_address.regions */
	bool has_self;                      /* at least one route leads to this daemon */
	bool reported_port, reported_trust; /* each problem that all jobs share is logged once */
};

/* The pointers in @options must stay valid until name_list_deinit(). */
void name_list_make(const struct gateways_options *options, struct name_list *ret_list);
void name_list_deinit(struct name_list *list);

/* The options for one job. Borrowed until called_names_close(). */
struct called_names_options {
	const struct gateways_options *gateways;
	struct name_list *list;
	int64_t job;
	const char *region, *device, *address_text;
	uint32_t address; /* host byte order */
	bool is_carried;  /* the address is on no interface of this machine: connections come by called_names_put() */
	struct device_peers peers;
	/* The methods that answer programs in containers which call a Google host that is served here: by REST, and by
	 * gRPC. */
	const struct family *served, *served_rpc;
};

struct called_names;

/* Failures are only logged, because jobs also run without this. *ret_names NULL: calls by name are not answered here. */
void called_names_open(const struct called_names_options *options, struct called_names **ret_names);
/* The path of the certificates that programs must trust; NULL: calls by name are not answered. @names may be NULL in
 * this and the following functions. */
const char *called_names_bundle(const struct called_names *names);
/* Begins to answer calls without TLS at the gateway's address and @port (80 for containers). Calls to the gateway
 * itself and to served names are passed to @gateway, which must live until called_names_plain_close(). UNAVAILABLE: the
 * port cannot be bound. */
enum status called_names_plain_open(struct called_names *names, uint16_t port, struct listener *gateway,
				    struct error *err);
/* Only with is_carried: passes on a connection to port 443 or, after called_names_plain_open(), to port 80. Takes
 * ownership of @fd. Thread: any, until called_names_close() or called_names_plain_close(). */
void called_names_put(struct called_names *names, uint16_t port, const struct sockaddr_in *peer, int fd);
/* Has no effect if called_names_plain_open() was not called or failed. */
void called_names_plain_close(struct called_names *names);
/* Cuts forwarded connections. Waits up to @wait_ms for running requests. Thread: any. */
void called_names_close(struct called_names *names, unsigned wait_ms);
