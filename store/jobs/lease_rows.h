/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/lease_rows.h: writes rows of table lease, for jobs.c. */
#include "store/jobs/leases.h"
#include "store/state_writer.h"

/* Drops all leases of @job in the change's transaction. */
enum status leases_drop(struct change_scope *scope, int64_t job, struct error *err);
/* Adds leases of @job in the change's transaction; the member job is ignored. INTERNAL: a device is not free. */
enum status leases_add(struct change_scope *scope, int64_t job, const struct lease *leases, size_t count,
		       struct error *err);
