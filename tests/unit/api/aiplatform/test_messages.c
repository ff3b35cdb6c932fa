/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/aiplatform/aiplatform_testing.h"

struct row {
	const struct message *message;
	const char *given, *expected; /* the canonical form, or the error's text if it begins with "I" */
};

static void bodies_are_read_as_clients_send_them(void **state)
{
	static const struct row rows[] = {
		{ &aiplatform_custom_job,
		  "{'displayName':'x','labels':{},'webAccessUris':{},'name':'n','state':2,'createTime':null}",
		  "{'displayName':'x'}" },
		{ &aiplatform_custom_job_spec,
		  "{'worker_pool_specs':[{'machine_spec':{'machine_type':'n1-standard-4','acceleratorType':5,"
		  "'accelerator_count':1.0},'replica_count':1.0,'disk_spec':{'boot_disk_size_gb':100.0},"
		  "'containerSpec':{'imageUri':'i','args':['a']}},{}],'scheduling':{'strategy':null,"
		  "'timeout':'60s'}}",
		  "{'workerPoolSpecs':[{'machineSpec':{'machineType':'n1-standard-4',"
		  "'acceleratorType':'NVIDIA_TESLA_T4','acceleratorCount':1},'replicaCount':'1',"
		  "'diskSpec':{'bootDiskSizeGb':100},'containerSpec':{'imageUri':'i','args':['a']}},{}],"
		  "'scheduling':{'timeout':'60s'}}" },
		{ &aiplatform_custom_job_spec, "{'scheduling':{'strategy':4}}",
		  "{'scheduling':{'strategy':'SPOT'}}" },
		{ &aiplatform_study_spec,
		  "{'parameters':[{'parameterId':'a','integerValueSpec':{'minValue':1,'maxValue':'3',"
		  "'defaultValue':0},'scaleType':2,'conditionalParameterSpecs':[{'parentIntValues':{'values':[1]},"
		  "'parameterSpec':{'parameterId':'b','discreteValueSpec':{'values':[1,2.5]}}}]}],"
		  "'measurementSelectionType':2,'studyStoppingConfig':{'shouldStopAsap':false,'minNumTrials':0}}",
		  "{'parameters':[{'parameterId':'a','integerValueSpec':{'minValue':'1','maxValue':'3',"
		  "'defaultValue':'0'},'scaleType':'UNIT_LOG_SCALE','conditionalParameterSpecs':["
		  "{'parameterSpec':{'parameterId':'b','discreteValueSpec':{'values':[1,2.5]}},"
		  "'parentIntValues':{'values':['1']}}]}],'measurementSelectionType':'BEST_MEASUREMENT',"
		  "'studyStoppingConfig':{'shouldStopAsap':false,'minNumTrials':0}}" },
		{ &aiplatform_training_pipeline,
		  "{'displayName':'p','trainingTaskInputs':{'worker_pool_specs':[null]},'modelToUpload':"
		  "{'display_name':'m','containerSpec':{'imageUri':'i','ports':[{'containerPort':8080}],"
		  "'predictRoute':'/p','healthRoute':'/h'},'explanationSpec':{'x':{'y':1}},"
		  "'versionAliases':['default']}}",
		  "{'displayName':'p','trainingTaskInputs':{'worker_pool_specs':[null]},'modelToUpload':"
		  "{'displayName':'m','containerSpec':{'imageUri':'i','ports':[{'containerPort':8080}],"
		  "'predictRoute':'/p','healthRoute':'/h'},'explanationSpec':{'x':{'y':1}},"
		  "'versionAliases':['default']}}" },
		{ &aiplatform_tuning_job_beta, "{'studySpec':{'transferLearningConfig':{}}}",
		  "{'studySpec':{'transferLearningConfig':{}}}" },
		{ &aiplatform_tuning_job, "{'studySpec':{'transferLearningConfig':{}}}",
		  "Invalid JSON payload received. Unknown name 'transferLearningConfig' at 'r.study_spec': "
		  "Cannot find field." },
		{ &aiplatform_custom_job, "{'x':1}",
		  "Invalid JSON payload received. Unknown name 'x' at 'r': Cannot find field." },
		{ &aiplatform_custom_job_spec,
		  "{'workerPoolSpecs':[{'containerSpec':{},'pythonPackageSpec':{}}]}",
		  "Invalid value at 'r.worker_pool_specs[0]' (oneof), oneof field 'task' is already set. Cannot set "
		  "'pythonPackageSpec'" },
		{ &aiplatform_custom_job_spec,
		  "{'workerPoolSpecs':[{'containerSpec':{},'container_spec':{}}]}",
		  "Invalid value at 'r.worker_pool_specs[0]' (oneof), oneof field 'task' is already set. Cannot set "
		  "'container_spec'" },
		{ &aiplatform_custom_job_spec,
		  "{'workerPoolSpecs':[{'containerSpec':null,'pythonPackageSpec':{}}]}",
		  "{'workerPoolSpecs':[{'pythonPackageSpec':{}}]}" },
		{ &aiplatform_study_spec, "{'medianAutomatedStoppingSpec':{},'decay_curve_stopping_spec':{}}",
		  "Invalid value at 'r' (oneof), oneof field 'automated_stopping_spec' is already set. Cannot set "
		  "'decay_curve_stopping_spec'" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(json) json_t *body = json_of(rows[i].given);
		AUTO(json) json_t *canonical = NULL;
		struct error err AUTO_ERROR = { 0 };

		if (!message_read(rows[i].message, body, "r", &canonical, &err)) {
			assert_json_text(canonical, rows[i].expected);
			continue;
		}
		for (char *c = err.text; *c; c++)
			*c = *c == '"' ? '\'' : *c;
		assert_string_equal(err.text, rows[i].expected);
	}
}

static void assert_numbered(const struct message *message, unsigned depth)
{
	unsigned before = 0;

	for (const struct field *field = message->fields; field->name; field++) {
		if (field->number <= before)
			fail_msg("%s.%s: its number %u is not above %u", message->full_name, field->name,
				 field->number, before);
		if (!field->help || !*field->help)
			fail_msg("%s.%s has no help", message->full_name, field->name);
		before = field->number;
		if (field->type == FIELD_MESSAGE && depth)
			assert_numbered(field->message, depth - 1);
	}
}

static void every_field_has_its_number_and_they_rise(void **state)
{
	static const struct message *const messages[] = {
		&aiplatform_custom_job,
		&aiplatform_tuning_job,
		&aiplatform_tuning_job_beta,
		&aiplatform_training_pipeline,
		&aiplatform_operation,
		&aiplatform_location,
		&aiplatform_tuning_task_inputs,
		&aiplatform_delete_operation_metadata,
		&aiplatform_custom_job_list_request,
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(messages); i++)
		assert_numbered(messages[i], 8);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bodies_are_read_as_clients_send_them),
		cmocka_unit_test(every_field_has_its_number_and_they_rise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
