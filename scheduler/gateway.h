/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gateway.h: the way from a job's replicas to the emulator: storage and metadata, nothing else.
 *
 * Each job network has one gateway: a server on the gateway address of that network, which only its containers reach.
 * The scheduler requests it when the network exists and before it makes a replica, again for each attempt in the same
 * network, and after a restart on the same port, because the containers know that port. The daemon opens it, because the
 * daemon knows the families of the API. Thread: the scheduler's. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/device_socket.h"
#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* The path, in a container, of the certificates that it is to trust. */
#define GATEWAY_TRUSTED "/trainyard/ca.crt"

struct gateway_request {
	unsigned attempt; /* of the job: tokens of another one are refused */
	int64_t job,
		/* the job that entries are logged for: the job itself or, for a trial, its tuning job */
		log_owner;
	const struct plan *plan; /* borrowed for the call */
	uint32_t address;        /* the address to bind, in host byte order */
	/* serves only clients that connect through this network device; "": all clients. See network_reach */
	const char *device;
	bool is_carried; /* @address is not on this machine: connections come through gateway_address.sink */
	uint32_t first_replica; /* host byte order; replica N has first_replica + N, N being its ordinal */
	/* The port that the containers were given; 0: none was given yet, and any free port will do. */
	uint16_t port;
	int64_t started_us; /* wall clock: when the job left the queue */
};

struct gateway_address {
	uint16_t port; /* storage and metadata */
	bool port_80;  /* metadata.google.internal is also served on port 80, where old libraries expect it */
	uint16_t storage_port; /* the port of storage, if it has its own; 0: it is served at port */
	/* The certificates that programs are to trust, and the hosts (@served) that the gateway serves by TLS under their
	 * own names. Both belong to the daemon and live until the gateway is closed; the list ends with NULL. NULL: no
	 * host is served by TLS. */
	const char *ca_bundle;
	const char *const *served;
	/* The names of the cloud's regions, owned by the daemon; the list ends with NULL. NULL: only hosts of the job's
	 * own region are redirected here. */
	const char *const *regions;
	/* job networks have no route to the outside: the cloud's host names resolve to the gateway too, and calls to
	 * them are reported */
	bool cut_off;
	/* the hosts of gateway_watches() resolve to the gateway, which reports calls to them and forwards them */
	bool watched;
	/* If is_carried: the sink to which connections to the address are passed. */
	struct connection_sink sink;
};

struct gateway_ops {
	/* Opens the gateway, or returns the one that is open already, which serves @request's attempt from now on. Does
	 * not block for long. UNAVAILABLE: it cannot be opened here (the engine is on another machine, or the port is
	 * taken); the job then runs without a gateway. */
	enum status (*open)(void *arg, const struct gateway_request *request,
			    struct gateway_address *ret_place, struct error *err);
	/* Closes the gateway, because the network is about to be removed. Returns at once. Harmless if none is open. */
	void (*close)(void *arg, int64_t job);
	void *arg;
};

/* Writes an address in host byte order as "10.213.0.1". */
void address_print(uint32_t address, char text[16]);

/* True for the services of the real cloud that a job's log mentions when programs call them, also while the cloud can
 * be reached. @region: the job's; @regions: as in gateway_address. Pure. */
bool gateway_watches(const char *host, const char *region, const char *const *regions);
/* Whether @host is a host of the cloud that resolves to the gateway while job networks have no route to the outside.
 * Pure. */
bool gateway_knows(const char *host, const char *region, const char *const *regions);

/* The only ports of a gateway with is_carried: HTTP, TLS, and storage if it has a port of its own. */
enum { GATEWAY_PORT = 80, GATEWAY_TLS_PORT = 443, GATEWAY_STORAGE_PORT = 81 };

/* Adds the variables and host lines by which replicas find storage and metadata: "NAME=value" to @environment,
 * "name:address" to @hosts. The variables of the API's dialect are added elsewhere. Pure. */
void gateway_environment(const struct plan *plan, uint32_t address, const struct gateway_address *place,
			 json_t *environment, json_t *hosts);
