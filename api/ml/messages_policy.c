/* SPDX-License-Identifier: Apache-2.0 */
/* The IAM messages of ml.googleapis.com: the policy of a job.
 * Source: https://github.com/googleapis/googleapis/blob/master/google/iam/v1/policy.proto (order of the fields) */
#include "api/ml/field_rows.h"
#include "api/ml/messages.h"

static const struct field condition_fields[] = {
	FIELD("expression", STRING, REQUIRED,
	      "When it holds, in the Common Expression Language; kept, never evaluated."),
	FIELD("title", STRING, REQUIRED, "A short name of the condition."),
	FIELD("description", STRING, 0, "More words about it."),
	FIELD("location", STRING, 0, "Where the expression comes from, for error reports."),
	END_OF_FIELDS,
};
static const struct message condition = { "google.type.Expr", condition_fields,
					  "A condition on the request or the job." };

static const struct field binding_fields[] = {
	FIELD("role", STRING, REQUIRED,
	      "What is granted: roles/NAME, projects/P/roles/NAME or organizations/N/roles/NAME."),
	FIELD("members", STRING, REPEATED | REQUIRED,
	      "The members that have it: allUsers, allAuthenticatedUsers, user:MAIL, serviceAccount:MAIL, group:MAIL, "
	      "domain:NAME, principal://… or principalSet://…, and what was deleted of these."),
	MESSAGE("condition", condition, 0, "Grants the role only while this holds; with version 3 only."),
	END_OF_FIELDS,
};
static const struct message binding = { "google.iam.v1.Binding", binding_fields,
					"A role and its members." };

static const struct enum_value log_type_values[] = {
	{ "LOG_TYPE_UNSPECIFIED", 0, "Refused: a type has to be given." },
	{ "ADMIN_READ", 1, "Reads of metadata." },
	{ "DATA_WRITE", 2, "Writes of data." },
	{ "DATA_READ", 3, "Reads of data." },
	END_OF_VALUES,
};
static const struct enum_type log_type = { "google.iam.v1.AuditLogConfig.LogType", log_type_values };

static const struct field audit_log_config_fields[] = {
	ENUM("logType", log_type, REQUIRED, "Which calls to write down."),
	FIELD("exemptedMembers", STRING, REPEATED, "Calls of these are not logged; named like members of a binding."),
	END_OF_FIELDS,
};
static const struct message audit_log_config = { "google.iam.v1.AuditLogConfig", audit_log_config_fields,
						 "One kind of calls to write down." };

static const struct field audit_config_fields[] = {
	FIELD("service", STRING, REQUIRED, "The service, such as ml.googleapis.com, or allServices."),
	MESSAGE("auditLogConfigs", audit_log_config, REPEATED | REQUIRED, "The kinds of calls."),
	END_OF_FIELDS,
};
static const struct message audit_config = {
	"google.iam.v1.AuditConfig", audit_config_fields,
	"Which calls of a service to write down; kept, without effect."
};

static const struct field policy_fields[] = {
	FIELD("version", INT32, 0,
	      "The form of the policy: 3 when a binding has a condition, else 1; 0 means 1."),
	FIELD("etag", BYTES, 0,
	      "Changes with every change of the policy; send it back to change only what you read."),
	MESSAGE("bindings", binding, REPEATED,
		"The grants: 1500 members at most in all of them together, 250 groups among them."),
	MESSAGE("auditConfigs", audit_config, REPEATED, "Which calls to write down."),
	END_OF_FIELDS,
};
const struct message ml_policy = { "google.iam.v1.Policy", policy_fields,
				   "Access to a job. It is kept and repeated; trainyard lets every caller do "
				   "everything whatever it says." };

static const struct field get_policy_options_fields[] = {
	FIELD("requestedPolicyVersion", INT32, 0,
	      "The newest form that the caller understands: 0, 1 or 3. Below 3, conditions are left out and their "
	      "roles renamed."),
	END_OF_FIELDS,
};
static const struct message get_policy_options = { "google.iam.v1.GetPolicyOptions",
						   get_policy_options_fields, "How to answer." };

static const struct field get_iam_policy_query_fields[] = {
	MESSAGE("options", get_policy_options, 0, "How to answer."),
	END_OF_FIELDS,
};
const struct message ml_get_iam_policy_query = { "google.iam.v1.GetIamPolicyRequest",
						 get_iam_policy_query_fields, "How to show the policy." };

static const struct field set_iam_policy_fields[] = {
	MESSAGE("policy", ml_policy, REQUIRED, "The policy to put in the place of the present one."),
	FIELD("updateMask", MASK, 0, "Which parts of it to replace; bindings,etag unless given."),
	END_OF_FIELDS,
};
const struct message ml_set_iam_policy = { "google.iam.v1.SetIamPolicyRequest", set_iam_policy_fields,
					   "Replaces the policy of a job." };

static const struct field test_iam_permissions_fields[] = {
	FIELD("permissions", STRING, REPEATED | REQUIRED, "The permissions asked about, without wildcards."),
	END_OF_FIELDS,
};
const struct message ml_test_iam_permissions = { "google.iam.v1.TestIamPermissionsRequest",
						 test_iam_permissions_fields,
						 "Which of these does the caller have?" };

static const struct field test_iam_permissions_response_fields[] = {
	FIELD("permissions", STRING, REPEATED, "Those of them that the caller has."),
	END_OF_FIELDS,
};
const struct message ml_test_iam_permissions_response = { "google.iam.v1.TestIamPermissionsResponse",
							  test_iam_permissions_response_fields,
							  "What the caller may do." };
