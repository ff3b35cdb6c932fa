/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/cli/verb.h"
#include "daemon/env.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)

static const char nasty[] = "it's $HOME `id` \"\\ * ; & é";

static struct env_settings settings_of(enum shell shell)
{
	return (struct env_settings){
		.shell = shell, .url = "http://127.0.0.1:8090", .project = "p", .region = "us-east1"
	};
}

static void has_line(const struct text *text, const char *line)
{
	char wanted[256];

	snprintf(wanted, sizeof(wanted), "%s\n", line);
	if (strncmp(text->data, wanted, strlen(wanted)) == 0)
		return;
	snprintf(wanted, sizeof(wanted), "\n%s\n", line);
	if (!strstr(text->data, wanted))
		fail_msg("no line %s in\n%s", line, text->data);
}

TEST(gcloud_is_told_everything_it_needs)
{
	static const char *const lines[] = {
		"export CLOUDSDK_CORE_PROJECT=p",
		"export CLOUDSDK_AUTH_DISABLE_CREDENTIALS=true",
		"export CLOUDSDK_API_ENDPOINT_OVERRIDES_ML=http://127.0.0.1:8090/",
		"export CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=http://127.0.0.1:8090/",
		"export CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING=http://127.0.0.1:8090/",
		"export CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE=http://127.0.0.1:8090/storage/v1/",
		"export CLOUDSDK_COMPUTE_REGION=us-east1",
		"export CLOUDSDK_AI_REGION=us-east1",
	};
	struct env_settings settings = settings_of(SHELL_SH);
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	env_write(&text, &settings);
	for (size_t i = 0; i < COUNT_OF(lines); i++)
		has_line(&text, lines[i]);
	assert_null(strstr(text.data, "NO_PROXY"));
}

TEST(client_libraries_are_told_of_storage_and_credentials)
{
	struct env_settings settings = settings_of(SHELL_SH);
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	settings.credentials = (char *)"/state dir/credentials.json";
	env_write(&text, &settings);
	has_line(&text, "export GOOGLE_APPLICATION_CREDENTIALS='/state dir/credentials.json'");
	has_line(&text, "export STORAGE_EMULATOR_HOST=http://127.0.0.1:8090");
	has_line(&text, "export GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT=false");
	has_line(&text, "export CLOUD_STORAGE_EMULATOR_ENDPOINT=http://127.0.0.1:8090");
	settings.storage_url = "http://127.0.0.1:4443";
	text_clear(&text);
	env_write(&text, &settings);
	has_line(&text, "export STORAGE_EMULATOR_HOST=http://127.0.0.1:4443");
	has_line(&text, "export CLOUD_STORAGE_EMULATOR_ENDPOINT=http://127.0.0.1:4443");
	has_line(&text, "export CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE=http://127.0.0.1:4443/storage/v1/");
	has_line(&text, "export CLOUDSDK_API_ENDPOINT_OVERRIDES_ML=http://127.0.0.1:8090/");
}

TEST(clients_of_grpc_are_told_whom_to_trust)
{
	struct env_settings settings = settings_of(SHELL_SH);
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	env_write(&text, &settings);
	assert_null(strstr(text.data, "GRPC_"));
	settings.grpc_roots = (char *)"/state/local-ca/bundle.crt";
	env_write(&text, &settings);
	has_line(&text, "export GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=/state/local-ca/bundle.crt");
	has_line(&text, "export REQUESTS_CA_BUNDLE=/state/local-ca/bundle.crt");
	settings.unset = true;
	env_write(&text, &settings);
	has_line(&text, "unset GRPC_DEFAULT_SSL_ROOTS_FILE_PATH");
}

TEST(why_there_are_no_credentials_is_said)
{
	struct env_settings settings = settings_of(SHELL_SH);
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	settings.no_credentials = (char *)"a\nb";
	env_write(&text, &settings);
	has_line(&text, "# no credentials file: a b");
	assert_null(strstr(text.data, "GOOGLE_APPLICATION_CREDENTIALS"));
	settings.shell = SHELL_GITHUB;
	text_clear(&text);
	env_write(&text, &settings);
	assert_null(strchr(text.data, '#'));
	settings.shell = SHELL_SH;
	settings.unset = true;
	text_clear(&text);
	env_write(&text, &settings);
	has_line(&text, "unset GOOGLE_APPLICATION_CREDENTIALS");
	has_line(&text, "unset STORAGE_EMULATOR_HOST");
	assert_null(strchr(text.data, '#'));
}

