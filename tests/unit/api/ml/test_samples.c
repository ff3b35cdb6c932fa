/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs as the service's public samples submit them: a configuration file and flags. Each is accepted, except for
 * retired versions. */
#include "api/ml/to_plan.h"
#include "tests/unit/api/ml/job_testing.h"

#define BODY(input) "{'jobId':'sample_20200101_000000','trainingInput':{'region':'us-central1'," input "}}"
#define CODE(at)    "'packageUris':['gs://bucket/" at "/trainer-0.1.tar.gz'],'pythonModule':'trainer.task'"
#define TF_2        "'runtimeVersion':'2.1','pythonVersion':'3.7'," CODE("a")
#define TF_1        "'runtimeVersion':'1.15','pythonVersion':'3.7'," CODE("b")
#define IMAGE       "'masterConfig':{'imageUri':'gcr.io/project/trainer:tag'}"
#define RANGE(name, type, least, most, scale)                                                                \
	"{'parameterName':'" name "','type':'" type "','minValue':" #least ",'maxValue':" #most              \
	",'scaleType':'" scale "'}"
#define TUNING(rest) "'hyperparameters':{'goal':'MAXIMIZE','maxTrials':4,'maxParallelTrials':2," rest "}"
#define TWO_RANGES                                                                                           \
	"'params':[" RANGE("batch-size", "INTEGER", 8, 256, "UNIT_LINEAR_SCALE") "," RANGE(                  \
		"learning-rate", "DOUBLE", 0.01, 0.1, "UNIT_LOG_SCALE") "]"

#define RETIRED "runtime_version", "is not supported or is deprecated"

