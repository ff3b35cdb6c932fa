/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/aiplatform/aiplatform_testing.h"

#define JOB        "{'displayName':'x','jobSpec':{'workerPoolSpecs':[" POOL "]}}"
#define POOL_FIELD "1.Field: job_spec.worker_pool_specs[0]."
#define LABELS                                                                                                     \
	"1.Field: labels; Message: There can be no more than 64 labels attached to a single resource. Label keys " \
	"and values can only contain lowercase letters, numbers, dashes and underscores. Label keys must start "   \
	"with a letter or number, must be less than 64 characters in length, and must be less that 128 bytes in "  \
	"length when encoded in UTF-8. Label values must be less than 64 characters in length, and must be less "  \
	"that 128 bytes in length when encoded in UTF-8."

/* A job with these pools, with one pool, and with one pool that has this machine, container or package. */
#define POOLS(pools) "{'jobSpec':{'workerPoolSpecs':[" pools "]}}"
#define MACHINE(spec)                                                                                        \
	POOLS("{'machineSpec':{" spec "},'replicaCount':1,'containerSpec':{'imageUri':'gcr.io/p/i'}}")
#define CONTAINER(own) POOLS("{'machineSpec':{'machineType':'n1-standard-4'},'containerSpec':{" own "}}")
#define PACKAGED(own)  POOLS("{'machineSpec':{'machineType':'n1-standard-4'},'pythonPackageSpec':{" own "}}")
#define MORE(own)                                                                                            \
	POOLS("{'machineSpec':{'machineType':'n1-standard-4'},'containerSpec':{'imageUri':'i'}," own "}")
#define SECOND(own)                                                                                          \
	POOLS(POOL ",{'machineSpec':{'machineType':'n1-standard-4'},'containerSpec':{'imageUri':'i'}" own "}")
#define SPEC(own) "{'jobSpec':{" own "}}"
#define MOUNTED(own)                                                                                               \
	SPEC("'workerPoolSpecs':[{'machineSpec':{'machineType':'n1-standard-4'},'containerSpec':{'imageUri':'i'}," \
	     "'nfsMounts':[{'server':'s','path':'/p','mountPoint':'m'}]}]," own)
#define NFS_NETWORK                                                                                               \
	"job_spec.network; Message: A network or a Private Service Connect interface must be specified when NFS " \
	"shares are mounted."
#define L4                                                                                                   \
	"{'machineSpec':{'machineType':'g2-standard-8','acceleratorType':'NVIDIA_L4','acceleratorCount':1},"

static enum status check(const json_t *job, struct error *err)
{
	return custom_job_rules_check(job, &strict, err);
}

