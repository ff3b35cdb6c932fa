/* SPDX-License-Identifier: Apache-2.0 */
#include "api/ml/policy_rules.h"

#include "api/ml/messages.h"
#include "tests/unit/api/message/json_testing.h"

static enum status check(const char *text, struct error *err)
{
	AUTO(json) json_t *given = json_of(text);
	AUTO(json) json_t *policy = NULL;

	assert_int_equal(message_read(&ml_policy, given, "policy", &policy, NULL), STATUS_OK);
	return policy_rules_check(policy, err);
}

static void members_are_named_in_known_ways(void **state)
{
	static const char *const good[] = {
		"allUsers",
		"allAuthenticatedUsers",
		"user:ada@example.com",
		"serviceAccount:robot@demo.iam.gserviceaccount.com",
		"serviceAccount:demo.svc.id.goog[space/name]",
		"group:team@example.com",
		"domain:example.com",
		"domain:a-b.example.com",
		"principal://iam.googleapis.com/locations/global/workforcePools/p/subject/s",
		"principalSet://iam.googleapis.com/locations/global/workforcePools/p/*",
		"deleted:user:ada@example.com?uid=123",
		"deleted:serviceAccount:robot@demo.iam.gserviceaccount.com?uid=123",
		"deleted:group:team@example.com?uid=123",
		"deleted:principal://iam.googleapis.com/locations/global/workforcePools/p/subject/s",
	};
	static const char *const bad[] = {
		"",
		"allUser",
		"allUsers:",
		"allUsersx",
		"ada@example.com",
		"user:",
		"user:ada",
		"user:@example.com",
		"user:ada@",
		"user:a@b@c",
		"user:a b@c.d",
		"User:ada@example.com",
		"group:",
		"domain:",
		"domain:com",
		"domain:.com",
		"domain:a..b",
		"domain:a.",
		"domain:a b.c",
		"principal://",
		"principal:///x",
		"principal://x",
		"principal://x/",
		"principalSet://a/ b",
		"deleted:user:ada@example.com",
		"deleted:user:ada@example.com?uid=",
		"deleted:user:ada@example.com?uid=x",
		"deleted:allUsers",
		"serviceAccount:demo.svc.id.goog[space]",
		"serviceAccount:demo.svc.id.goog[/name]",
		"serviceAccount:demo.svc.id.goog[space/]",
		"serviceAccount:.svc.id.goog[a/b]",
		"serviceAccount:demo.svc.id.goog[a/b",
		"projectOwner:demo",
		"user:ada@example.com\n",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++)
		if (!policy_member_valid(good[i]))
			fail_msg("%s is no member", good[i]);
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		if (policy_member_valid(bad[i]))
			fail_msg("%s is a member", bad[i]);
}

static void good_policies_pass(void **state)
{
	static const char *const good[] = {
		"{}",
		"{'version':0}",
		"{'version':1,'bindings':[]}",
		"{'version':3,'bindings':[{'role':'roles/ml.viewer','members':['allUsers']}]}",
		"{'bindings':[{'role':'projects/p/roles/My_Role.x','members':['allUsers']},"
		"{'role':'organizations/1/roles/r','members':['allUsers']}]}",
		"{'version':3,'bindings':[{'role':'roles/a','members':['allUsers'],"
		"'condition':{'title':'t','expression':'true'}}]}",
		"{'auditConfigs':[{'service':'allServices','auditLogConfigs':[{'logType':'DATA_READ',"
		"'exemptedMembers':['user:a@b.c']}]}]}",
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(good); i++) {
		struct error err AUTO_ERROR = { 0 };

		if (check(good[i], &err))
			fail_msg("%s: %s", good[i], err.text);
	}
}

