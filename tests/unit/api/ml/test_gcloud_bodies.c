/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies as `gcloud ai-platform jobs submit` sends them, and the resulting plan or error. */
#include "api/ml/to_plan.h"
#include "tests/unit/api/ml/job_testing.h"

#define JOB(id, input)                                                                                       \
	"{'jobId':'" id "','trainingInput':{'enableWebAccess':false,'region':'us-central1'," input "}}"
#define IMAGE   "'masterConfig':{'imageUri':'gcr.io/demo-project/train:1'}"
#define RUNTIME "'pythonModule':'trainer.task','pythonVersion':'3.7','runtimeVersion':'2.11',"

static const struct {
	const char *what, *body;
	unsigned replicas;        /* replicas in the plan; 0: the job is refused */
	const char *field, *text; /* the field and text of the error; a NULL field: refused by the front end */
} rows[] = {
	{ "container", JOB("my_job", IMAGE), 1, NULL, NULL },
	{ "scale tier", JOB("tier_job", IMAGE ",'scaleTier':'BASIC_GPU'"), 1, NULL, NULL },
	{ "hyphen in the id", JOB("my-job", IMAGE), 0, "job.job_id",
	  "A name should start with a letter and contain only letters, numbers and underscores." },
	{ "accelerator",
	  JOB("gpu_job",
	      "'masterConfig':{'acceleratorConfig':{'count':'2','type':'NVIDIA_TESLA_K80'},"
	      "'imageUri':'gcr.io/demo-project/train:1'},'masterType':'n1-standard-8','scaleTier':'CUSTOM',"
	      "'useChiefInTfConfig':true"),
	  1, NULL, NULL },
	{ "distributed",
	  JOB("dist_job",
	      "'args':['--train-files','gs://my-bucket/train','--eval-steps=100','an argument with spaces'],"
	      "'masterConfig':{'imageUri':'gcr.io/demo-project/master:1'},'masterType':'complex_model_m',"
	      "'parameterServerConfig':{'imageUri':'gcr.io/demo-project/ps:1'},'parameterServerCount':'3',"
	      "'parameterServerType':'large_model','scaleTier':'CUSTOM',"
	      "'workerConfig':{'imageUri':'gcr.io/demo-project/worker:1'},'workerCount':'9',"
	      "'workerType':'large_model'"),
	  13, NULL, NULL },
	/* A file with containerCommand, and arguments after "--" on the command line. */
	{ "config with a command, and arguments from flags",
	  JOB("conf_job", "'args':['--from','flag'],'evaluatorCount':'1','evaluatorType':'n1-standard-4',"
			  "'masterConfig':{'acceleratorConfig':{'count':'1','type':'NVIDIA_TESLA_T4'},"
			  "'containerArgs':['echo master'],'containerCommand':['sh','-c'],"
			  "'diskConfig':{'bootDiskSizeGb':200,'bootDiskType':'pd-ssd'},"
			  "'imageUri':'gcr.io/demo-project/train:1'},'masterType':'n1-highmem-8',"
			  "'network':'projects/123/global/networks/default','scaleTier':'CUSTOM',"
			  "'useChiefInTfConfig':true,'workerCount':'2','workerType':'n1-standard-4'"),
	  0, "master_config.container_command", "cannot be given together with args" },
	{ "the same config without arguments",
	  JOB("conf_job", "'evaluatorCount':'1','evaluatorType':'n1-standard-4',"
			  "'masterConfig':{'acceleratorConfig':{'count':'1','type':'NVIDIA_TESLA_T4'},"
			  "'containerArgs':['echo master'],'containerCommand':['sh','-c'],"
			  "'diskConfig':{'bootDiskSizeGb':200,'bootDiskType':'pd-ssd'},"
			  "'imageUri':'gcr.io/demo-project/train:1'},'masterType':'n1-highmem-8',"
			  "'network':'projects/123/global/networks/default','scaleTier':'CUSTOM',"
			  "'useChiefInTfConfig':true,'workerCount':'2','workerType':'n1-standard-4'"),
	  4, NULL, NULL },
	{ "flags",
	  "{'jobId':'flag_job','labels':{'env':'dev','team':'ml'},'trainingInput':{'enableWebAccess':true,"
	  "'encryptionConfig':{'kmsKeyName':'projects/demo-project/locations/us-central1/keyRings/kr/"
	  "cryptoKeys/k1'},"
	  "'jobDir':'gs://my-bucket/out/dir'," IMAGE ",'region':'us-central1',"
	  "'serviceAccount':'sa@demo-project.iam.gserviceaccount.com'}}",
	  1, NULL, NULL },
	{ "a TPU version without a TPU",
	  JOB("net_job",
	      IMAGE ",'network':'projects/123/global/networks/default',"
		    "'workerConfig':{'imageUri':'gcr.io/demo-project/worker:1','tpuTfVersion':'2.11'}"),
	  0, "worker_config.tpu_tf_version", "TPU workers" },
	{ "tuning",
	  JOB("hp_job",
	      "'args':['--epochs','3'],'hyperparameters':{'algorithm':'RANDOM_SEARCH',"
	      "'enableTrialEarlyStopping':true,'goal':'MAXIMIZE','hyperparameterMetricTag':'accuracy',"
	      "'maxParallelTrials':2,'maxTrials':4,'params':["
	      "{'maxValue':0.1,'minValue':0.0001,'parameterName':'lr','scaleType':'UNIT_LOG_SCALE','type':'"
	      "DOUBLE'},"
	      "{'maxValue':64.0,'minValue':8.0,'parameterName':'units','scaleType':'UNIT_LINEAR_SCALE',"
	      "'type':'INTEGER'},{'categoricalValues':['sgd','adam'],'parameterName':'opt','type':'"
	      "CATEGORICAL'},"
	      "{'discreteValues':[16.0,32.0,64.0],'parameterName':'batch','type':'DISCRETE'}]},"
	      "'masterConfig':{'imageUri':'gcr.io/demo-project/hp:1'},'masterType':'n1-standard-4',"
	      "'scaleTier':'CUSTOM','scheduling':{'maxRunningTime':'3600s','priority':10}"),
	  1, NULL, NULL },
	{ "package path",
	  JOB("pkg_job", RUNTIME
	      "'args':['--epochs','3'],'packageUris':['gs://my-bucket/pkg_job/00/trainer-0.0.0.tar.gz']"),
	  1, NULL, NULL },
	{ "packages",
	  JOB("pkgs_job",
	      RUNTIME "'jobDir':'gs://my-bucket/jobs/1','packageUris':['gs://my-bucket/ready.tar.gz',"
		      "'gs://my-bucket/jobs/1/packages/00/dep.whl']"),
	  1, NULL, NULL },
	{ "large package",
	  JOB("large_job", RUNTIME "'packageUris':['gs://my-bucket/large_job/00/large.bin']"), 1, NULL,
	  NULL },
	{ "prediction",
	  "{'jobId':'bp_job','predictionInput':{'dataFormat':'TEXT','inputPaths':['gs://my-bucket/in'],"
	  "'outputPath':'gs://my-bucket/out','region':'us-central1','uri':'gs://my-bucket/model'}}",
	  0, "prediction_input", "Batch prediction is not emulated" },
	{ "unknown field", JOB("unknown_job", IMAGE ",'someUnknownField':7"), 0, NULL,
	  "Invalid JSON payload received. Unknown name \"someUnknownField\" at 'job.training_input': Cannot "
	  "find field." },
};