static const struct {
	const char *body;
	unsigned replicas;        /* replicas in the plan; 0: refused */
	const char *field, *text; /* the field and text of the only violation */
} rows[] = {
	/* Packages on each tier. */
	{ BODY("'scaleTier':'BASIC'," TF_2), 1, NULL, NULL },
	{ BODY(TF_1), 1, NULL, NULL },
	{ BODY("'scaleTier':'BASIC_GPU','jobDir':'gs://bucket/models/x'," TF_1), 1, NULL, NULL },
	{ BODY("'scaleTier':'STANDARD_1','args':['--train-files','gs://bucket/t','--eval-steps=100']," TF_1),
	  8, NULL, NULL },
	{ BODY("'scaleTier':'PREMIUM_1'," TF_1), 31, NULL, NULL },
	{ BODY("'scaleTier':'BASIC_TPU'," TF_2), 1, NULL, NULL },
	/* Clusters of packages. */
	{ BODY("'scaleTier':'CUSTOM','masterType':'n1-highcpu-16','workerType':'n1-highcpu-16',"
	       "'parameterServerType':'n1-highmem-8','workerCount':4,'parameterServerCount':1," TF_1),
	  6, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'complex_model_m'," TF_1), 1, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'complex_model_m','workerType':'complex_model_m',"
	       "'parameterServerType':'complex_model_m','workerCount':10,'parameterServerCount':4," TF_1),
	  15, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'large_model','workerType':'complex_model_m',"
	       "'parameterServerType':'large_model','workerCount':60,'parameterServerCount':29," TF_1),
	  90, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'standard_gpu','workerType':'standard_gpu',"
	       "'parameterServerType':'complex_model_s','workerCount':2,'parameterServerCount':1," TF_1),
	  4, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'n1-standard-8','masterConfig':{'acceleratorConfig':{"
	       "'count':1,'type':'NVIDIA_TESLA_T4'}}," TF_2),
	  1, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'complex_model_m','workerType':'cloud_tpu',"
	       "'workerCount':1," TF_2),
	  1, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'standard','workerCount':1,'workerType':'cloud_tpu',"
	       "'workerConfig':{'acceleratorConfig':{'type':'TPU_V2','count':8}}," TF_1),
	  1, NULL, NULL },
	/* Runtime versions that the service itself no longer accepts. */
	{ BODY("'scaleTier':'STANDARD_1','runtimeVersion':'1.13','pythonVersion':'3.5'," CODE("c")), 0,
	  RETIRED },
	{ BODY("'runtimeVersion':'1.10'," CODE("c")), 0, RETIRED },
	{ BODY("'runtimeVersion':'1.14','pythonVersion':'2.7'," CODE("c")), 0, RETIRED },
	/* Containers. */
	{ BODY(IMAGE), 1, NULL, NULL },
	{ BODY("'scaleTier':'BASIC_GPU'," IMAGE ",'args':['--model-dir=gs://bucket/m','--epochs=10']"), 1,
	  NULL, NULL },
	{ BODY("'masterType':'n1-standard-16','workerCount':'1','workerType':'n1-standard-16',"
	       "'masterConfig':{'imageUri':'gcr.io/p/horovod:1','acceleratorConfig':{'count':'2','type':"
	       "'NVIDIA_TESLA_P100'}},'workerConfig':{'imageUri':'gcr.io/p/horovod:1','acceleratorConfig':{"
	       "'count':'2','type':'NVIDIA_TESLA_P100'}},'jobDir':'gs://bucket/j'"),
	  2, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'n1-highmem-8','workerType':'n1-standard-8','workerCount':9,"
	       "'parameterServerType':'n1-standard-4','parameterServerCount':3,'masterConfig':{'imageUri':"
	       "'gcr.io/aihub-c2t-containers/kfp-components/trainer/dist_xgboost@sha256:"
	       "7de885ef326e55b663ff0eb06724d580116953fe6a702383a113b2f306f308ae'}"),
	  13, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'n1-standard-8','masterConfig':{'acceleratorConfig':{'type':"
	       "'ACCELERATOR_TYPE_UNSPECIFIED','count':0},'imageUri':'gcr.io/p/caliban:x'},'workerCount':0"),
	  1, NULL, NULL },
	{ BODY("'masterType':'n1-standard-4','workerType':'cloud_tpu','workerCount':1,'workerConfig':{"
	       "'acceleratorConfig':{'type':'TPU_V3','count':8},'tpuTfVersion':'2.1'}," IMAGE),
	  1, NULL, NULL },
	{ BODY("'masterConfig':{'imageUri':'gcr.io/cloud-ml-algos/linear_learner_cpu:latest'},'jobDir':"
	       "'gs://bucket/algorithms','args':['--preprocess','--training_data_path=gs://bucket/d.csv',"
	       "'--model_type=classification','--batch_size=250','--learning_rate=0.1']"),
	  1, NULL, NULL },
	{ BODY("'scaleTier':'CUSTOM','masterType':'n1-highmem-16','workerType':'cloud_tpu','workerCount':1,"
	       "'masterConfig':{'imageUri':'gcr.io/cloud-ml-algos/image_classification:latest'}"),
	  1, NULL, NULL },
	/* A prebuilt image that runs packages. */
	{ BODY("'masterConfig':{'imageUri':'gcr.io/cloud-ml-public/training/pytorch-gpu.1-7'},'scaleTier':"
	       "'BASIC_GPU','jobDir':'gs://bucket/j'," CODE("d")),
	  1, NULL, NULL },
	/* Tuning. */
	{ BODY(IMAGE "," TUNING("'hyperparameterMetricTag':'epoch_accuracy'," TWO_RANGES)), 1, NULL, NULL },
	{ BODY("'masterType':'standard','workerCount':1,'workerType':'cloud_tpu','workerConfig':{"
	       "'tpuTfVersion':'1.15'}," IMAGE "," TUNING(
		       "'enableTrialEarlyStopping':true,'hyperparameterMetricTag':'top_5_accuracy','params':[" RANGE(
			       "base_learning_rate", "DOUBLE", 0.02, 0.5, "UNIT_REVERSE_LOG_SCALE") "]")),
	  1, NULL, NULL },
	{ BODY(IMAGE "," TUNING("'params':[" RANGE("alpha", "DOUBLE", 0.0, 10.0, "UNIT_LINEAR_SCALE") "," RANGE(
		  "scale-factor", "DOUBLE", 0.1, 1.0,
		  "UNIT_REVERSE_LOG_SCALE") ",{'parameterName':'criterion','type':'CATEGORICAL','categoricalValues':["
					    "'gini','entropy']},{'parameterName':'batch_size','type':'DISCRETE',"
					    "'discreteValues':[32,64,128]},{'parameterName':'tau','type':'DOUBLE',"
					    "'minValue':0.001,'maxValue':0.01}]")),
	  1, NULL, NULL },
	/* All names with underscores, as older clients write them. */
	{ "{'job_id':'sample','training_input':{'region':'us-central1','scale_tier':'CUSTOM','master_type':"
	  "'standard_gpu','master_config':{'image_uri':'gcr.io/p/i'},'hyperparameters':{'goal':'MAXIMIZE',"
	  "'hyperparameter_metric_tag':'recall_at_10','max_trials':10,'max_parallel_trials':5,'params':[{"
	  "'parameter_name':'learning_rate','type':'DOUBLE','min_value':0.001,'max_value':0.3,'scale_type':"
	  "'UNIT_LOG_SCALE'}]}}}",
	  1, NULL, NULL },
	{ "{'job_id':'sample','training_input':{'region':'us-central1','scale_tier':'STANDARD_1',"
	  "'master_config':{'image_uri':'gcr.io/p/i'},'job_dir':'gs://bucket/d'}}",
	  8, NULL, NULL },
};

static void samples_are_taken_or_refused_as_retired_alone(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *body = json_of(rows[i].body);
		AUTO(json) json_t *job = job_of_body(body);
		AUTO(plan) struct plan *plan = NULL;
		struct error err AUTO_ERROR = { 0 };
		enum status rc = job_rules_check(job, &strict, &err);

		if (!rc)
			rc = job_to_plan("p", job, "ab12cd34ef", &strict, &plan, &err);
		if (plan ? !rows[i].replicas : rows[i].replicas)
			fail_msg("%s: %s", rows[i].body, rc ? err.text : "taken");
		if (plan) {
			assert_int_equal(plan_replica_count(plan), rows[i].replicas);
			continue;
		}
		if (!has_violation(&err, rows[i].field, rows[i].text))
			fail_msg("%s: %s", rows[i].body, err.text);
		assert_int_equal(err.violation_count, 1);
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_taken_or_refused_as_retired_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
