/* SPDX-License-Identifier: Apache-2.0 */
/* The help of each field, which clients see in the discovery document, is true: it says so if a field is refused or has
 * no effect, and only then. Each field of a job is set in turn, and the result of the rules and of the plan is compared
 * with the help. */
#include "api/aiplatform/messages.h"
#include "api/aiplatform/rules.h"
#include "api/aiplatform/to_plan.h"
#include "api/ml/job_rules.h"
#include "api/ml/messages.h"
#include "api/ml/to_plan.h"
#include "scheduler/plan/plan.h"
#include "tests/unit/api/message/json_testing.h"

enum { DEPTH_MAX = 7 };

struct family {
	const struct message *root;
	const char *base; /* a valid job */
	enum status (*check)(const json_t *job, struct error *err);
	enum status (*to_plan)(const json_t *job, struct plan **ret_plan, struct error *err);
	unsigned fields; /* the minimum number of fields that are accepted or refused by trainyard only */
};

static enum status ml_check(const json_t *job, struct error *err)
{
	return job_rules_check(job, &(struct ml_settings){ .lenient = true }, err);
}

static enum status ml_plan(const json_t *job, struct plan **ret_plan, struct error *err)
{
	return job_to_plan("p", job, "ab12cd34ef", &(struct ml_settings){ .lenient = true }, ret_plan, err);
}

static const struct plan_names names = { "p", "123", "us-central1", "1234567890123456789", "ab12cd34ef" };

static enum status custom_check(const json_t *job, struct error *err)
{
	return custom_job_rules_check(job, &(struct aiplatform_settings){ .lenient = true }, err);
}

static enum status custom_plan(const json_t *job, struct plan **ret_plan, struct error *err)
{
	return custom_job_to_plan(job, &names, &(struct aiplatform_settings){ .lenient = true }, ret_plan,
				  err);
}

static enum status tuning_check(const json_t *job, struct error *err)
{
	return tuning_job_rules_check(job, &(struct aiplatform_settings){ .lenient = true }, err);
}

static enum status tuning_plan(const json_t *job, struct plan **ret_plan, struct error *err)
{
	return tuning_job_to_plan(job, &names, &(struct aiplatform_settings){ .lenient = true }, ret_plan,
				  err);
}

#define POOL                                                                                                 \
	"{'machineSpec':{'machineType':'n1-standard-4','acceleratorType':'NVIDIA_TESLA_T4','acceleratorCount':1},'replicaCount':1,'containerSpec':{'imageUri':'gcr.io/p/i'}}"

/* Further fields that some fields require. */
#define REST                                                                                                 \
	"'network':'projects/1/global/networks/n','serviceAccount':'a@b.iam.gserviceaccount.com',"           \
	"'baseOutputDirectory':{'outputUriPrefix':'gs://bucket/d'}"

static const struct family families[] = {
	{ &ml_job,
	  "{'jobId':'j','trainingInput':{'region':'us-central1','scaleTier':'CUSTOM','masterType':'n1-standard-4',"
	  "'workerType':'n1-standard-4','workerCount':1,'parameterServerType':'n1-standard-4','parameterServerCount':1,"
	  "'evaluatorType':'n1-standard-4','evaluatorCount':1,"
	  "'masterConfig':{'imageUri':'gcr.io/p/i:1'}}}",
	  ml_check, ml_plan, 55 },
	{ &aiplatform_custom_job, "{'displayName':'d','jobSpec':{'workerPoolSpecs':[" POOL "]," REST "}}",
	  custom_check, custom_plan, 34 },
	{ &aiplatform_tuning_job_beta,
	  "{'displayName':'d','maxTrialCount':1,'parallelTrialCount':1,'trialJobSpec':{'workerPoolSpecs':[" POOL
	  "]," REST "},'studySpec':{'metrics':[{'metricId':'acc','goal':'MAXIMIZE'}],"
	  "'parameters':[{'parameterId':'lr','doubleValueSpec':{'minValue':0.1,'maxValue':1}}]}}",
	  tuning_check, tuning_plan, 71 },
};

