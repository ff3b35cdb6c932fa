/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/api/storage/storage_testing.h"

TEST(a_new_bucket_looks_as_on_the_service)
{
	struct seen made AUTO_SEEN = ask_for(200, "POST",
					     "/storage/v1/b?project=demo&projection=noAcl&alt=json"
					     "&enableObjectRetention=False",
					     "{'name':'new-bucket','location':'us-central1'}");
	struct seen got AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b/new-bucket?projection=full", NULL);

	(void)state_;
	assert_text(made, "kind", "storage#bucket");
	assert_text(made, "id", "new-bucket");
	assert_text(made, "name", "new-bucket");
	assert_text(made, "projectNumber", "123456789012");
	assert_text(made, "location", "US-CENTRAL1");
	assert_text(made, "locationType", "region");
	assert_text(made, "storageClass", "STANDARD");
	assert_text(made, "metageneration", "1");
	assert_text(made, "etag", "CAE=");
	assert_text(made, "timeCreated", "2026-11-20T00:00:00.000Z");
	assert_text(made, "updated", "2026-11-20T00:00:00.000Z");
	assert_text(made, "selfLink", "http://localhost:8090/storage/v1/b/new-bucket");
	assert_text(made, "iamConfiguration.publicAccessPrevention", "inherited");
	assert_true(json_equal(made.json, got.json));
}

TEST(a_storage_class_is_told_in_capitals)
{
	struct seen seen AUTO_SEEN = ask_for(200, "POST", "/storage/v1/b?project=demo",
					     "{'name':'one','storageClass':'nearline'}");

	(void)state_;
	assert_text(seen, "storageClass", "NEARLINE");
}

