/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of long-running operations and of locations, which are the same in all APIs of Google.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/longrunning/operations.proto and
 * https://github.com/googleapis/googleapis/blob/master/google/cloud/location/locations.proto */
#include "api/aiplatform/field_rows.h"
#include "api/aiplatform/messages.h"

#define OF(NAME) "google.cloud.aiplatform.v1." NAME

static const struct field operation_fields[] = {
	FIELD(1, "name", STRING, 0, "projects/NUMBER/locations/L/operations/ID"),
	FIELD(2, "metadata", STRUCT, ANY, "What it does, and since when."),
	FIELD(3, "done", BOOL, 0, "Whether it is over."),
	CHOICE("result", 4, "error", aiplatform_status, 0, "Why it failed, or"),
	CHOICE_FIELD("result", 5, "response", STRUCT, ANY, "what it gave."),
	END_OF_FIELDS,
};
const struct message aiplatform_operation = { "google.longrunning.Operation", operation_fields,
					      "Something that takes time." };

static const struct field operation_list_request_fields[] = {
	FIELD(1, "filter", STRING, 0, "Which ones: done=true. Empty: all."),
	FIELD(2, "pageSize", INT32, 0, "How many at most."),
	FIELD(3, "pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD(5, "returnPartialSuccess", BOOL, 0,
	      "Give the operations that can be read, if others cannot; without effect."),
	END_OF_FIELDS,
};
const struct message aiplatform_operation_list_request = { "google.longrunning.ListOperationsRequest",
							   operation_list_request_fields,
							   "Which page of which operations." };

static const struct field operation_list_response_fields[] = {
	MESSAGE(1, "operations", aiplatform_operation, REPEATED, "The operations, newest first."),
	FIELD(2, "nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	FIELD(3, "unreachable", STRING, REPEATED, "What could not be read."),
	END_OF_FIELDS,
};
const struct message aiplatform_operation_list_response = { "google.longrunning.ListOperationsResponse",
							    operation_list_response_fields,
							    "A page of operations." };

static const struct field operation_wait_request_fields[] = {
	FIELD(2, "timeout", DURATION, 0, "How long to wait at most."),
	END_OF_FIELDS,
};
const struct message aiplatform_operation_wait_request = { "google.longrunning.WaitOperationRequest",
							   operation_wait_request_fields,
							   "How long to wait." };

static const struct field generic_operation_metadata_fields[] = {
	MESSAGE(1, "partialFailures", aiplatform_status, REPEATED | OUT, "Failures that did not end it."),
	FIELD(2, "createTime", TIMESTAMP, OUT, "When it began."),
	FIELD(3, "updateTime", TIMESTAMP, OUT, "When it was changed last."),
	END_OF_FIELDS,
};
static const struct message generic_operation_metadata = { OF("GenericOperationMetadata"),
							   generic_operation_metadata_fields,
							   "What all operations tell." };

static const struct field delete_operation_metadata_fields[] = {
	MESSAGE(1, "genericMetadata", generic_operation_metadata, 0, "What all operations tell."),
	END_OF_FIELDS,
};
const struct message aiplatform_delete_operation_metadata = { OF("DeleteOperationMetadata"),
							      delete_operation_metadata_fields,
							      "What a delete tells." };
const struct message aiplatform_delete_operation_metadata_beta = {
	"google.cloud.aiplatform.v1beta1.DeleteOperationMetadata", delete_operation_metadata_fields,
	"What a delete tells."
};

static const struct field location_fields[] = {
	FIELD(1, "name", STRING, 0, "projects/P/locations/L"),
	FIELD(2, "labels", STRING, MAP, "The service's own labels on it."),
	FIELD(3, "metadata", STRUCT, ANY, "What the service tells of it."),
	FIELD(4, "locationId", STRING, 0, "us-central1 and its like."),
	FIELD(5, "displayName", STRING, 0, "Its name, for people."),
	END_OF_FIELDS,
};
const struct message aiplatform_location = { "google.cloud.location.Location", location_fields,
					     "A place of the service." };

static const struct field location_list_request_fields[] = {
	FIELD(2, "filter", STRING, 0, "Which ones; without effect."),
	FIELD(3, "pageSize", INT32, 0, "How many at most."),
	FIELD(4, "pageToken", STRING, 0, "The nextPageToken of the previous page."),
	FIELD(5, "extraLocationTypes", STRING, REPEATED, "Kinds of locations to add; without effect."),
	END_OF_FIELDS,
};
const struct message aiplatform_location_list_request = { "google.cloud.location.ListLocationsRequest",
							  location_list_request_fields,
							  "Which page of the locations." };

static const struct field location_list_response_fields[] = {
	MESSAGE(1, "locations", aiplatform_location, REPEATED, "The locations."),
	FIELD(2, "nextPageToken", STRING, 0, "Asks for the next page; absent on the last."),
	END_OF_FIELDS,
};
const struct message aiplatform_location_list_response = { "google.cloud.location.ListLocationsResponse",
							   location_list_response_fields,
							   "A page of locations." };