/* Fields for which the rules accept only certain values. */
static const struct {
	const char *name, *value;
} samples[] = {
	{ "network", "'projects/1/global/networks/n'" },
	{ "kmsKeyName", "'projects/p/locations/us-central1/keyRings/r/cryptoKeys/k'" },
	{ "encryptionConfig", "{'kmsKeyName':'projects/p/locations/us-central1/keyRings/r/cryptoKeys/k'}" },
	{ "encryptionSpec", "{'kmsKeyName':'projects/p/locations/us-central1/keyRings/r/cryptoKeys/k'}" },
	{ "serviceAccount", "'a@b.iam.gserviceaccount.com'" },
	{ "tensorboard", "'projects/p/locations/us-central1/tensorboards/1'" },
	{ "pythonModule", "'trainer.task'" },
	{ "packageUris", "['gs://bucket/p.tar.gz']" },
	{ "jobDir", "'gs://bucket/d'" },
	{ "outputUriPrefix", "'gs://bucket/d'" },
	{ "hyperparameters", "{'params':[{'parameterName':'p','type':'DOUBLE','minValue':0,'maxValue':1}]}" },
	{ "diskConfig", "{'bootDiskSizeGb':100}" },
	{ "diskSpec", "{'bootDiskSizeGb':100}" },
	{ "strategy", "'LOW_COST'" },
	{ "experiment", "'projects/p/locations/us-central1/metadataStores/m/contexts/c'" },
	{ "experimentRun", "'projects/p/locations/us-central1/metadataStores/m/contexts/c'" },
	{ "reservationAffinity", "{'reservationAffinityType':'NO_RESERVATION'}" },
	{ "reservedIpRanges", "['range']" },
	{ "pscInterfaceConfig",
	  "{'networkAttachment':'projects/p/regions/us-central1/networkAttachments/n'}" },
	{ "nfsMounts", "[{'server':'s','path':'/p','mountPoint':'/mnt/nfs/m'}]" },
	{ "lustreMounts", "[{'instanceIp':'1.2.3.4','volumeHandle':'v','filesystem':'f','mountPoint':'m'}]" },
	{ "protectedArtifactLocationId", "'us-central1'" },
	{ "models", "['projects/p/locations/us-central1/models/m']" },
};

static json_t *value_of(const struct field *field)
{
	const struct enum_value *last = field->enum_type ? field->enum_type->values : NULL;

	for (size_t i = 0; i < COUNT_OF(samples); i++)
		if (strcmp(samples[i].name, field->name) == 0)
			return json_of(samples[i].value);
	if (field->flags & FIELD_MAP)
		return json_object();
	switch (field->type) {
	case FIELD_BOOL:
		return json_true();
	case FIELD_INT32:
	case FIELD_INT64:
	case FIELD_DOUBLE:
		return json_integer(1);
	case FIELD_DURATION:
		return json_string("3600s");
	case FIELD_TIMESTAMP:
		return json_string("2030-01-01T00:00:00Z");
	case FIELD_STRUCT:
	case FIELD_VALUE:
	case FIELD_MESSAGE:
		return json_object();
	case FIELD_ENUM:
		while (last[1].name)
			last++;
		return json_string(last->name);
	case FIELD_STRING:
	case FIELD_BYTES:
	case FIELD_MASK:
		break;
	}
	return json_string("abcd");
}

/* Sets the last of @path in @body; makes the objects on the way. */
static void field_set(json_t *body, const struct field *const *path, size_t depth)
{
	for (size_t i = 0; i + 1 < depth; i++) {
		json_t *next = json_object_get(body, path[i]->name);

		if (!next) {
			next = path[i]->flags & FIELD_REPEATED ? json_pack("[{}]") : json_object();
			json_object_set_new(body, path[i]->name, next);
		}
		body = json_is_array(next) ? json_array_get(next, 0) : next;
	}
	json_object_set_new(body, path[depth - 1]->name, value_of(path[depth - 1]));
}