TEST(a_location_says_its_type)
{
	static const char *const rows[][3] = {
		{ "b-us", "{'name':'b-us'}", "multi-region" },
		{ "b-eu", "{'name':'b-eu','location':'eu'}", "multi-region" },
		{ "b-nam", "{'name':'b-nam','location':'NAM4'}", "dual-region" },
		{ "b-reg", "{'name':'b-reg','location':'europe-west4'}", "region" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct seen seen AUTO_SEEN =
			ask_for(200, "POST", "/storage/v1/b?project=123456789012", rows[i][1]);

		assert_text(seen, "name", rows[i][0]);
		assert_text(seen, "locationType", rows[i][2]);
	}
}

TEST(bad_buckets_are_refused)
{
	(void)state_;
	bucket_add("taken");
	refused(409, "conflict",
		"Your previous request to create the named bucket succeeded and you already own it.", "POST",
		"/storage/v1/b?project=demo", "{'name':'taken'}");
	refused(400, "required", "Required parameter: project", "POST", "/storage/v1/b", "{'name':'abc'}");
	refused(400, "required", "Required", "POST", "/storage/v1/b?project=demo", "{}");
	refused(400, "invalid", "Invalid bucket name: 'Upper'", "POST", "/storage/v1/b?project=demo",
		"{'name':'Upper'}");
	refused(400, "invalid", "location constraint", "POST", "/storage/v1/b?project=demo",
		"{'name':'abc','location':'no where'}");
	refused(400, "invalid", "Invalid storage class: COLD", "POST", "/storage/v1/b?project=demo",
		"{'name':'abc','storageClass':'COLD'}");
	refused(400, "invalid", "versioning.enabled", "POST", "/storage/v1/b?project=demo",
		"{'name':'abc','versioning':{'enabled':'perhaps'}}");
	refused(400, "invalid", "Invalid JSON", "POST", "/storage/v1/b?project=demo", "{");
	refused(404, "notFound", "The specified bucket does not exist.", "GET", "/storage/v1/b/none", NULL);
	refused(404, "notFound", "The specified bucket does not exist.", "DELETE", "/storage/v1/b/none",
		NULL);
	refused(404, "notFound", "The specified bucket does not exist.", "PATCH", "/storage/v1/b/none", "{}");
	refused(400, "invalidParameter", "softDeleted", "GET", "/storage/v1/b/taken?softDeleted=true", NULL);
}

TEST(metadata_have_their_limit)
{
	struct text body AUTO_TEXT = { 0 };

	(void)state_;
	bucket_add("taken");
	text_puts(&body, "{'name':'abc','website':{'mainPageSuffix':'");
	for (int i = 0; i < 64 << 10; i++)
		text_putc(&body, 'v');
	text_puts(&body, "'}}");
	refused(400, "invalid", "limited to 65536 bytes", "POST", "/storage/v1/b?project=demo", body.data);
	refused(400, "invalid", "limited to 65536 bytes", "PATCH", "/storage/v1/b/taken", body.data);
}

TEST(a_patch_changes_what_it_names)
{
	(void)state_;
	done(200, "POST", "/storage/v1/b?project=demo",
	     "{'name':'one','location':'eu','labels':{'a':'1','b':'2'},'versioning':{'enabled':true}}");
	time_pass(2);
	{
		struct seen seen AUTO_SEEN =
			ask_for(200, "PATCH", "/storage/v1/b/one",
				"{'labels':{'a':null,'c':'3'},'versioning':{'enabled':false},'location':'US',"
				"'name':'two','kind':'x','unknown':1}");
		AUTO(json) json_t *labels = json_pack("{s:s, s:s}", "b", "2", "c", "3");

		assert_true(json_equal(json_object_get(seen.json, "labels"), labels));
		assert_true(
			json_is_false(json_object_get(json_object_get(seen.json, "versioning"), "enabled")));
		assert_text(seen, "location", "EU");
		assert_text(seen, "name", "one");
		assert_text(seen, "metageneration", "2");
		assert_text(seen, "updated", "2026-11-20T00:00:02.000Z");
		assert_text(seen, "timeCreated", "2026-11-20T00:00:00.000Z");
	}
	{
		struct seen seen AUTO_SEEN = ask_for(200, "PATCH", "/storage/v1/b/one",
						     "{'labels':null,'retentionPolicy':"
						     "{'retentionPeriod':86400}}");

		assert_null(json_object_get(seen.json, "labels"));
		assert_text(seen, "retentionPolicy.retentionPeriod", "86400");
	}
}

TEST(an_update_replaces_all_but_the_location)
{
	(void)state_;
	done(200, "POST", "/storage/v1/b?project=demo",
	     "{'name':'one','location':'eu','labels':{'a':'1'},'cors':[{'method':['GET']}]}");
	{
		struct seen seen AUTO_SEEN =
			ask_for(200, "PUT", "/storage/v1/b/one",
				"{'iamConfiguration':{'uniformBucketLevelAccess':{'enabled':true}}}");
		const json_t *iam = json_object_get(seen.json, "iamConfiguration");

		assert_null(json_object_get(seen.json, "labels"));
		assert_null(json_object_get(seen.json, "cors"));
		assert_text(seen, "location", "EU");
		assert_true(json_true_at(json_object_get(iam, "bucketPolicyOnly"), "enabled"));
	}
	{
		struct text labels AUTO_TEXT = { 0 };

		text_puts(&labels, "{'labels':{'a0':''");
		for (int i = 1; i < 65; i++)
			text_printf(&labels, ",'a%d':''", i);
		text_puts(&labels, "}}");
		refused(400, "invalid", "at most 64 labels", "PUT", "/storage/v1/b/one", labels.data);
	}
}

TEST(conditions_of_a_bucket_must_hold)
{
	(void)state_;
	bucket_add("one");
	refused(412, "conditionNotMet", "At least one of the pre-conditions you specified did not hold.",
		"PATCH", "/storage/v1/b/one?ifMetagenerationMatch=2", "{}");
	refused(412, "conditionNotMet", "pre-conditions", "GET", "/storage/v1/b/one?ifMetagenerationMatch=0",
		NULL);
	refused(412, "conditionNotMet", "pre-conditions", "PUT",
		"/storage/v1/b/one?ifMetagenerationNotMatch=1", "{}");
	refused(412, "conditionNotMet", "pre-conditions", "DELETE",
		"/storage/v1/b/one?ifMetagenerationMatch=2", NULL);
	{
		struct seen seen AUTO_SEEN =
			ask_for(304, "GET", "/storage/v1/b/one?ifMetagenerationNotMatch=1", NULL);

		assert_string_equal(seen.body, "");
	}
	done(200, "PATCH", "/storage/v1/b/one?ifMetagenerationMatch=1", "{'labels':{'a':'1'}}");
	done(204, "DELETE", "/storage/v1/b/one?ifMetagenerationMatch=2", NULL);
	done(404, "GET", "/storage/v1/b/one", NULL);
}

TEST(only_an_empty_bucket_is_deleted)
{
	(void)state_;
	bucket_add("one");
	object_add("one", "x", "1");
	refused(409, "conflict", "The bucket you tried to delete is not empty.", "DELETE",
		"/storage/v1/b/one", NULL);
	done(204, "DELETE", "/storage/v1/b/one/o/x", NULL);
	{
		struct seen seen AUTO_SEEN = ask_for(204, "DELETE", "/storage/v1/b/one", NULL);

		assert_string_equal(seen.body, "");
		assert_null(strcasestr(seen.all, "\r\nContent-Type"));
	}
}

TEST(buckets_are_listed_by_name_and_in_pages)
{
	const char *token;

	(void)state_;
	bucket_add("b-2");
	bucket_add("a-1");
	bucket_add("b-1");
	done(200, "POST", "/storage/v1/b?project=other", "{'name':'a-other'}");
	struct seen first AUTO_SEEN =
		ask_for(200, "GET", "/storage/v1/b?project=123456789012&maxResults=2", NULL);
	token = text_of(&first, "nextPageToken");
	AUTO(string) char *path = path_of("/storage/v1/b?project=demo&pageToken=%s", token);
	struct seen second AUTO_SEEN = ask_for(200, "GET", path, NULL);
	struct seen some AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b?project=demo&prefix=b-", NULL);
	struct seen none AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b?project=demo&prefix=zz", NULL);

	assert_text(first, "kind", "storage#buckets");
	assert_int_equal(json_array_size(json_object_get(first.json, "items")), 2);
	assert_string_equal(json_text_at(json_array_get(json_object_get(first.json, "items"), 0), "name"),
			    "a-1");
	assert_int_equal(json_array_size(json_object_get(second.json, "items")), 1);
	assert_string_equal(json_text_at(json_array_get(json_object_get(second.json, "items"), 0), "name"),
			    "b-2");
	assert_null(json_object_get(second.json, "nextPageToken"));
	assert_int_equal(json_array_size(json_object_get(some.json, "items")), 2);
	assert_null(json_object_get(none.json, "items"));
	refused(400, "required", "Required parameter: project", "GET", "/storage/v1/b", NULL);
	refused(400, "invalid", "Invalid argument.", "GET", "/storage/v1/b?project=demo&pageToken=!", NULL);
	refused(400, "invalidParameter", "'-1'", "GET", "/storage/v1/b?project=demo&maxResults=-1", NULL);
}

TEST(what_a_bucket_never_has_is_an_empty_list)
{
	static const char *const rows[][2] = {
		{ "/storage/v1/b/one/managedFolders?pageSize=1000", "storage#managedFolders" },
		{ "/storage/v1/b/one/notificationConfigs", "storage#notifications" },
		{ "/storage/v1/b/one/acl", "storage#bucketAccessControls" },
		{ "/storage/v1/b/one/defaultObjectAcl", "storage#objectAccessControls" },
		{ "/storage/v1/b/one/o/x/acl", "storage#objectAccessControls" },
	};

	(void)state_;
	refused(404, "notFound", "bucket", "GET", rows[0][0], NULL);
	bucket_add("one");
	refused(404, "notFound", "No such object: one/x", "GET", rows[4][0], NULL);
	object_add("one", "x", "1");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct seen seen AUTO_SEEN = ask_for(200, "GET", rows[i][0], NULL);

		assert_text(seen, "kind", rows[i][1]);
		assert_int_equal(json_object_size(seen.json), 1);
	}
}

