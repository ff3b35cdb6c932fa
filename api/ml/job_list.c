/* SPDX-License-Identifier: Apache-2.0 */
#include "api/message/message_write.h"
#include "api/ml/messages.h"
#include "api/ml/ml.h"
#include "daemon/base/json.h"
#include "store/jobs/jobs.h"

enum status job_list_handle(struct call *call, struct error *err)
{
	const struct ml_context *context = call->context;
	struct job_list list AUTO_JOB_LIST = { 0 };
	unsigned page_size = 0;
	struct writer page;
	enum status rc = page_size_read(call->query, ML_PAGE_DEFAULT, ML_PAGE_MAX, &page_size, err);

	if (!rc)
		rc = training_count(call, QUOTA_READ, err);
	if (!rc)
		rc = job_list_page(context->training.store, training_project(call),
				   call_query(call, "filter"), page_size, call_query(call, "pageToken"),
				   &list, err);
	if (rc)
		return rc;
	page = message_open(&call->answer, &ml_list_jobs_response);
	jobs_render(call, list.jobs, list.count, &page);
	member_text(&page, "nextPageToken", list.next_page_token);
	message_close(&page);
	return STATUS_OK;
}
