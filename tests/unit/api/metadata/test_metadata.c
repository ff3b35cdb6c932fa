/* SPDX-License-Identifier: Apache-2.0 */
#include "api/metadata/metadata.h"

#include "tests/unit/api/metadata/metadata_testing.h"

#define FLAVOR "Metadata-Flavor: Google\r\n"
#define V1     "/computeMetadata/v1/"

static struct metadata_context context;
static struct family families[] = { { .name = "metadata",
				      .routes = metadata_routes,
				      .context = &context,
				      .lenient_query = true,
				      .error_render = metadata_error_render },
				    { .name = NULL } };

static int open_all(void **state)
{
	(void)state;
	yard_open(families);
	context = metadata_context_of();
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	yard_close();
	return 0;
}

/* Sends a request without closing its side: for an answer that waits, that would count as disconnected. */
static char *ask(const char *method, const char *path, const char *headers)
{
	struct text request AUTO_TEXT = { 0 };
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	text_printf(&request, "%s %s HTTP/1.1\r\nHost: metadata.localhost\r\n%sConnection: close\r\n\r\n",
		    method, path, headers);
	client_send(client, request.data, request.length);
	while (client_receive(client, &seen))
		;
	close(client);
	return text_take(&seen);
}

static char *get(const char *path)
{
	return ask("GET", path, FLAVOR);
}

static void is_ours(const char *answer)
{
	has(answer, "\r\nMetadata-Flavor: Google\r\n");
	has(answer, "\r\nServer: Metadata Server for VM\r\n");
	has(answer, "\r\nX-XSS-Protection: 0\r\n");
	has(answer, "\r\nX-Frame-Options: SAMEORIGIN\r\n");
}

static void status_is(const char *answer, unsigned status)
{
	char line[32];

	snprintf(line, sizeof(line), "HTTP/1.1 %u ", status);
	if (strncmp(answer, line, strlen(line)) != 0)
		fail_msg("not %u: %s", status, answer);
}

static void gives(const char *path, const char *type, const char *body)
{
	AUTO(string) char *answer = get(path);
	char header[64];

	status_is(answer, 200);
	is_ours(answer);
	snprintf(header, sizeof(header), "\r\nContent-Type: %s\r\n", type);
	has(answer, header);
	if (strcmp(body_of(answer), body) != 0)
		fail_msg("%s: %s\nnot\n%s", path, body_of(answer), body);
}

static void refuses(const char *path, unsigned status, const char *words)
{
	AUTO(string) char *answer = get(path);

	status_is(answer, status);
	is_ours(answer);
	has(answer, "\r\nContent-Type: text/html");
	has(body_of(answer), words);
}