TEST(layout_policy_permissions_and_agent_are_told)
{
	(void)state_;
	bucket_add("one");
	struct seen layout AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b/one/storageLayout", NULL);
	struct seen policy AUTO_SEEN =
		ask_for(200, "GET", "/storage/v1/b/one/iam?optionsRequestedPolicyVersion=3", NULL);
	struct seen may AUTO_SEEN = ask_for(
		200, "GET",
		"/storage/v1/b/one/iam/testPermissions?permissions=storage.objects.get&permissions=storage.objects.list",
		NULL);
	struct seen agent AUTO_SEEN = ask_for(200, "GET", "/storage/v1/projects/demo/serviceAccount", NULL);

	assert_text(layout, "locationType", "multi-region");
	assert_true(json_is_false(
		json_object_get(json_object_get(layout.json, "hierarchicalNamespace"), "enabled")));
	assert_text(policy, "resourceId", "projects/_/buckets/one");
	assert_int_equal(json_array_size(json_object_get(policy.json, "bindings")), 2);
	assert_int_equal(json_array_size(json_object_get(may.json, "permissions")), 2);
	assert_text(agent, "email_address",
		    "service-123456789012@gs-project-accounts.iam.gserviceaccount.com");
}

TEST(a_method_that_is_not_here_says_so)
{
	(void)state_;
	done(404, "PUT", "/storage/v1/b/one/iam", "{}");
	done(404, "GET", "/storage/v1/projects/demo/hmacKeys", NULL);
}