TEST(each_shell_has_its_own_form)
{
	struct env_settings settings = settings_of(SHELL_FISH);
	struct text fish AUTO_TEXT = { 0 };
	struct text github AUTO_TEXT = { 0 };

	(void)state_;
	settings.no_proxy = (char *)"it's\\x";
	env_write(&fish, &settings);
	has_line(&fish, "set -gx CLOUDSDK_CORE_PROJECT p");
	has_line(&fish, "set -gx NO_PROXY 'it\\'s\\\\x'");
	settings.shell = SHELL_GITHUB;
	env_write(&github, &settings);
	has_line(&github, "CLOUDSDK_CORE_PROJECT=p");
	has_line(&github, "NO_PROXY=it's\\x");
}

TEST(unset_takes_away_what_was_set)
{
	struct env_settings settings = settings_of(SHELL_SH);
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	settings.unset = true;
	env_write(&text, &settings);
	has_line(&text, "unset CLOUDSDK_CORE_PROJECT");
	has_line(&text, "unset CLOUDSDK_API_ENDPOINT_OVERRIDES_ML");
	assert_null(strstr(text.data, "export"));
	assert_null(strstr(text.data, "NO_PROXY"));
	settings.shell = SHELL_FISH;
	text_clear(&text);
	env_write(&text, &settings);
	has_line(&text, "set -e CLOUDSDK_CORE_PROJECT");
}

TEST(whatever_is_in_a_value_the_shell_reads_it_back)
{
	struct env_settings settings = settings_of(SHELL_SH);
	struct text script AUTO_TEXT = { 0 };
	char seen[256] = "";
	FILE *pipe;

	(void)state_;
	settings.no_proxy = (char *)nasty;
	env_write(&script, &settings);
	text_puts(&script, "printf %s \"$NO_PROXY\"\n");
	setenv("SCRIPT", script.data, 1);
	pipe = popen("eval \"$SCRIPT\"", "r");
	assert_non_null(pipe);
	assert_true(fread(seen, 1, sizeof(seen) - 1, pipe) > 0);
	assert_int_equal(pclose(pipe), 0);
	assert_string_equal(seen, nasty);
}

static void extended(const char *own, const char *expected)
{
	AUTO(string) char *list = no_proxy_extend(own);

	assert_string_equal(list, expected);
}

TEST(a_list_of_exceptions_grows_only_once)
{
	(void)state_;
	extended(NULL, "127.0.0.1,localhost");
	extended("", "127.0.0.1,localhost");
	extended("corp,localhost", "corp,localhost,127.0.0.1");
	extended("127.0.0.1, localhost", "127.0.0.1, localhost");
	extended("xlocalhost,127.0.0.11", "xlocalhost,127.0.0.11,127.0.0.1,localhost");
}

TEST(gcloud_is_told_of_the_token)
{
	struct env_settings settings = settings_of(SHELL_SH);
	struct text text AUTO_TEXT = { 0 };

	(void)state_;
	settings.token_file = (char *)"/t";
	env_write(&text, &settings);
	has_line(&text, "export CLOUDSDK_AUTH_ACCESS_TOKEN_FILE=/t");
	has_line(&text, "export CLOUDSDK_AUTH_DISABLE_CREDENTIALS=false");
}

TEST(wrong_usage_is_two)
{
	int own_stderr = dup(STDERR_FILENO);

	(void)state_;
	assert_non_null(freopen("/dev/null", "w", stderr));
	assert_int_equal(verbs_main((const char *[]){ "env", "--shell", "tcsh", NULL }), 2);
	assert_int_equal(verbs_main((const char *[]){ "env", "--shell", NULL }), 2);
	assert_int_equal(verbs_main((const char *[]){ "env", "--offline", NULL }), 2);
	assert_int_equal(verbs_main((const char *[]){ "env", "--listen", "nonsense", NULL }), 2);
	assert_int_equal(verbs_main((const char *[]){ "env", "--listen", "127.0.0.1:0", "--state-dir",
						      "/nowhere", NULL }),
			 1);
	dup2(own_stderr, STDERR_FILENO);
	close(own_stderr);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gcloud_is_told_everything_it_needs),
		cmocka_unit_test(client_libraries_are_told_of_storage_and_credentials),
		cmocka_unit_test(clients_of_grpc_are_told_whom_to_trust),
		cmocka_unit_test(why_there_are_no_credentials_is_said),
		cmocka_unit_test(each_shell_has_its_own_form),
		cmocka_unit_test(unset_takes_away_what_was_set),
		cmocka_unit_test(whatever_is_in_a_value_the_shell_reads_it_back),
		cmocka_unit_test(a_list_of_exceptions_grows_only_once),
		cmocka_unit_test(gcloud_is_told_of_the_token),
		cmocka_unit_test(wrong_usage_is_two),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