TEST(every_value_is_there)
{
	static const struct {
		const char *path, *text, *json;
	} values[] = {
		{ "instance/cpu-platform", "Unknown CPU Platform", "\"Unknown CPU Platform\"" },
		{ "instance/description", "", "\"\"" },
		{ "instance/disks/0/device-name", "boot", "\"boot\"" },
		{ "instance/disks/0/index", "0", "0" },
		{ "instance/hostname", "cmle-training-worker-2.c.demo-project.internal",
		  "\"cmle-training-worker-2.c.demo-project.internal\"" },
		{ "instance/id", "4242", "4242" },
		{ "instance/machine-type", "projects/123456789012/machineTypes/n1-highmem-8",
		  "\"projects/123456789012/machineTypes/n1-highmem-8\"" },
		{ "instance/maintenance-event", "NONE", "\"NONE\"" },
		{ "instance/name", "cmle-training-worker-2", "\"cmle-training-worker-2\"" },
		{ "instance/network-interfaces/0/ip", "127.0.0.1", "\"127.0.0.1\"" },
		{ "instance/network-interfaces/0/mac", "42:01:7f:00:00:01", "\"42:01:7f:00:00:01\"" },
		{ "instance/preempted", "FALSE", "\"FALSE\"" },
		{ "instance/scheduling/on-host-maintenance", "MIGRATE", "\"MIGRATE\"" },
		{ "instance/service-accounts/default/aliases", "default\n", "[\"default\"]" },
		{ "instance/service-accounts/default/email", EMAIL, "\"" EMAIL "\"" },
		{ "instance/service-accounts/" EMAIL "/email", EMAIL, "\"" EMAIL "\"" },
		{ "instance/service-accounts/default/scopes", METADATA_SCOPE "\n",
		  "[\"" METADATA_SCOPE "\"]" },
		{ "instance/virtual-clock/drift-token", "0", "\"0\"" },
		{ "instance/zone", "projects/123456789012/zones/us-central1-b",
		  "\"projects/123456789012/zones/us-central1-b\"" },
		{ "project/numeric-project-id", "123456789012", "123456789012" },
		{ "project/project-id", "demo-project", "\"demo-project\"" },
		{ "universe/universe-domain", "googleapis.com", "\"googleapis.com\"" },
	};

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		char path[256];

		snprintf(path, sizeof(path), V1 "%s", values[i].path);
		gives(path, "application/text", values[i].text);
		snprintf(path, sizeof(path), V1 "%s?alt=json", values[i].path);
		gives(path, "application/json", values[i].json);
		snprintf(path, sizeof(path), V1 "%s?recursive=true&alt=text", values[i].path);
		gives(path, "application/text", values[i].text);
	}
	gives(V1 "instance/tags", "application/json", "[]");
	gives(V1 "instance/tags?alt=text", "application/text", "");
	(void)state_;
}

TEST(directories_list_what_is_in_them)
{
	(void)state_;
	gives("/", "application/text", "computeMetadata/\n");
	gives("/computeMetadata/", "application/text", "v1/\n");
	gives(V1, "application/text", "instance/\noslogin/\nproject/\nuniverse/\n");
	gives(V1 "project/", "application/text", "attributes/\nnumeric-project-id\nproject-id\n");
	gives(V1 "instance/attributes/", "application/text", "");
	gives(V1 "instance/disks/", "application/text", "0/\n");
	gives(V1 "instance/service-accounts/", "application/text", "default/\n" EMAIL "/\n");
	gives(V1 "instance/service-accounts/default/", "application/text",
	      "aliases\nemail\nidentity\nscopes\ntoken\n");
	gives(V1 "instance/", "application/text",
	      "attributes/\ncpu-platform\ndescription\ndisks/\nguest-attributes/\nhostname\nid\n"
	      "image\nlicenses/\nmachine-type\nmaintenance-event\nname\nnetwork-interfaces/\npreempted\n"
	      "remaining-cpu-time\nscheduling/\nservice-accounts/\ntags\nvirtual-clock/\nzone\n");
	/* Unknown parameters are ignored. */
	gives(V1 "instance/disks/?recursive=xyz&foo=bar", "application/text", "0/\n");
	gives(V1 "project//project-id", "application/text", "demo-project");
}

TEST(directories_are_told_whole)
{
	(void)state_;
	gives(V1 "instance/service-accounts/default/?recursive=true", "application/json",
	      "{\"aliases\":[\"default\"],\"email\":\"" EMAIL "\",\"scopes\":[\"" METADATA_SCOPE "\"]}");
	gives(V1 "instance/disks/?recursive=True", "application/json",
	      "[{\"deviceName\":\"boot\",\"index\":0,\"interface\":\"SCSI\",\"mode\":\"READ_WRITE\",\"type\":\"PERSISTENT\"}]");
	gives(V1 "instance/disks/?recursive=true&alt=text", "application/text",
	      "0/device-name boot\n0/index 0\n0/interface SCSI\n0/mode READ_WRITE\n0/type PERSISTENT\n");
	gives(V1 "instance/attributes/?recursive=true", "application/json", "{}");
	gives(V1 "project/?recursive=true", "application/json",
	      "{\"attributes\":{},\"numericProjectId\":123456789012,\"projectId\":\"demo-project\"}");
	gives(V1 "instance/service-accounts/?recursive=true&alt=text", "application/text",
	      "default/aliases default\ndefault/email " EMAIL "\ndefault/scopes " METADATA_SCOPE "\n" EMAIL
	      "/aliases default\n" EMAIL "/email " EMAIL "\n" EMAIL "/scopes " METADATA_SCOPE "\n");
	AUTO(string) char *answer = get(V1 "?recursive=true");
	AUTO(json) json_t *whole = json_of(answer);
	const json_t *instance = json_object_get(whole, "instance");

	assert_non_null(json_object_get(json_object_get(instance, "serviceAccounts"), EMAIL));
	assert_string_equal(json_text_at(json_object_get(instance, "scheduling"), "onHostMaintenance"),
			    "MIGRATE");
	assert_int_equal(json_int_at(instance, "remainingCpuTime", 0), -1);
	assert_null(strstr(answer, "ya29"));
}