/* Fails with: is_before_writing() that is always true; or always false. */
TEST(a_bucket_that_is_made_on_first_use_is_missing_before)
{
	static const struct {
		unsigned http_status;
		const char *query, *user_agent;
	} rows[] = {
		{ 404, "", "curl/8.0" },
		{ 404, "?prefix=a", "gcloud-python/3.1" },
		{ 404, "?delimiter=/",
		  "google-cloud-sdk gcloud/578.0.0 command/gcloud.storage.ls invocation-id/1" },
		{ 404, "?prefix=a", "google-cloud-sdk gcloud/578.0.0 command/gcloud.storage.ls" },
		{ 404, "", "google-cloud-sdk gcloud/578.0.0 command/gcloud.storage.cp invocation-id/1" },
		{ 404, "?prefix=a", "x command/scp" },
		{ 200, "?prefix=a",
		  "google-cloud-sdk gcloud/578.0.0 command/gcloud.storage.cp invocation-id/1" },
		{ 200, "?prefix=a",
		  "google-cloud-sdk gcloud/578.0.0 command/gcloud.alpha.storage.rsync i/1" },
		{ 200, "?prefix=a", "google-cloud-sdk gcloud/578.0.0 command/gcloud.storage.mv" },
		{ 200, "?prefix=a",
		  "apitools Python/3.11 gsutil/5.27 (linux) interactive/False command/cp-D" },
	};

	(void)state_;
	objects_free(yard.objects);
	objects_make("demo");
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *header = path_of("User-Agent: %s\r\n", rows[i].user_agent);
		AUTO(string) char *path = path_of("/storage/v1/b/fresh/o%s", rows[i].query);
		struct seen seen AUTO_SEEN = ask_with("GET", path, header, NULL);

		if (seen.http_status != rows[i].http_status)
			fail_msg("%s of %s: %u", path, rows[i].user_agent, seen.http_status);
		assert_true(seen.http_status != 200 || json_object_size(seen.json) == 1);
	}
	done(404, "GET", "/fresh", NULL);
	done(404, "GET", "/storage/v1/b/fresh", NULL);
	done(404, "GET", "/storage/v1/b/fresh/o/x", NULL);
	done(404, "GET", "/storage/v1/b/No-Bucket/o", NULL);
	object_add("fresh", "x", "1");
	done(200, "GET", "/storage/v1/b/fresh", NULL);
	struct seen list AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b?project=demo&prefix=fresh", NULL);

	assert_int_equal(json_array_size(json_object_get(list.json, "items")), 1);
}

