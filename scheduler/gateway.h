/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/gateway.h: what a job's replicas reach of the emulator: storage and metadata, nothing else.
 *
 * Each job network has one gateway: a server on the network's own gateway address that only this network's
 * containers reach. The scheduler asks for it when the network is there and before any replica is made, and again
 * after a restart, on the port that the containers were told; the daemon, which knows the API's families, opens
 * it. Thread: the scheduler's. */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/error.h"
#include "scheduler/plan/plan.h"

/* Where a replica finds the certificates that it is to trust. */
#define GATEWAY_TRUSTED "/trainyard/ca.crt"

struct gateway_request {
	int64_t job,
		log_owner; /* the latter: entries go to the log of this job; for a trial, its tuning job */
	const struct plan *plan; /* borrowed for the call */
	uint32_t address;        /* to bind to, host byte order */
	const char *device;      /* serves only clients that come in by it; "": all. See network_reach */
	uint32_t first_replica;  /* host byte order; replicas have first_replica + ordinal */
	/* The port that containers were told; 0: none was yet, any will do. */
	uint16_t port;
	int64_t started_us; /* wall clock: when the job left the queue */
};

struct gateway_address {
	uint16_t port; /* storage and metadata */
	bool port_80;  /* metadata.google.internal answers on port 80 as well, where old libraries look */
	uint16_t storage_port; /* where storage is, if it is elsewhere than at port; 0: there */
	/* What programs are to trust: @served are served here under their own names, by TLS. Both are the daemon's, until the
	 * gateway is closed; the list ends with NULL. NULL: none is. */
	const char *ca_bundle;
	const char *const *served;
	/* The names of the cloud's regions; the daemon's, ends with NULL. NULL: hosts of the job's own region alone lead here. */
	const char *const *regions;
	bool cut_off; /* the outside is out of reach: the cloud's own names lead here as well, and trying is told */
	bool watched; /* those of gateway_watches() lead here, which tells of calls and hands them on */
};

struct gateway_ops {
	/* Opens it, or says where it is open already. Takes a moment, no more.
	 * UNAVAILABLE: it cannot be here (the engine is on another machine; the port is taken): jobs run without. */
	enum status (*open)(void *arg, const struct gateway_request *request,
			    struct gateway_address *ret_place, struct error *err);
	/* The network is about to go. Returns at once. Harmless when there is none. */
	void (*close)(void *arg, int64_t job);
	void *arg;
};

/* "10.213.0.1", of an address in host byte order. */
void address_print(uint32_t address, char text[16]);

/* Whether @host is one of the services that training programs call by name, where the real one is meant unless something
 * else was said. @region: the job's; @regions: as in gateway_address. Pure. */
bool gateway_watches(const char *host, const char *region, const char *const *regions);
/* Whether @host is one of the cloud's that lead to the gateway where the outside is out of reach. Pure. */
bool gateway_knows(const char *host, const char *region, const char *const *regions);

/* What every replica is told beside its dialect's environment: where storage and metadata are. Pure.
 * Appends "NAME=value" to @environment and "name:address" to @hosts. */
void gateway_environment(const struct plan *plan, uint32_t address, const struct gateway_address *place,
			 json_t *environment, json_t *hosts);