static void jobs_are_checked(void **state)
{
	/* clang-format off */
	static const struct rule_row rows[] = {
		{ "{}", NULL },
		{ "{'displayName':null}", "1.Field: display_name; Message: The display name must be specified." },
		{ "{'jobSpec':null}", "1.Field: job_spec; Message: The job spec must be specified." },
		{ "{'labels':{'1a-_':'','\xc3\xa9':'x'}}", NULL },
		{ "{'labels':{'A':'x'}}", LABELS },
		{ "{'labels':{'-a':'x'}}", LABELS },
		{ "{'labels':{'a':'B'}}", LABELS },
		{ "{'displayName':'','encryptionSpec':{'kmsKeyName':'k'}}",
		  "1.Field: display_name; Message: The display name must be specified.|2.Field: "
		  "encryption_spec.kms_key_name; Message: 'k' is not a key: it should be "
		  "projects/PROJECT/locations/REGION/keyRings/RING/cryptoKeys/KEY." },
		{ POOLS(""), "1.Field: job_spec.worker_pool_specs; Message: At least one worker pool must be specified." },
		{ POOLS("{}"), "1.Field: job_spec.worker_pool_specs[0]; Message: The first worker pool cannot be skipped." },
		{ POOLS(POOL ",{},{},{}"), NULL },
		{ POOLS(POOL ",{},{},{},{}"), "1.Field: job_spec.worker_pool_specs; Message: At most 4 worker pools can be specified, not 5." },
		{ MORE("'replicaCount':2"), POOL_FIELD "replica_count; Message: The replica count of the first worker pool must be 1, not 2." },
		{ MORE("'replicaCount':0"), NULL },
		{ SECOND(",'replicaCount':3"), NULL },
		{ SECOND(""), "1.Field: job_spec.worker_pool_specs[1].replica_count; Message: The replica count must be from 1 to 1000, not 0." },
		{ POOLS("{'machineSpec':{'machineType':'n1-standard-4'}}"),
		  "1.Field: job_spec.worker_pool_specs[0]; Message: Exactly one of container_spec and python_package_spec must be specified." },
		{ POOLS("{'replicaCount':1}"),
		  POOL_FIELD "machine_spec.machine_type; Message: The machine type must be specified.|2.Field: "
		  "job_spec.worker_pool_specs[0]; Message: Exactly one of container_spec and python_package_spec must be specified." },
		{ MORE("'diskSpec':{'bootDiskType':'hyperdisk-balanced','bootDiskSizeGb':64000}"), NULL },
		{ MORE("'diskSpec':{'bootDiskType':'ssd','bootDiskSizeGb':99}"),
		  POOL_FIELD "disk_spec.boot_disk_type; Message: The boot disk type must be pd-ssd, pd-standard or hyperdisk-balanced, not 'ssd'."
		  "|2.Field: job_spec.worker_pool_specs[0].disk_spec.boot_disk_size_gb; Message: The boot disk size must be from 100 to 64000, not 99." },
		/* Fails with: check_job_spec() without check_nfs_network(); mounts_nfs() that looks at the first pool alone */
		{ MORE("'nfsMounts':[{'server':'s','path':'p'}]"),
		  POOL_FIELD "nfs_mounts[0].mount_point; Message: It must be specified.|2.Field: "
		  "job_spec.worker_pool_specs[0].nfs_mounts[0].path; Message: The path must begin with '/': 'p'.|3.Field: " NFS_NETWORK },
		{ SECOND(",'replicaCount':1,'nfsMounts':[{'server':'s','path':'/p','mountPoint':'m'}]"), "1.Field: " NFS_NETWORK },
		{ MOUNTED("'pscInterfaceConfig':{'networkAttachment':'a'}"),
		  POOL_FIELD "nfs_mounts; Message: trainyard mounts no NFS shares: leave nfsMounts out." },
		{ MOUNTED("'network':'projects/1/global/networks/n'"),
		  POOL_FIELD "nfs_mounts; Message: trainyard mounts no NFS shares: leave nfsMounts out." },
		{ MORE("'lustreMounts':[{'instanceIp':'s','volumeHandle':'p','filesystem':'f'}]"),
		  POOL_FIELD "lustre_mounts[0].mount_point; Message: It must be specified." },
	};
	/* clang-format on */

	(void)state;
	assert_rule_rows(&aiplatform_custom_job, JOB, check, rows, COUNT_OF(rows));
}