/* Fails with: project_read() that takes what is named for a project. */
TEST(a_project_that_is_not_named_is_the_jobs_own)
{
	(void)state_;
	done(200, "POST", "/storage/v1/b?project=%3Cnone%3E", "{'name':'outside'}");
	yard.context.job_project = "its";
	done(200, "POST", "/storage/v1/b?project=%3Cnone%3E", "{'name':'inside'}");
	done(200, "POST", "/storage/v1/b", "{'name':'inside-too'}");
	done(200, "POST", "/storage/v1/b?project=", "{'name':'inside-three'}");
	struct seen named AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b?project=demo", NULL);
	struct seen none AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b?project=%3Cnone%3E", NULL);
	struct seen missing AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b", NULL);

	yard.context.job_project = NULL;
	struct seen its AUTO_SEEN = ask_for(200, "GET", "/storage/v1/b?project=its", NULL);

	assert_int_equal(json_array_size(json_object_get(named.json, "items")), 1);
	assert_non_null(strstr(named.body, "\"outside\""));
	assert_int_equal(json_array_size(json_object_get(its.json, "items")), 3);
	assert_true(json_equal(none.json, its.json) && json_equal(missing.json, its.json));
}

/* Fails with: storage_plain_may_have() without is_call(). */
TEST(a_call_of_an_unknown_version_is_no_bucket)
{
	static const char *const calls[] = {
		"/v1alpha1/projects/p/jobs",
		"/v2beta1/projects/p/locations/l/customJobs/1:cancel",
		"/v3/projects",
		"/v3/x",
		"/v1p1beta1/locations",
		"/v2alpha/entries:list",
		"/v1alpha1/publishers/google/models/m",
		"/v1p4beta1/images:annotate",
		"/v1internal/projects/p/jobs",
		"/oauth2/v9/certs",
	};
	static const char *const objects[] = { "/v1alpha1/x",          "/v1alpha1",
					       "/v1alpha1/x/projects", "/v1x/projects",
					       "/v1betax/projects",    "/va1/projects",
					       "/v1alpha1/Projects" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		struct seen seen AUTO_SEEN = ask_for(404, i % 2 ? "PUT" : "GET", calls[i], i % 2 ? "" : NULL);

		assert_non_null(strstr(json_text_at(json_object_get(seen.json, "error"), "message"),
				       "Method not found"));
	}
	for (size_t i = 0; i < COUNT_OF(objects); i++) {
		struct seen seen AUTO_SEEN = ask_for(404, "GET", objects[i], NULL);

		assert_non_null(strstr(seen.body, "<Code>NoSuchBucket</Code>"));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		STORAGE_TEST(a_bucket_that_is_made_on_first_use_is_missing_before),
		STORAGE_TEST(a_project_that_is_not_named_is_the_jobs_own),
		STORAGE_TEST(a_call_of_an_unknown_version_is_no_bucket),
		STORAGE_TEST(a_new_bucket_looks_as_on_the_service),
		STORAGE_TEST(a_storage_class_is_told_in_capitals),
		STORAGE_TEST(a_location_says_its_type),
		STORAGE_TEST(bad_buckets_are_refused),
		STORAGE_TEST(metadata_have_their_limit),
		STORAGE_TEST(a_patch_changes_what_it_names),
		STORAGE_TEST(an_update_replaces_all_but_the_location),
		STORAGE_TEST(conditions_of_a_bucket_must_hold),
		STORAGE_TEST(only_an_empty_bucket_is_deleted),
		STORAGE_TEST(buckets_are_listed_by_name_and_in_pages),
		STORAGE_TEST(what_a_bucket_never_has_is_an_empty_list),
		STORAGE_TEST(layout_policy_permissions_and_agent_are_told),
		STORAGE_TEST(a_method_that_is_not_here_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