/* Does what a create does, without the store. */
static enum status create(const char *text, struct plan **ret_plan, struct error *err)
{
	AUTO(string) char *body = quoted(text);
	AUTO(json) json_t *parsed = NULL;
	AUTO(json) json_t *job = NULL;
	enum status rc = message_parse_body(body, strlen(body), &parsed, err);

	if (!rc)
		rc = message_read(&ml_job, parsed, "job", &job, err);
	if (!rc)
		rc = job_rules_check(job, &strict, err);
	if (!rc)
		rc = job_to_plan("demo-project", job, "0123456789", &strict, ret_plan, err);
	return rc;
}

static void what_gcloud_sends_is_taken_or_refused_in_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(plan) struct plan *plan = NULL;
		struct error err AUTO_ERROR = { 0 };
		enum status rc = create(rows[i].body, &plan, &err);

		if (rc && rows[i].replicas)
			fail_msg("%s: %s", rows[i].what, err.text);
		assert_int_equal(plan ? plan_replica_count(plan) : 0, rows[i].replicas);
		if (rows[i].replicas)
			continue;
		assert_int_equal(rc, STATUS_INVALID_ARGUMENT);
		if (rows[i].field && !has_violation(&err, rows[i].field, rows[i].text))
			fail_msg("%s: %s", rows[i].what, err.text);
		if (!rows[i].field)
			assert_string_equal(err.text, rows[i].text);
	}
}

/* Older clients write all names with underscores. */
static void snake_case_bodies_are_the_same_job(void **state)
{
	AUTO(plan) struct plan *plan = NULL;

	(void)state;
	assert_int_equal(
		create("{'job_id':'j','training_input':{'scale_tier':'CUSTOM','master_type':'standard',"
		       "'worker_type':'standard','worker_count':2,'region':'us-central1',"
		       "'master_config':{'image_uri':'i'},'job_dir':'gs://bucket/d'}}",
		       &plan, NULL),
		STATUS_OK);
	assert_int_equal(plan_replica_count(plan), 3);
	assert_string_equal(plan->job_dir, "gs://bucket/d");
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_gcloud_sends_is_taken_or_refused_in_words),
		cmocka_unit_test(snake_case_bodies_are_the_same_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
