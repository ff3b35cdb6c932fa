/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/lease_rows.h: rows of table lease, for jobs.c, which writes them. */
#include "store/jobs/leases.h"
#include "store/state_writer.h"

/* Leases of @job in the change's transaction; their own job is not read. INTERNAL: a device is not free. */
enum status leases_add(struct change_scope *scope, int64_t job, const struct lease *leases, size_t count,
		       struct error *err);
