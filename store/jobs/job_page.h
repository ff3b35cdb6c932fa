/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* store/jobs/job_page.h: a page of jobs that a filter of any collection chose. */
#include "store/jobs/jobs.h"

struct row_page;

/* The jobs of a page that row_page_begin() has readied. */
enum status job_page_read(struct store *store, struct row_page *page, struct job_list *ret_list,
			  struct error *err);
