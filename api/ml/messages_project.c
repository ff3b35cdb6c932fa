/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a project's service accounts and locations. */
#include "api/ml/field_rows.h"
#include "api/ml/messages.h"

static const struct field config_fields[] = {
	FIELD("tpuServiceAccount", STRING, 0, "The account that Cloud TPUs use."),
	END_OF_FIELDS,
};
static const struct message config = { "google.cloud.ml.v1.Config", config_fields,
				       "Accounts for accelerators." };

static const struct field get_config_response_fields[] = {
	FIELD("serviceAccount", STRING, 0, "The account that jobs act as, unless they name another."),
	FIELD("serviceAccountProject", INT64, 0, "The number of the project."),
	MESSAGE("config", config, 0, "Accounts for accelerators."),
	END_OF_FIELDS,
};
const struct message ml_get_config_response = { "google.cloud.ml.v1.GetConfigResponse",
						get_config_response_fields,
						"The service accounts of a project." };

static const struct enum_value capability_type_values[] = {
	{ "TYPE_UNSPECIFIED", 0, "Not specified." },
	{ "TRAINING", 1, "Training jobs." },
	{ "BATCH_PREDICTION", 2, "Batch predictions; trainyard offers them in no region." },
	{ "ONLINE_PREDICTION", 3, "Online predictions; trainyard offers them in no region." },
	END_OF_VALUES,
};
static const struct enum_type capability_type = { "google.cloud.ml.v1.Capability.Type",
						  capability_type_values };

static const struct field capability_fields[] = {
	ENUM("type", capability_type, 0, "What can be run."),
	ENUM("availableAccelerators", ml_accelerator_type, REPEATED, "With which accelerators."),
	END_OF_FIELDS,
};
static const struct message capability = { "google.cloud.ml.v1.Capability", capability_fields,
					   "Something that can be run in a location." };

static const struct field location_fields[] = {
	FIELD("name", STRING, 0, "projects/PROJECT/locations/REGION"),
	MESSAGE("capabilities", capability, REPEATED, "What can be run there."),
	END_OF_FIELDS,
};
const struct message ml_location = { "google.cloud.ml.v1.Location", location_fields,
				     "A region and what can be run in it." };

static const struct field list_locations_query_fields[] = {
	FIELD("pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD("pageSize", INT32, 0, "How many locations at most; 20 unless given, never more than 100."),
	END_OF_FIELDS,
};
const struct message ml_list_locations_query = { "google.cloud.ml.v1.ListLocationsRequest",
						 list_locations_query_fields,
						 "Which page of the locations." };

static const struct field list_locations_response_fields[] = {
	MESSAGE("locations", ml_location, REPEATED, "The locations in rising order."),
	FIELD("nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	END_OF_FIELDS,
};
const struct message ml_list_locations_response = { "google.cloud.ml.v1.ListLocationsResponse",
						    list_locations_response_fields, "A page of locations." };