static void machines_and_accelerators_are_checked(void **state)
{
	/* clang-format off */
	static const struct rule_row rows[] = {
		{ MACHINE("'machineType':'n2d-standard-4'"), POOL_FIELD "machine_spec.machine_type; Message: Machine type \"n2d-standard-4\" is not supported." },
		{ MACHINE("'machineType':'n1-standard-2'"), POOL_FIELD "machine_spec.machine_type; Message: Machine type \"n1-standard-2\" is not supported." },
		{ MACHINE("'machineType':'standard_gpu'"), POOL_FIELD "machine_spec.machine_type; Message: Machine type \"standard_gpu\" is not supported." },
		{ MACHINE("'machineType':'n1-standard-4','acceleratorType':'NVIDIA_TESLA_T4'"),
		  POOL_FIELD "machine_spec.accelerator_type; Message: Both `accelerator_type` and `accelerator_count` should be specified or none." },
		{ MACHINE("'machineType':'n1-standard-4','acceleratorCount':1"),
		  POOL_FIELD "machine_spec.accelerator_type; Message: Both `accelerator_type` and `accelerator_count` should be specified or none." },
		{ MACHINE("'machineType':'n1-standard-4','acceleratorCount':0"), NULL },
		{ MACHINE("'machineType':'n1-standard-4','acceleratorType':'NVIDIA_TESLA_K80','acceleratorCount':1"),
		  POOL_FIELD "machine_spec.accelerator_type; Message: Accelerator \"NVIDIA_TESLA_K80\" is not supported for machine type \"n1-standard-4\"." },
		{ MACHINE("'machineType':'e2-standard-4','acceleratorType':'NVIDIA_TESLA_T4','acceleratorCount':1"),
		  POOL_FIELD "machine_spec.accelerator_type; Message: Accelerator \"NVIDIA_TESLA_T4\" is not supported for machine type \"e2-standard-4\"." },
		{ MACHINE("'machineType':'g2-standard-8','acceleratorType':'NVIDIA_L4','acceleratorCount':8"),
		  POOL_FIELD "machine_spec.accelerator_count; Message: The accelerator count \"8\" is not allowed. The allowed numbers of "
		  "accelerator \"NVIDIA_L4\" to use with machine type \"g2-standard-8\" are: [1]." },
		{ MACHINE("'machineType':'n1-standard-4','acceleratorType':'NVIDIA_TESLA_T4','acceleratorCount':3"),
		  POOL_FIELD "machine_spec.accelerator_count; Message: The accelerator count \"3\" is not allowed. The allowed numbers of "
		  "accelerator \"NVIDIA_TESLA_T4\" to use with machine type \"n1-standard-4\" are: [1, 2, 4]." },
		{ MACHINE("'machineType':'a2-highgpu-1g'"), NULL },
		{ MACHINE("'machineType':'a3-highgpu-8g','acceleratorType':'NVIDIA_H100_80GB','acceleratorCount':8"), NULL },
		{ MACHINE("'machineType':'cloud-tpu','acceleratorType':'TPU_V3','acceleratorCount':32"), NULL },
		{ MACHINE("'machineType':'cloud-tpu'"), POOL_FIELD "machine_spec.accelerator_type; Message: An accelerator type must be specified for machine type \"cloud-tpu\"." },
		{ MACHINE("'machineType':'ct5lp-hightpu-4t','tpuTopology':'2x2'"), NULL },
		{ MACHINE("'machineType':'ct5lp-hightpu-4t'"), POOL_FIELD "machine_spec.tpu_topology; Message: A TPU topology must be specified for machine type \"ct5lp-hightpu-4t\"." },
		{ MACHINE("'machineType':'ct5lp-hightpu-4t','tpuTopology':'2*2'"), POOL_FIELD "machine_spec.tpu_topology; Message: '2*2' is not a TPU topology such as 2x2." },
		{ MACHINE("'machineType':'n1-standard-4','tpuTopology':'2x2'"), POOL_FIELD "machine_spec.tpu_topology; Message: A TPU topology cannot be specified for machine type \"n1-standard-4\"." },
		{ POOLS("{'machineSpec':{'machineType':'ct5lp-hightpu-4t','tpuTopology':'2x2'},'containerSpec':{'imageUri':'i'}}," POOL),
		  "1.Field: job_spec.worker_pool_specs; Message: A job with a TPU has one worker pool only." },
		{ MACHINE("'machineType':'n1-standard-4','gpuPartitionSize':'1g.10gb'"),
		  POOL_FIELD "machine_spec.gpu_partition_size; Message: The accelerator count must be 1 when a GPU partition size is specified." },
		{ MACHINE("'machineType':'n1-standard-4','reservationAffinity':{'reservationAffinityType':3}"),
		  POOL_FIELD "machine_spec.reservation_affinity; Message: Both key and values must be specified with SPECIFIC_RESERVATION." },
	};
	/* clang-format on */

	(void)state;
	assert_rule_rows(&aiplatform_custom_job, JOB, check, rows, COUNT_OF(rows));
}

static void tasks_are_checked(void **state)
{
	/* clang-format off */
	static const struct rule_row rows[] = {
		{ CONTAINER("'imageUri':'A'"),
		  POOL_FIELD "container_spec.image_uri; Message: 'A' is not a Docker image URI: it should be [HOST[:PORT]/]PATH[:TAG][@DIGEST], with a lowercase path." },
		{ CONTAINER(""), POOL_FIELD "container_spec.image_uri; Message: The image must be specified." },
		{ CONTAINER("'imageUri':'i','env':[{'name':'A','value':'1'},{'name':'A'}]"), POOL_FIELD "container_spec.env; Message: EnvVar names must be unique." },
		{ CONTAINER("'imageUri':'i','env':[{'name':'1A'},{}]"),
		  POOL_FIELD "container_spec.env[0].name; Message: '1A' is not a valid C identifier.|2.Field: "
		  "job_spec.worker_pool_specs[0].container_spec.env[1].name; Message: The name must be specified." },
		{ PACKAGED(""),
		  POOL_FIELD "python_package_spec.executor_image_uri; Message: The image must be specified.|2.Field: "
		  "job_spec.worker_pool_specs[0].python_package_spec.package_uris; Message: At least one package must be specified.|3.Field: "
		  "job_spec.worker_pool_specs[0].python_package_spec.python_module; Message: The Python module must be specified." },
		{ PACKAGED("'executorImageUri':'i','packageUris':['p'],'pythonModule':'a b'"),
		  POOL_FIELD "python_package_spec.package_uris[0]; Message: 'p' is not a Cloud Storage object: it should be gs://BUCKET/OBJECT.|2.Field: "
		  "job_spec.worker_pool_specs[0].python_package_spec.python_module; Message: 'a b' is not the name of a Python module." },
		{ PACKAGED("'executorImageUri':'i','packageUris':['gs://bucket/p'],'pythonModule':'a.b'"), NULL },
	};
	/* clang-format on */

	(void)state;
	assert_rule_rows(&aiplatform_custom_job, JOB, check, rows, COUNT_OF(rows));
}

