/* SPDX-License-Identifier: Apache-2.0 */
#include "store/jobs/job.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

void job_deinit(struct job *job)
{
	free(job->project);
	free(job->location);
	free(job->job_id);
	free(job->display_name);
	free(job->error_message);
	free(job->labels);
	free(job->input);
	free(job->output);
	free(job->plan);
	free(job->assignment);
	free(job->outcome_message);
	*job = (struct job){ 0 };
}

void job_free(struct job *job)
{
	if (!job || __atomic_fetch_sub(&job->sharers, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	job_deinit(job);
	free(job);
}

struct job *job_share(struct job *job)
{
	__atomic_add_fetch(&job->sharers, 1, __ATOMIC_RELAXED);
	return job;
}

void job_list_deinit(struct job_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		job_deinit(&list->jobs[i]);
	free(list->jobs);
	free(list->next_page_token);
	*list = (struct job_list){ 0 };
}

void job_etag(const struct job *job, char ret_etag[16])
{
	static const unsigned char key[crypto_shorthash_KEYBYTES] = "trainyard etag.";
	unsigned char tag[crypto_shorthash_BYTES];
	int64_t identity[2] = { job->id, job->version };

	crypto_shorthash(tag, (const unsigned char *)identity, sizeof(identity), key);
	sodium_bin2base64(ret_etag, 16, tag, sizeof(tag), sodium_base64_VARIANT_ORIGINAL);
}

enum status job_etag_check(const struct job *job, const char *wanted, struct error *err)
{
	char etag[16];

	job_etag(job, etag);
	if (!wanted || strcmp(etag, wanted) == 0)
		return STATUS_OK;
	return error_set(err, STATUS_ABORTED, "etag",
			 "The job has changed since it was read: its etag is %s now, the request has %s. "
			 "Read it again and repeat the change.",
			 etag, wanted);
}