static void each_rule_names_the_field_that_breaks_it(void **state)
{
	static const struct {
		const char *policy, *field;
	} rows[] = {
		{ "{'version':2}", "policy.version" },
		{ "{'version':-1}", "policy.version" },
		{ "{'version':1,'bindings':[{'role':'roles/a','members':['allUsers'],"
		  "'condition':{'title':'t','expression':'true'}}]}",
		  "policy.version" },
		{ "{'bindings':[{'members':['allUsers']}]}", "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'viewer','members':['allUsers']}]}", "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'roles/','members':['allUsers']}]}", "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'x roles/a','members':['allUsers']}]}", "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'roles/a b','members':['allUsers']}]}", "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'projects/p/viewer','members':['allUsers']}]}",
		  "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'xroles/a','members':['allUsers']}]}", "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'roles/a b','members':['allUsers']}]}", "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'projects//roles/a','members':['allUsers']}]}",
		  "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'roles/a_withcond_2b17cc25d2cd9e2c54d8','members':['allUsers']}]}",
		  "policy.bindings[0].role" },
		{ "{'bindings':[{'role':'roles/a','members':['allUsers']},{'role':'roles/a'}]}",
		  "policy.bindings[1].members" },
		{ "{'bindings':[{'role':'roles/a','members':['allUsers','ada']}]}",
		  "policy.bindings[0].members[1]" },
		{ "{'version':3,'bindings':[{'role':'roles/a','members':['allUsers'],'condition':{'title':'t'}}]}",
		  "policy.bindings[0].condition.expression" },
		{ "{'version':3,'bindings':[{'role':'roles/a','members':['allUsers'],"
		  "'condition':{'expression':'true'}}]}",
		  "policy.bindings[0].condition.title" },
		{ "{'auditConfigs':[{'auditLogConfigs':[{'logType':1}]}]}",
		  "policy.audit_configs[0].service" },
		{ "{'auditConfigs':[{'service':'x'}]}", "policy.audit_configs[0].audit_log_configs" },
		{ "{'auditConfigs':[{'service':'x','auditLogConfigs':[{}]}]}",
		  "policy.audit_configs[0].audit_log_configs[0].log_type" },
		{ "{'auditConfigs':[{'service':'x','auditLogConfigs':[{'logType':1},{'logType':2,"
		  "'exemptedMembers':['allUsers','x']}]}]}",
		  "policy.audit_configs[0].audit_log_configs[1].exempted_members[1]" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct error err AUTO_ERROR = { 0 };

		if (check(rows[i].policy, &err) != STATUS_INVALID_ARGUMENT)
			fail_msg("%s passes", rows[i].policy);
		assert_int_equal(err.violation_count, 1);
		assert_string_equal(err.violations[0].field, rows[i].field);
	}
}

/* Two bindings that share @count members of a kind. */
static enum status check_many(const char *member, int count)
{
	AUTO(json) json_t *policy = json_object();
	json_t *bindings = json_array();

	json_object_set_new(policy, "bindings", bindings);
	for (int b = 0; b < 2; b++) {
		json_t *members = json_array();

		for (int i = 0; i < count / 2 + (b ? count % 2 : 0); i++)
			json_array_append_new(members, json_string(member));
		json_array_append_new(bindings,
				      json_pack("{s:s, s:o}", "role", "roles/a", "members", members));
	}
	return policy_rules_check(policy, NULL);
}

static void members_and_groups_are_counted_over_all_bindings(void **state)
{
	(void)state;
	assert_int_equal(check_many("user:a@b.c", POLICY_PRINCIPALS_MAX), STATUS_OK);
	assert_int_equal(check_many("user:a@b.c", POLICY_PRINCIPALS_MAX + 1), STATUS_INVALID_ARGUMENT);
	assert_int_equal(check_many("group:a@b.c", POLICY_GROUPS_MAX), STATUS_OK);
	assert_int_equal(check_many("group:a@b.c", POLICY_GROUPS_MAX + 1), STATUS_INVALID_ARGUMENT);
}

static void very_many_faults_are_told_in_part(void **state)
{
	AUTO(json) json_t *policy = json_pack("{s:[]}", "bindings");
	struct error err AUTO_ERROR = { 0 };

	(void)state;
	for (int i = 0; i < 5000; i++)
		json_array_append_new(json_object_get(policy, "bindings"), json_object());
	assert_int_equal(policy_rules_check(policy, &err), STATUS_INVALID_ARGUMENT);
	assert_in_range(err.violation_count, 100, 102);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_named_in_known_ways),
		cmocka_unit_test(good_policies_pass),
		cmocka_unit_test(each_rule_names_the_field_that_breaks_it),
		cmocka_unit_test(members_and_groups_are_counted_over_all_bindings),
		cmocka_unit_test(very_many_faults_are_told_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
