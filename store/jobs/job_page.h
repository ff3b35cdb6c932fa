/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_page.h: a page of a filtered list of jobs, for any collection. */
#include "store/jobs/jobs.h"

struct row_page;

/* Reads the jobs of a page that row_page_begin() has prepared. */
enum status job_page_read(struct store *store, struct row_page *page, struct job_list *ret_list,
			  struct error *err);