static void specs_are_checked(void **state)
{
	/* clang-format off */
	static const struct rule_row rows[] = {
		{ SPEC("'scheduling':{'timeout':'0s'}"), "1.Field: job_spec.scheduling.timeout; Message: The timeout must be longer than 0s, not 0s." },
		{ SPEC("'scheduling':{'timeout':'604801s'}"), NULL },
		{ SPEC("'scheduling':{'maxWaitDuration':'1s'}"), NULL },
		{ SPEC("'scheduling':{'maxWaitDuration':'-1s'}"), "1.Field: job_spec.scheduling.max_wait_duration; Message: The duration must not be negative: -1s." },
		{ SPEC("'scheduling':{'strategy':'FLEX_START'}"),
		  "1.Field: job_spec.scheduling.strategy; Message: FLEX_START is for L4, A100, H100, H200 and B200 GPUs only: worker pool 0 has none of them." },
		{ SPEC("'workerPoolSpecs':[" L4 "'containerSpec':{'imageUri':'i'}}],'scheduling':{'strategy':'FLEX_START','timeout':'604801s','maxWaitDuration':'0s'}"),
		  "1.Field: job_spec.scheduling.timeout; Message: With FLEX_START the timeout must be at most 604800s, not 604801s." },
		{ SPEC("'workerPoolSpecs':[" L4 "'containerSpec':{'imageUri':'i'}}],'scheduling':{'strategy':'FLEX_START'}"), NULL },
		{ SPEC("'baseOutputDirectory':{'outputUriPrefix':'/tmp'}"),
		  "1.Field: job_spec.base_output_directory.output_uri_prefix; Message: '/tmp' is not a Cloud Storage path: it should be gs://BUCKET or gs://BUCKET/PATH." },
		{ SPEC("'baseOutputDirectory':{}"), "1.Field: job_spec.base_output_directory.output_uri_prefix; Message: The prefix must be specified." },
		{ SPEC("'network':'projects/p/global/networks/n'"),
		  "1.Field: job_spec.network; Message: 'projects/p/global/networks/n' is malformed: it should be projects/PROJECT_NUMBER/global/networks/NAME, "
		  "with the project's number, not its id." },
		{ SPEC("'serviceAccount':'x'"), "1.Field: job_spec.service_account; Message: 'x' is not the e-mail address of a service account." },
		{ SPEC("'tensorboard':'projects/p/locations/l/tensorboards/1'"),
		  "1.Field: job_spec.service_account; Message: A service account must be specified when tensorboard is.|2.Field: "
		  "job_spec.base_output_directory; Message: An output directory must be specified when tensorboard is." },
		{ SPEC("'persistentResourceId':'r'"), "1.Field: job_spec.persistent_resource_id; Message: trainyard has no persistent resources: leave persistentResourceId out, or serve with --validation lenient." },
		{ SPEC("'persistentResourceId':'r','serviceAccount':'x'"), "1.Field: job_spec.service_account; Message: 'x' is not the e-mail address of a service account." },
	};
	/* clang-format on */

	(void)state;
	assert_rule_rows(&aiplatform_custom_job, JOB, check, rows, COUNT_OF(rows));
}

static void what_has_limits_may_reach_them(void **state)
{
	AUTO(json) json_t *job = patched(&aiplatform_custom_job, JOB, "{}");
	json_t *pool = json_array_get(json_object_get(json_object_get(job, "jobSpec"), "workerPoolSpecs"), 0);
	json_t *container = json_object_get(pool, "containerSpec");
	json_t *env = json_array();
	char *arg = calloc(1, 100001);
	struct error err AUTO_ERROR = { 0 };
	struct error more AUTO_ERROR = { 0 };

	(void)state;
	memset(arg, 'a', 100000);
	json_object_set_new(container, "args", json_pack("[s]", arg));
	json_object_set_new(container, "env", env);
	for (int i = 0; i < 100; i++)
		json_array_append_new(env, json_pack("{s:o}", "name", json_sprintf("A%d", i)));
	json_object_set_new(job, "displayName", json_stringn(arg, 128));
	assert_int_equal(custom_job_rules_check(job, &strict, &err), STATUS_OK);
	json_array_append_new(json_object_get(container, "args"), json_string("\xc3\xa9"));
	json_array_append_new(env, json_pack("{s:s}", "name", "B"));
	json_object_set_new(job, "displayName", json_stringn(arg, 129));
	custom_job_rules_check(job, &strict, &more);
	assert_int_equal(more.violation_count, 3);
	assert_string_equal(more.violations[0].text,
			    "The display name must have at most 128 characters, not 129.");
	assert_string_equal(more.violations[1].text,
			    "The arguments must have at most 100000 characters in total, not 100001.");
	assert_string_equal(more.violations[2].text,
			    "There can be at most 100 environment variables, not 101.");
	free(arg);
}