/* Whether the help of any field of the path, or of its message, has these words. */
static bool help_says(const struct field *const *path, size_t depth, const char *words)
{
	for (size_t i = 0; i < depth; i++)
		if (strstr(path[i]->help, words) ||
		    (path[i]->message && strstr(path[i]->message->help, words)))
			return true;
	return false;
}

/* Whether @told is a field of the path: "jobSpec.workerPoolSpecs[0].diskSpec" is diskSpec and everything below it. */
static bool is_of_path(const char *told, const struct field *const *path, size_t depth)
{
	for (size_t i = 0; i < depth && *told; i++) {
		const size_t length = strlen(path[i]->name);

		if (strncmp(told, path[i]->name, length) != 0)
			return false;
		told += length;
		if (*told == '[')
			told = strchr(told, ']') + 1;
		if (*told == '.')
			told++;
		else if (*told)
			return false;
	}
	return true;
}

/* Choice: deviations about a value, rather than about the field, are ignored. */
static bool is_told_without_effect(const json_t *deviations, const struct field *const *path, size_t depth)
{
	size_t i;
	const json_t *told;

	json_array_foreach(deviations, i, told) {
		const char *field = json_text_at(told, "field");

		if (strcmp(json_text_at(told, "kind"), "WITHOUT_EFFECT") == 0 && field &&
		    strcmp(json_text_at(told, "code"), "cloud-tpu") != 0 && is_of_path(field, path, depth))
			return true;
	}
	return false;
}

static unsigned wrong;

static void path_tell(const struct field *const *path, size_t depth, const char *text)
{
	for (size_t i = 0; i < depth; i++)
		print_error("%s%s", i ? "." : "", path[i]->name);
	print_error(": %s; its help: %s\n", text, path[depth - 1]->help);
	wrong++;
}

/* Checks that a job with the field is treated as the help says; false: the value is invalid, so nothing was checked. */
static bool field_check(const struct family *family, const struct field *const *path, size_t depth)
{
	AUTO(json) json_t *body = json_of(family->base);
	AUTO(json) json_t *job = NULL;
	AUTO(plan) struct plan *plan = NULL;
	struct error err AUTO_ERROR = { 0 };
	bool is_refused;

	field_set(body, path, depth);
	if (message_read(family->root, body, "", &job, NULL))
		return false;
	is_refused = family->check(job, &err) != STATUS_OK;
	if (is_refused && !strstr(err.text, "trainyard"))
		return false;
	if (is_refused != help_says(path, depth, "be refused"))
		path_tell(path, depth, is_refused ? "it is refused" : "it is not refused");
	if (is_refused)
		return true;
	if (family->to_plan(job, &plan, &err))
		fail_msg("%s", err.text);
	if (is_told_without_effect(plan->deviations, path, depth) != help_says(path, depth, "without effect"))
		path_tell(path, depth, "only one of report and help says that it has no effect");
	return true;
}

/* Returns the number of checked fields. Fields with a help that mentions an effect must be among them. */
static unsigned fields_check(const struct family *family, const struct message *message,
			     const struct field **path, size_t depth)
{
	unsigned count = 0;

	for (const struct field *field = message->fields; field->name; field++) {
		if (field->flags & FIELD_OUTPUT_ONLY)
			continue;
		path[depth] = field;
		if (field_check(family, path, depth + 1))
			count++;
		else if (help_says(path + depth, 1, "be refused") ||
			 help_says(path + depth, 1, "without effect"))
			path_tell(path, depth + 1, "the test has no good value for it");
		if (field->message && depth + 1 < DEPTH_MAX && !help_says(path, depth + 1, "be refused") &&
		    !help_says(path, depth + 1, "without effect"))
			count += fields_check(family, field->message, path, depth + 1);
	}
	return count;
}

static void help_tells_what_becomes_of_a_field(void **state)
{
	const struct field *path[DEPTH_MAX];

	(void)state;
	for (size_t i = 0; i < COUNT_OF(families); i++) {
		const unsigned count = fields_check(&families[i], families[i].root, path, 0);

		print_message("%s: %u fields\n", families[i].root->full_name, count);
		assert_true(count >= families[i].fields);
	}
	assert_int_equal(wrong, 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_tells_what_becomes_of_a_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
