/* SPDX-License-Identifier: Apache-2.0 */
#include "api/emulator/job_text.h"

#include <stdlib.h>
#include <string.h>

#include "api/emulator/fields.h"
#include "api/message/message_write.h"
#include "api/message/names.h"
#include "daemon/base/json.h"
#include "daemon/base/yaml.h"

static const struct field text_fields[] = {
	FIELD("text", STRING, FIELD_REQUIRED,
	      "YAML or JSON: the body of a create, or what gcloud takes as its --config."),
	FIELD("name", STRING, 0, "What the job is to be called; empty: as the text says."),
	FIELD("region", STRING, 0,
	      "The region of a job of AI Platform Training with a text that names none; empty: us-central1."),
	{ .name = NULL },
};
const struct message job_text_message = { "trainyard.ReadJobRequest", text_fields, "A job as a file has it.",
					  .is_own = true };

static const struct field read_fields[] = {
	FIELD("collection", STRING, 0,
	      "Where it is created: jobs, customJobs, hyperparameterTuningJobs or trainingPipelines."),
	FIELD("nameField", STRING, 0,
	      "The member of the body that names the job: jobId or displayName."),
	{ .name = "body", .type = FIELD_STRUCT, .help = "What creates the job, and what :plan takes." },
	{ .name = NULL },
};
const struct message job_read_message = { "trainyard.ReadJob", read_fields, "What a text describes.",
					  .is_own = true };

/* ---- reading the text ---- */

/* Text that begins with a brace is read as JSON and not as YAML, because YAML refuses tabs in it. */
static enum status document_read(const char *text, size_t length, json_t **ret_value, struct error *err)
{
	json_error_t problem;
	size_t begin = 0;

	while (begin < length && strchr(" \t\r\n", text[begin]))
		begin++;
	if (begin == length || text[begin] != '{')
		return yaml_read(text, length, ret_value, err);
	*ret_value = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
	return *ret_value ? STATUS_OK
			  : error_set(err, STATUS_INVALID_ARGUMENT, NULL, "line %d: %s", problem.line,
				      problem.text);
}

/* ---- the kind of the job ---- */

static const struct job_form {
	const char *member, *snake; /* the member that identifies this form, in both spellings */
	const char *collection;
	const char *name; /* the job's name */
	/* The text is the value of this member: gcloud's --config of custom jobs; NULL: the text is the whole job. */
	const char *inside;
} forms[] = {
	{ "trainingInput", "training_input", "jobs", "jobId", NULL },
	{ "jobSpec", "job_spec", "customJobs", "displayName", NULL },
	{ "workerPoolSpecs", "worker_pool_specs", "customJobs", "displayName", "jobSpec" },
	{ "studySpec", "study_spec", "hyperparameterTuningJobs", "displayName", NULL },
	{ "trainingTaskDefinition", "training_task_definition", "trainingPipelines", "displayName", NULL },
};

static const struct job_form *form_of(const json_t *document)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (json_object_get(document, forms[i].member) || json_object_get(document, forms[i].snake))
			return &forms[i];
	return NULL;
}

static bool has(const json_t *object, const char *camel)
{
	AUTO(string) char *snake = name_to_snake(camel);

	return json_object_get(object, camel) || json_object_get(object, snake);
}

static void name_set(const struct job_text *job, const char *name)
{
	AUTO(string) char *snake = name_to_snake(job->name_field);

	json_object_del(job->body, snake);
	json_object_set_new(job->body, job->name_field, json_string(name));
}

/* Fills in fields that gcloud would take from its flags, if the text lacks them. */
static void rest_fill(const struct job_text *job, const char *region)
{
	json_t *input = json_object_get(job->body, "trainingInput");

	if (!input)
		input = json_object_get(job->body, "training_input");
	if (json_is_object(input) && !has(input, "region"))
		json_object_set_new(input, "region", json_string(region));
	if (strcmp(job->collection, "hyperparameterTuningJobs") != 0)
		return;
	if (!has(job->body, "maxTrialCount"))
		json_object_set_new(job->body, "maxTrialCount", json_integer(1));
	if (!has(job->body, "parallelTrialCount"))
		json_object_set_new(job->body, "parallelTrialCount", json_integer(1));
}

enum status job_text_read(const char *text, size_t length, const char *name, const char *region,
			  struct job_text *ret_job, struct error *err)
{
	AUTO(json) json_t *document = NULL;
	const struct job_form *form;
	enum status rc = document_read(text, length, &document, err);

	if (rc)
		return rc;
	form = form_of(document);
	if (!form)
		return error_set(err, STATUS_INVALID_ARGUMENT, NULL,
				 "this does not describe a job: it has none of trainingInput, jobSpec, "
				 "workerPoolSpecs, studySpec and trainingTaskDefinition");
	*ret_job = (struct job_text){
		.collection = form->collection,
		.name_field = form->name,
		.body = form->inside ? json_pack("{s:O}", form->inside, document) : TAKE(document),
	};
	if (name)
		name_set(ret_job, name);
	rest_fill(ret_job, region);
	return STATUS_OK;
}

void job_text_deinit(struct job_text *job)
{
	json_decref(job->body);
	job->body = NULL;
}

bool job_text_has_name(const struct job_text *job)
{
	return has(job->body, job->name_field);
}

/* ---- the method ---- */

enum status job_read_answer(struct call *call, struct error *err)
{
	const char *text = json_text_at(call->body, "text"), *region = json_text_at(call->body, "region");
	struct job_text job AUTO_JOB_TEXT = { 0 };
	struct error cause AUTO_ERROR = { 0 };
	struct writer answer;
	enum status rc;

	if (!text)
		return error_set(err, STATUS_INVALID_ARGUMENT, "text",
				 "There is no text: paste YAML or JSON that describes a job.");
	rc = job_text_read(text, strlen(text), json_text_at(call->body, "name"),
			   region ? region : "us-central1", &job, &cause);
	if (rc)
		return error_set(err, rc, "text", "The text: %s.", cause.text);
	answer = message_open(&call->answer, &job_read_message);
	member_text(&answer, "collection", job.collection);
	member_text(&answer, "nameField", job.name_field);
	member_value(&answer, "body", job.body);
	message_close(&answer);
	return STATUS_OK;
}