/* If there are too many items, the single items are not checked, since matching patterns takes time. */
static void what_is_too_many_is_not_looked_at(void **state)
{
	/* clang-format off */
	static const struct rule_row rows[] = {
		{ SPEC("'workerPoolSpecs':[{},{},{},{},{'replicaCount':'-1'}]"),
		  "1.Field: job_spec.worker_pool_specs; Message: At most 4 worker pools can be specified, not 5." },
	};
	/* clang-format on */
	AUTO(json)
	json_t *job = patched(&aiplatform_custom_job, JOB,
			      "{'jobSpec':{'workerPoolSpecs':[{'machineSpec':{'machineType':'n1-standard-4'},"
			      "'pythonPackageSpec':" PYTHON_PACKAGE "}}]}}");
	json_t *pool = json_array_get(json_object_get(json_object_get(job, "jobSpec"), "workerPoolSpecs"), 0);
	json_t *package = json_object_get(pool, "pythonPackageSpec");
	json_t *uris = json_array(), *env = json_array();
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	json_object_set_new(package, "packageUris", uris);
	json_object_set_new(package, "env", env);
	for (int i = 0; i < 101; i++) {
		json_array_append_new(uris, json_string("none"));
		json_array_append_new(env, json_pack("{s:s}", "name", "1"));
	}
	custom_job_rules_check(job, &strict, &err);
	assert_int_equal(err.violation_count, 2);
	assert_string_equal(err.violations[0].text, "At most 100 packages can be specified, not 101.");
	assert_string_equal(err.violations[1].text,
			    "There can be at most 100 environment variables, not 101.");
	assert_rule_rows(&aiplatform_custom_job, JOB, check, rows, COUNT_OF(rows));
}

static void lenient_settings_take_machines_of_the_future(void **state)
{
	static const struct aiplatform_settings lenient = { .lenient = true };
	AUTO(json)
	json_t *job = patched(&aiplatform_custom_job, JOB, MACHINE("'machineType':'z9-standard-4'"));
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(custom_job_rules_check(job, &lenient, &err), STATUS_OK);
}

/* Fails with: without lenient's part in check_attached(). */
static void lenient_settings_take_accelerators_of_the_past(void **state)
{
	static const struct aiplatform_settings lenient = { .lenient = true };
	AUTO(json)
	json_t *job = patched(
		&aiplatform_custom_job, JOB,
		MACHINE("'machineType':'n1-standard-4','acceleratorType':'NVIDIA_TESLA_K80','acceleratorCount':1"));
	AUTO(json)
	json_t *many = patched(
		&aiplatform_custom_job, JOB,
		MACHINE("'machineType':'n1-standard-4','acceleratorType':'NVIDIA_TESLA_K80','acceleratorCount':3"));
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(custom_job_rules_check(job, &lenient, &err), STATUS_OK);
	assert_int_equal(custom_job_rules_check(many, &lenient, &err), STATUS_INVALID_ARGUMENT);
}

/* Fails with: without lenient's part in check_job_spec_capabilities(). */
static void lenient_settings_take_persistent_resources(void **state)
{
	static const struct aiplatform_settings lenient = { .lenient = true };
	AUTO(json) json_t *job = patched(&aiplatform_custom_job, JOB, SPEC("'persistentResourceId':'r'"));
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	assert_int_equal(custom_job_rules_check(job, &lenient, &err), STATUS_OK);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_are_checked),
		cmocka_unit_test(machines_and_accelerators_are_checked),
		cmocka_unit_test(tasks_are_checked),
		cmocka_unit_test(specs_are_checked),
		cmocka_unit_test(what_has_limits_may_reach_them),
		cmocka_unit_test(what_is_too_many_is_not_looked_at),
		cmocka_unit_test(lenient_settings_take_machines_of_the_future),
		cmocka_unit_test(lenient_settings_take_accelerators_of_the_past),
		cmocka_unit_test(lenient_settings_take_persistent_resources),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
