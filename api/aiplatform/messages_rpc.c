/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

/* The requests of gRPC: one message has all that HTTP puts into path, query and body. */
static const struct field named_fields[] = {
	FIELD(1, "name", STRING, 0, ""),
	END_OF_FIELDS,
};
const struct message aiplatform_named_request = { "a request for what has a name", named_fields, "" };

static const struct field list_fields[] = {
	FIELD(1, "parent", STRING, 0, ""),  FIELD(2, "filter", STRING, 0, ""),
	FIELD(3, "pageSize", INT32, 0, ""), FIELD(4, "pageToken", STRING, 0, ""),
	FIELD(5, "readMask", MASK, 0, ""),  END_OF_FIELDS,
};
const struct message aiplatform_list_request = { "a request for a page of resources", list_fields, "" };

#define CREATE_REQUEST(SYMBOL, FIELD_NAME, OF)                                                               \
	static const struct field SYMBOL##_fields[] = {                                                      \
		FIELD(1, "parent", STRING, 0, ""),                                                           \
		MESSAGE(2, FIELD_NAME, OF, 0, ""),                                                           \
		END_OF_FIELDS,                                                                               \
	};                                                                                                   \
	const struct message SYMBOL = { "a request that creates", SYMBOL##_fields, "" }

CREATE_REQUEST(aiplatform_custom_job_create, "customJob", aiplatform_custom_job);
CREATE_REQUEST(aiplatform_tuning_job_create, "hyperparameterTuningJob", aiplatform_tuning_job);
CREATE_REQUEST(aiplatform_tuning_job_create_beta, "hyperparameterTuningJob", aiplatform_tuning_job_beta);
CREATE_REQUEST(aiplatform_pipeline_create, "trainingPipeline", aiplatform_training_pipeline);

static const struct field model_versions_fields[] = {
	FIELD(1, "name", STRING, 0, ""),    FIELD(2, "pageToken", STRING, 0, ""),
	FIELD(3, "pageSize", INT32, 0, ""), FIELD(4, "filter", STRING, 0, ""),
	FIELD(5, "readMask", MASK, 0, ""),  END_OF_FIELDS,
};
const struct message aiplatform_model_versions = { "google.cloud.aiplatform.v1.ListModelVersionsRequest",
						   model_versions_fields, "" };

static const struct field operation_list_fields[] = {
	FIELD(4, "name", STRING, 0, ""),
	FIELD(1, "filter", STRING, 0, ""),
	FIELD(2, "pageSize", INT32, 0, ""),
	FIELD(3, "pageToken", STRING, 0, ""),
	END_OF_FIELDS,
};
const struct message aiplatform_operation_list = { "google.longrunning.ListOperationsRequest",
						   operation_list_fields, "" };

static const struct field operation_wait_fields[] = {
	FIELD(1, "name", STRING, 0, ""),
	FIELD(2, "timeout", DURATION, 0, ""),
	END_OF_FIELDS,
};
const struct message aiplatform_operation_wait = { "google.longrunning.WaitOperationRequest",
						   operation_wait_fields, "" };

static const struct field location_list_fields[] = {
	FIELD(1, "name", STRING, 0, ""),
	FIELD(2, "filter", STRING, 0, ""),
	FIELD(3, "pageSize", INT32, 0, ""),
	FIELD(4, "pageToken", STRING, 0, ""),
	END_OF_FIELDS,
};
const struct message aiplatform_location_list = { "google.cloud.location.ListLocationsRequest",
						  location_list_fields, "" };