TEST(a_directory_without_its_slash_is_elsewhere)
{
	static const char *const places[][2] = {
		{ "/computeMetadata", "/computeMetadata/" },
		{ "/computeMetadata/v1", V1 },
		{ V1 "instance", V1 "instance/" },
		{ V1 "instance/service-accounts/default?recursive=true&alt=json",
		  V1 "instance/service-accounts/default/?recursive=true&alt=json" },
		{ V1 "instance?wait_for_change=true&timeout_sec=5&last_etag=a%26b",
		  V1 "instance/?wait_for_change=true&timeout_sec=5&last_etag=a%26b" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		AUTO(string) char *answer = get(places[i][0]);
		char location[256];

		status_is(answer, 301);
		is_ours(answer);
		snprintf(location, sizeof(location), "\r\nLocation: http://metadata.localhost%s\r\n",
			 places[i][1]);
		has(answer, location);
	}
}

TEST(who_does_not_say_the_flavor_is_refused)
{
	static const char *const paths[] = { "/computeMetadata/", V1, V1 "instance/id", V1 "nothing" };
	static const char *const headers[] = { "", "Metadata-Flavor: Something-Else\r\n",
					       "X-Google-Metadata-Request: no\r\n" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(paths); i++) {
		for (size_t k = 0; k < COUNT_OF(headers); k++) {
			AUTO(string) char *answer = ask("GET", paths[i], headers[k]);

			status_is(answer, 403);
			is_ours(answer);
			has(answer, "Your client does not have permission to get URL <code>");
			has(answer, "Missing Metadata-Flavor:Google header.");
		}
	}
	AUTO(string) char *root = ask("GET", "/", "");
	AUTO(string) char *old = ask("GET", V1 "instance/id", "X-Google-Metadata-Request: True\r\n");

	status_is(root, 200);
	is_ours(root);
	status_is(old, 200);
}

TEST(what_was_forwarded_is_refused)
{
	(void)state_;
	AUTO(string) char *answer = ask("GET", V1 "instance/id", FLAVOR "X-Forwarded-For: 1.2.3.4\r\n");
	AUTO(string) char *root = ask("GET", "/", "X-Forwarded-For: 1.2.3.4\r\n");
	AUTO(string) char *empty = ask("GET", V1 "instance/id", FLAVOR "x-forwarded-for:\r\n");

	status_is(empty, 403);
	status_is(answer, 403);
	is_ours(answer);
	status_is(root, 403);
}

TEST(who_is_no_replica_is_refused)
{
	(void)state_;
	known_peer = false;
	refuses("/", 403, "It belongs to no replica of the job.");
	refuses(V1 "instance/id", 403, "It belongs to no replica of the job.");
}

TEST(what_is_not_there_is_not_found)
{
	static const char *const paths[] = {
		V1 "foo",
		V1 "project/bar",
		V1 "instance/disks/x",
		V1 "instance/disks/99/",
		V1 "instance/id/",
		V1 "instance/service-accounts/default/token/",
		V1 "instance/service-accounts/default/scopes/0",
		V1 "instance/service-accounts/other@example.com/email",
		V1 "instance/region",
		V1 "universe/universe_domain",
		"/computeMetadata/v1beta1/instance/id",
		"/computeMetadata/v2/",
		V1 "instance/service-accounts/@/email",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(paths); i++)
		refuses(paths[i], 404, "was not found on this server.");
	refuses(V1 "%3Cscript%3E", 404, "&lt;script&gt;");
}

TEST(a_listing_has_no_other_form_and_no_changes_to_wait_for)
{
	(void)state_;
	refuses(V1 "project/?alt=json", 400, "malformed or illegal");
	refuses(V1 "project/?alt=text", 400, "malformed or illegal");
	refuses(V1 "project/?wait_for_change=true", 400, "malformed or illegal");
	refuses(V1 "instance/id?wait_for_change=true&timeout_sec=x", 400, "malformed or illegal");
	refuses(V1 "instance/id?wait_for_change=true&timeout_sec=-1", 400, "malformed or illegal");
}

TEST(nothing_can_be_changed)
{
	static const char *const methods[] = { "POST", "PUT", "PATCH", "DELETE", "OPTIONS" };
	static const char *const paths[] = { "/", "/computeMetadata/", V1 "instance/id" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(methods); i++) {
		for (size_t k = 0; k < COUNT_OF(paths); k++) {
			AUTO(string) char *answer = ask(methods[i], paths[k], FLAVOR "Content-Length: 0\r\n");

			status_is(answer, 405);
			is_ours(answer);
			has(answer, "\r\nAllow: GET, HEAD\r\n");
			has(answer, "is inappropriate for the URL");
		}
	}
	AUTO(string) char *head = ask("HEAD", V1 "instance/id", FLAVOR);

	status_is(head, 200);
	assert_string_equal(body_of(head), "");
}

static void etag_take(const char *path, char etag[17])
{
	AUTO(string) char *answer = get(path);
	const char *at = strstr(answer, "\r\nETag: ");

	assert_non_null(at);
	memcpy(etag, at + 8, 16);
	etag[16] = '\0';
	assert_int_equal(strspn(etag, "0123456789abcdef"), 16);
	assert_int_equal(at[24], '\r');
}

TEST(a_value_has_one_etag_in_every_form)
{
	char etag[17], other[17];

	(void)state_;
	etag_take(V1 "instance/id", etag);
	etag_take(V1 "instance/id?alt=json", other);
	assert_string_equal(etag, other);
	etag_take(V1 "instance/disks/?recursive=true", etag);
	etag_take(V1 "instance/disks/?recursive=true&alt=text", other);
	assert_string_equal(etag, other);
	etag_take(V1 "instance/disks/", other);
	assert_string_not_equal(etag, other);
}

/* The clock advances only when it is read. */
static int64_t clock_steps(void *arg)
{
	struct bench *own = arg;

	return __atomic_add_fetch(&own->now_ns, 250000000, __ATOMIC_RELAXED) / 1000;
}

TEST(who_waits_for_a_change_is_answered_when_his_time_is_over)
{
	struct clock stepping = bench->clock;

	(void)state_;
	stepping.mono_us = clock_steps;
	context.clock = &stepping;
	const int64_t began_ns = bench->now_ns;

	gives(V1 "instance/id?wait_for_change=true&timeout_sec=2", "application/text", "4242");
	assert_true(bench->now_ns - began_ns >= INT64_C(2000000000));
	gives(V1 "instance/description?wait_for_change=true&timeout_sec=1", "application/text",
	      "0\r\n\r\n"); /* an empty body, with chunked coding */
	gives(V1 "instance/attributes/?recursive=true&wait_for_change=true&timeout_sec=1", "application/json",
	      "{}");
}

TEST(who_knows_another_value_does_not_wait)
{
	char etag[17], path[128];

	(void)state_;
	/* The clock never advances, so a request that waited would never return. */
	gives(V1 "instance/id?wait_for_change=true&last_etag=0", "application/text", "4242");
	gives(V1 "instance/id?last_etag=abc&timeout_sec=5", "application/text", "4242");
	etag_take(V1 "instance/id", etag);
	snprintf(path, sizeof(path), V1 "instance/id?wait_for_change=true&timeout_sec=0&last_etag=%s", etag);
	gives(path, "application/text", "4242");
}

TEST(who_waits_without_end_is_answered_when_the_listener_closes)
{
	static const char request[] =
		"GET " V1 "instance/id?wait_for_change=true HTTP/1.1\r\nHost: localhost\r\n" FLAVOR "\r\n";
	struct text seen AUTO_TEXT = { 0 };
	int client = client_open();

	(void)state_;
	client_send(client, request, strlen(request));
	while (!seen.data || !strstr(seen.data, "\r\n\r\n"))
		assert_true(client_receive(client, &seen));
	assert_null(strstr(seen.data, "4242"));
	listener_close(listener, 5000);
	listener = NULL;
	while (client_receive(client, &seen))
		;
	close(client);
	has(body_of(seen.data), "4242");
}

static json_t *token_get(const char *query)
{
	char path[512];

	snprintf(path, sizeof(path), V1 "instance/service-accounts/default/token%s", query);
	AUTO(string) char *answer = get(path);

	status_is(answer, 200);
	is_ours(answer);
	has(answer, "\r\nContent-Type: application/json\r\n");
	return json_of(answer);
}

TEST(a_token_says_which_replica_asked)
{
	AUTO(json) json_t *answer = token_get("");
	struct access_token token;

	(void)state_;
	assert_string_equal(json_text_at(answer, "token_type"), "Bearer");
	assert_int_equal(
		access_token_read(bench->store, json_text_at(answer, "access_token"), NOW_S, &token, NULL),
		STATUS_OK);
	assert_int_equal(token.job, 7);
	assert_int_equal(token.attempt, 3);
	assert_int_equal(token.role, 1);
	assert_int_equal(token.index, 2);
	assert_string_equal(token.email, EMAIL);
	assert_string_equal(token.scopes, METADATA_SCOPE);
	assert_int_equal(token.expires_s - NOW_S, json_int_at(answer, "expires_in", 0));
	assert_in_range(json_int_at(answer, "expires_in", 0), TOKEN_REST_S + 1, TOKEN_LIFE_S);
	assert_int_equal(json_object_size(answer), 3);
	AUTO(json) json_t *scoped = token_get("?scopes=https://a/b,https://a/c");

	access_token_read(bench->store, json_text_at(scoped, "access_token"), NOW_S, &token, NULL);
	assert_string_equal(token.scopes, "https://a/b https://a/c");
	AUTO(string) char *text = get(V1 "instance/service-accounts/" EMAIL "/token?alt=text");

	has(body_of(text), "access_token ya29.ty-");
	has(body_of(text), "\ntoken_type Bearer\n");
}

TEST(a_token_is_the_same_until_it_is_nearly_over)
{
	AUTO(json) json_t *first = token_get("");
	const int64_t left_s = json_int_at(first, "expires_in", 0);

	(void)state_;
	bench->now_ns += (left_s - TOKEN_REST_S - 1) * INT64_C(1000000000);
	AUTO(json) json_t *same = token_get("");

	assert_string_equal(json_text_at(first, "access_token"), json_text_at(same, "access_token"));
	assert_int_equal(json_int_at(same, "expires_in", 0), TOKEN_REST_S + 1);
	bench->now_ns += INT64_C(1000000000);
	AUTO(json) json_t *next = token_get("");

	assert_string_not_equal(json_text_at(first, "access_token"), json_text_at(next, "access_token"));
	assert_int_equal(json_int_at(next, "expires_in", 0), TOKEN_LIFE_S);
}

TEST(scopes_that_are_none_are_refused)
{
	char path[2048] = V1 "instance/service-accounts/default/token?scopes=";

	(void)state_;
	refuses(V1 "instance/service-accounts/default/token?scopes=a%22b", 400, "invalid scopes");
	refuses(V1 "instance/service-accounts/default/token?scopes=%01", 400, "invalid scopes");
	memset(path + strlen(path), 'a', ACCESS_TOKEN_SCOPES_MAX);
	refuses(path, 400, "invalid scopes");
}

static json_t *identity_get(const char *query)
{
	char path[256];
	json_t *claims = NULL;

	snprintf(path, sizeof(path), V1 "instance/service-accounts/default/identity?%s", query);
	AUTO(string) char *answer = get(path);

	status_is(answer, 200);
	is_ours(answer);
	assert_int_equal(signing_key_verify(key, body_of(answer), &claims, NULL), STATUS_OK);
	return claims;
}

TEST(an_identity_token_names_its_account_and_audience)
{
	AUTO(json) json_t *claims = identity_get("audience=https://me");

	(void)state_;
	assert_string_equal(json_text_at(claims, "iss"), "https://accounts.google.com");
	assert_string_equal(json_text_at(claims, "aud"), "https://me");
	assert_string_equal(json_text_at(claims, "email"), EMAIL);
	assert_true(json_true_at(claims, "email_verified"));
	assert_string_equal(json_text_at(claims, "sub"), json_text_at(claims, "azp"));
	assert_int_equal(strspn(json_text_at(claims, "sub"), "0123456789"), 21);
	assert_int_equal(json_int_at(claims, "iat", 0), NOW_S);
	assert_int_equal(json_int_at(claims, "exp", 0), NOW_S + 3600);
	assert_null(json_object_get(claims, "google"));
	AUTO(json) json_t *full = identity_get("audience=me&format=full&licenses=TRUE");
	const json_t *engine = json_object_get(json_object_get(full, "google"), "compute_engine");

	assert_string_equal(json_text_at(engine, "project_id"), "demo-project");
	assert_int_equal(json_int_at(engine, "project_number", 0), 123456789012);
	assert_string_equal(json_text_at(engine, "zone"), "us-central1-b");
	assert_string_equal(json_text_at(engine, "instance_id"), "4242");
	assert_string_equal(json_text_at(engine, "instance_name"), "cmle-training-worker-2");
	assert_int_equal(json_int_at(engine, "instance_creation_timestamp", 0), NOW_S - 60);
	assert_true(json_is_array(json_object_get(engine, "license_id")));
}

TEST(an_identity_token_needs_an_audience)
{
	(void)state_;
	refuses(V1 "instance/service-accounts/default/identity", 400,
		"non-empty audience parameter required");
	refuses(V1 "instance/service-accounts/default/identity?audience=", 400,
		"non-empty audience parameter required");
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, open_all, close_all)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH(every_value_is_there),
		WITH(directories_list_what_is_in_them),
		WITH(directories_are_told_whole),
		WITH(a_directory_without_its_slash_is_elsewhere),
		WITH(who_does_not_say_the_flavor_is_refused),
		WITH(what_was_forwarded_is_refused),
		WITH(who_is_no_replica_is_refused),
		WITH(what_is_not_there_is_not_found),
		WITH(a_listing_has_no_other_form_and_no_changes_to_wait_for),
		WITH(nothing_can_be_changed),
		WITH(a_value_has_one_etag_in_every_form),
		WITH(who_waits_for_a_change_is_answered_when_his_time_is_over),
		WITH(who_knows_another_value_does_not_wait),
		WITH(who_waits_without_end_is_answered_when_the_listener_closes),
		WITH(a_token_says_which_replica_asked),
		WITH(a_token_is_the_same_until_it_is_nearly_over),
		WITH(scopes_that_are_none_are_refused),
		WITH(an_identity_token_names_its_account_and_audience),
		WITH(an_identity_token_needs_an_audience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
