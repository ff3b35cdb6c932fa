/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/leases.h: which replica holds which GPU. A lease is written in the commit that admits its job (struct
 * job_change). It is removed in the commit that ends the job once its containers are gone, or in the commit that gives
 * up the job's place on a lost node. The database itself refuses a second exclusive lease of a machine's device, and
 * drops the leases of a job that reaches a final state. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/base/error.h"

struct store;

struct lease {
	int64_t job;
	unsigned role; /* enum role of scheduler/plan/plan.h */
	unsigned replica;
	char *device;
	bool shared;
	char *node; /* the machine that has the device, named as in struct assignment; NULL: the first node */
};

/* Frees the texts of a lease. */
void lease_deinit(struct lease *lease);
void leases_free(struct lease *leases, size_t count);
/* Reads all leases, sorted by job, role and replica. The caller frees the array. */
enum status lease_list(struct store *store, struct lease **ret_leases, size_t *ret_count, struct error *err);
