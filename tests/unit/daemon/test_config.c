/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/config.h"
#include "daemon/config_items.h"
#include "daemon/config_listen.h"
#include "daemon/config_variables.h"
#include "tests/unit/testing.h"

#define TEST(name) static void name(void **state_)
#define ARGUMENTS(...)                                                                                       \
	(const char *[])                                                                                     \
	{                                                                                                    \
		__VA_ARGS__ __VA_OPT__(, ) NULL                                                              \
	}

static char file_path[] = "/tmp/trainyard-config-XXXXXX";

static void file_write(const char *text)
{
	FILE *file = fopen(file_path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* Removes the variables of the user that runs the tests. */
static int environment_clear(void **state)
{
	(void)state;
	for (const struct config_item *item = config_items; item->name; item++)
		unsetenv(item->environment);
	unsetenv("DOCKER_HOST");
	unsetenv("DOCKER_CONTEXT");
	setenv("DOCKER_CONFIG", "/nonexistent", 1);
	unsetenv("DOCKER_CONFIG");
	setenv("HOME", "/home/someone", 1);
	return 0;
}

static void refused(const char *const *arguments, const char *expected)
{
	struct error err AUTO_ERROR = { 0 };
	struct config config AUTO_CONFIG = { 0 };

	assert_int_equal(config_read(&config, CONFIG_SERVE, arguments, &err), STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, expected);
}

TEST(without_anything_given_the_defaults_hold)
{
	struct config config AUTO_CONFIG = { 0 };

	(void)state_;
	assert_int_equal(config_read(&config, CONFIG_SERVE, ARGUMENTS(), NULL), STATUS_OK);
	assert_null(config.file);
	assert_string_equal(config.listen, "127.0.0.1:8090");
	assert_int_equal(config.listen_source, CONFIG_DEFAULT);
	assert_string_equal(config.engine, "unix:///var/run/docker.sock");
	assert_string_equal(config.project, "local-project");
	assert_true(config.project_number == 123456789012);
	assert_string_equal(config.region, "us-central1");
	assert_string_equal(config.networks, "10.213.0.0/16");
	assert_false(config.offline);
	assert_false(config.stop_jobs);
	assert_int_equal(config.stop_grace_s, 30);
	assert_int_equal(config.max_active_jobs, 64);
	assert_int_equal(config.log_level, LOG_INFO);
	assert_int_equal(config.log_format, LOG_FORMAT_TEXT);
	assert_string_equal(config.docker_config, "/home/someone/.docker");
}

TEST(the_command_line_goes_before_the_environment_before_the_file_before_the_default)
{
	struct config config AUTO_CONFIG = { 0 };

	(void)state_;
	file_write("region = europe-west1\nproject = from-file\nstop-grace=1\nlisten = [::1]:0\n");
	setenv("TRAINYARD_PROJECT", "from-environment", 1);
	setenv("TRAINYARD_STOP_GRACE", "2", 1);
	assert_int_equal(config_read(&config, CONFIG_SERVE,
				     ARGUMENTS("--stop-grace", "3", "--config", file_path), NULL),
			 STATUS_OK);
	assert_int_equal(config.stop_grace_s, 3);
	assert_string_equal(config.project, "from-environment");
	assert_string_equal(config.region, "europe-west1");
	assert_int_equal(config.listen_source, CONFIG_FILE);
	assert_int_equal(config.max_active_jobs, 64);
}

TEST(a_file_holds_comments_blanks_and_every_option_but_itself)
{
	struct config config AUTO_CONFIG = { 0 };

	(void)state_;
	file_write("# a comment\n\n   # another\r\n  offline  =  yes  \r\nstop-jobs=off\nstate-dir = /a "
		   "b/c\nlog-format = json");
	setenv("TRAINYARD_CONFIG", file_path, 1);
	assert_int_equal(config_read(&config, CONFIG_ENV, ARGUMENTS(), NULL), STATUS_OK);
	assert_true(config.offline);
	assert_false(config.stop_jobs);
	assert_string_equal(config.state_dir, "/a b/c");
	assert_int_equal(config.log_format, LOG_FORMAT_JSON);
}

TEST(a_fault_in_the_file_is_told_with_its_line)
{
	char expected[256];

	(void)state_;
	setenv("TRAINYARD_CONFIG", file_path, 1);
	file_write("# one\nregion = x1\nfoo = 3\n");
	snprintf(expected, sizeof(expected), "%s:3: unknown option \"foo\"", file_path);
	refused(ARGUMENTS(), expected);
	file_write("region\n");
	snprintf(expected, sizeof(expected), "%s:1: the line is not \"name = value\"", file_path);
	refused(ARGUMENTS(), expected);
	file_write("\nstop-grace = soon\n");
	snprintf(expected, sizeof(expected), "%s:2: stop-grace: \"soon\" is not a number from 0 to 86400",
		 file_path);
	refused(ARGUMENTS(), expected);
	file_write("config = /etc/other\n");
	snprintf(expected, sizeof(expected), "%s:1: unknown option \"config\"", file_path);
	refused(ARGUMENTS(), expected);
	refused(ARGUMENTS("--config=/nowhere/x"),
		"the configuration file /nowhere/x cannot be read: No such file or directory");
}

static void assert_images(const struct config *config, const char *expected)
{
	struct text images AUTO_TEXT = { 0 };

	text_puts(&images, "");
	for (size_t i = 0; i < config->image_map.count; i++)
		text_printf(&images, "%s%s", i ? " " : "", config->image_map.values[i]);
	assert_string_equal(images.data, expected);
}

TEST(the_values_of_a_list_add_up_within_one_place)
{
	static const struct {
		const char *file, *environment, *arguments[4], *expected;
	} rows[] = {
		{ NULL, NULL, { NULL }, "" },
		{ NULL, NULL, { "--image-map", "a=b" }, "a=b" },
		{ NULL, NULL, { "--image-map", "a=b", "--image-map=c=d,e=f" }, "a=b c=d e=f" },
		{ NULL, "x=y , z=w", { NULL }, "x=y z=w" },
		{ NULL, "x=y", { "--image-map=a=b" }, "a=b" },
		{ "image-map = f=g\nimage-map = h=i, j=k\n", NULL, { NULL }, "f=g h=i j=k" },
		{ "image-map = f=g\nimage-map = h=i\n", "x=y,z=w", { NULL }, "x=y z=w" },
		{ "image-map = f=g\n", "x=y", { "--image-map=a=b", "--image-map=c=d" }, "a=b c=d" },
		{ "region = us-east1\n", "x=y", { NULL }, "x=y" },
		{ "region = us-east1\n", NULL, { "--image-map=a=b", "--image-map=c=d" }, "a=b c=d" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct config config AUTO_CONFIG = { 0 };

		unsetenv("TRAINYARD_CONFIG");
		unsetenv("TRAINYARD_IMAGE_MAP");
		if (rows[i].file) {
			file_write(rows[i].file);
			setenv("TRAINYARD_CONFIG", file_path, 1);
		}
		if (rows[i].environment)
			setenv("TRAINYARD_IMAGE_MAP", rows[i].environment, 1);
		assert_int_equal(config_read(&config, CONFIG_SERVE, rows[i].arguments, NULL), STATUS_OK);
		assert_images(&config, rows[i].expected);
	}
}

TEST(each_value_of_a_list_is_checked)
{
	(void)state_;
	refused(ARGUMENTS("--image-map", "a=b,c"),
		"--image-map: \"c\" is not FROM=TO, such as gcr.io/p/train=train:dev or "
		"gcr.io/p/*=localhost:5000/*");
	refused(ARGUMENTS("--image-map", "a=b,"),
		"--image-map: \"\" is not FROM=TO, such as gcr.io/p/train=train:dev or "
		"gcr.io/p/*=localhost:5000/*");
	refused(ARGUMENTS("--image-map"), "--image-map needs a value: FROM=TO");
	refused(ARGUMENTS("--quota", "create"),
		"--quota: \"create\" is not a list such as create=60,read=300,vcpus=20,K80=2,V100=0; \"create\" has "
		"no number");
	refused(ARGUMENTS("--quota", "read=1,x=1"),
		"--quota: \"read=1,x=1\" is not a list such as create=60,read=300,vcpus=20,K80=2,V100=0; there is no "
		"quota \"x\": there are create, read, vcpus, A100, K80, P100, P4, T4, TPU_V2, TPU_V2_POD, TPU_V3, "
		"TPU_V3_POD, V100");
	refused(ARGUMENTS("--quota", "read=1,read=2"),
		"--quota: \"read=1,read=2\" is not a list such as create=60,read=300,vcpus=20,K80=2,V100=0; \"read\" is "
		"there twice");
	refused(ARGUMENTS("--tpu-config", "[]"), "--tpu-config: \"[]\" is not a JSON object");
}

TEST(a_wrong_argument_is_told)
{
	(void)state_;
	refused(ARGUMENTS("--foo"), "unknown option \"--foo\"");
	refused(ARGUMENTS("--foo=bar"), "unknown option \"--foo\"");
	refused(ARGUMENTS("--shell", "sh"), "unknown option \"--shell\"");
	refused(ARGUMENTS("foo"), "unexpected argument \"foo\"");
	refused(ARGUMENTS("--"), "unexpected argument \"--\"");
	refused(ARGUMENTS("-l"), "unexpected argument \"-l\"");
	refused(ARGUMENTS("--region"), "--region needs a value: REGION");
	refused(ARGUMENTS("--region="), "--region: \"\" is not a region, such as us-central1");
	/* Fails with: text_check() that takes what is not UTF-8, of which no JSON for the engine can be made. */
	refused(ARGUMENTS("--docker-config", "/etc/k\xe4se"),
		"--docker-config: \"/etc/k\xe4se\" is not UTF-8");
	refused(ARGUMENTS("--offline=perhaps"), "--offline: \"perhaps\" is not true or false");
	refused(ARGUMENTS("--log-level", "loud"),
		"--log-level: \"loud\" is not one of error, warning, info, debug");
	refused(ARGUMENTS("--project-number", "0"), "--project-number: \"0\" is not a number from 1 on");
	refused(ARGUMENTS("--project-number", "99999999999999999999"),
		"--project-number: \"99999999999999999999\" is not a number from 1 to 9223372036854775807");
	setenv("TRAINYARD_MAX_ACTIVE_JOBS", "-1", 1);
	refused(ARGUMENTS(), "TRAINYARD_MAX_ACTIVE_JOBS: \"-1\" is not a number from 1 to 10000");
}

/* Fails with: word_refuse() and name_refuse() without nearest_hint(); nearest_look() that takes '_' for a letter. */
TEST(a_name_that_is_nearly_one_is_told_with_that_one)
{
	static const struct {
		const char *word, *expected;
	} rows[] = {
		{ "--lisen", "unknown option \"--lisen\"; did you mean --listen?" },
		{ "--Listen=x", "unknown option \"--Listen\"; did you mean --listen?" },
		{ "--stop_grace", "unknown option \"--stop_grace\"; did you mean --stop-grace?" },
		{ "--max-containres", "unknown option \"--max-containres\"; did you mean --max-containers?" },
		{ "--max-jobs", "unknown option \"--max-jobs\"; did you mean --max-active-jobs?" },
		{ "--token", "unknown option \"--token\"; did you mean --token-file?" },
		{ "-listen", "unexpected argument \"-listen\"; did you mean --listen?" },
		{ "offline", "unexpected argument \"offline\"; did you mean --offline?" },
		{ "--frobnicate", "unknown option \"--frobnicate\"" },
		{ "--x", "unknown option \"--x\"" },
	};
	static const struct {
		const char *line, *expected;
	} lines[] = {
		{ "stop_grace = 1", "stop_grace\"; did you mean stop-grace?" },
		{ "MAX_AKTIV_JOBS = 1", "MAX_AKTIV_JOBS\"; did you mean max-active-jobs?" },
		{ "TRAINYARD_PROJEKT = a", "TRAINYARD_PROJEKT\"; did you mean project?" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		refused(ARGUMENTS(rows[i].word), rows[i].expected);
	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		struct text expected AUTO_TEXT = { 0 };

		file_write(lines[i].line);
		text_printf(&expected, "%s:1: unknown option \"%s", file_path, lines[i].expected);
		refused(ARGUMENTS("--config", file_path), expected.data);
	}
}

/* Fails with: read_defaults() that checks the computed ones: --engine could not be given. */
TEST(what_docker_host_says_matters_only_where_it_is_used)
{
	static const char told[] =
		"DOCKER_HOST or DOCKER_CONTEXT: \"npipe:////./pipe/x\" is not unix:///PATH of at most 107 bytes, tcp";
	struct config config AUTO_CONFIG = { 0 }, env AUTO_CONFIG = { 0 };
	struct error err AUTO_ERROR = { 0 };

	(void)state_;
	setenv("DOCKER_HOST", "npipe:////./pipe/x", 1);
	assert_int_equal(config_read(&config, CONFIG_SERVE, ARGUMENTS("--engine", "unix:///a"), NULL),
			 STATUS_OK);
	assert_string_equal(config.engine, "unix:///a");
	assert_int_equal(config_read(&env, CONFIG_ENV, ARGUMENTS(), NULL), STATUS_OK);
	assert_int_equal(config_read(&env, CONFIG_CLEAN, ARGUMENTS(), &err), STATUS_INVALID_ARGUMENT);
	assert_memory_equal(err.text, told, strlen(told));
	assert_non_null(strstr(err.text, "--engine"));
}

static char variables_told[512];

static void variable_note(const char *name, const char *hint)
{
	snprintf(variables_told + strlen(variables_told), sizeof(variables_told) - strlen(variables_told),
		 "[%s%s]", name, hint);
}

/* Fails with: is_known() that is always true; no look at the variables of clients. */
TEST(variables_that_no_option_has_are_told)
{
	static const char *variables[] = { "TRAINYARD_LISEN=x",
					   "TRAINYARD_LISTEN=x",
					   "TRAINYARD_ENDPOINT=http://x",
					   "TRAINYARD_EMPTY=",
					   "TRAINYARD=x",
					   "TRAINYARD_QQQQQQ=x",
					   "TRAINYARD_ENDPONT=x",
					   NULL };
	char **before = environ;

	(void)state_;
	environ = (char **)variables;
	config_unknown_variables(variable_note);
	environ = before;
	assert_string_equal(variables_told,
			    "[TRAINYARD_LISEN; did you mean TRAINYARD_LISTEN?][TRAINYARD_QQQQQQ]"
			    "[TRAINYARD_ENDPONT; did you mean TRAINYARD_ENDPOINT?]");
}

TEST(an_option_of_serve_alone_is_none_of_env)
{
	struct error err AUTO_ERROR = { 0 };
	struct config config AUTO_CONFIG = { 0 };

	(void)state_;
	assert_int_equal(config_read(&config, CONFIG_ENV, ARGUMENTS("--offline"), &err),
			 STATUS_INVALID_ARGUMENT);
	assert_string_equal(err.text, "unknown option \"--offline\": it is one of serve");
}

TEST(clean_takes_the_place_and_the_engine_and_nothing_else)
{
	static const char *const others[] = { "--listen", "--project", "--offline", "--networks" };
	struct config config AUTO_CONFIG = { 0 };

	(void)state_;
	assert_int_equal(config_read(&config, CONFIG_CLEAN,
				     ARGUMENTS("--state-dir", "/a b", "--engine=unix:///c"), NULL),
			 STATUS_OK);
	assert_string_equal(config.state_dir, "/a b");
	assert_string_equal(config.engine, "unix:///c");
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		struct error err AUTO_ERROR = { 0 };

		assert_int_equal(config_read(&config, CONFIG_CLEAN, ARGUMENTS(others[i], "1"), &err),
				 STATUS_INVALID_ARGUMENT);
	}
}

TEST(an_empty_variable_counts_as_none)
{
	struct config config AUTO_CONFIG = { 0 };

	(void)state_;
	setenv("TRAINYARD_REGION", "", 1);
	assert_int_equal(config_read(&config, CONFIG_SERVE, ARGUMENTS("--offline", "--stop-jobs=true"), NULL),
			 STATUS_OK);
	assert_string_equal(config.region, "us-central1");
	assert_true(config.offline && config.stop_jobs);
}

TEST(each_text_is_checked_by_its_own_rule)
{
	static const struct {
		const char *name, *good[4], *bad[8];
	} cases[] = {
		{ "listen",
		  { "0.0.0.0:80", "[::]:0", "localhost:65535" },
		  { "8090", ":8090", "::1:80", "[::1]", "127.0.0.1:", "127.0.0.1:65536", "[127.0.0.1]:1",
		    "host:1" } },
		{ "listen",
		  { "unix:/run/a" },
		  { "unix:", "unix:a",
		    "unix:/12345678901234567890123456789012345678901234567890123456789012345678901234567890123456"
		    "7890123456789012345678" } },
		{ "grpc", { "127.0.0.1:0" }, { "unix:/run/a", "" } },
		{ "engine",
		  { "unix:///a", "tcp://x:1", "ssh://me@x", "context://ci" },
		  { "tcp://", "/var/run/docker.sock", "unix://x", "unix://" } },
		{ "project",
		  { "p", "my-project-1", "example.com:p" },
		  { "1p", "P", "a_b", "a-", "a/b", "a b", "" } },
		{ "quota",
		  { "create=60", "K80=0,V100=1", "" },
		  { "create", "create=", "K80=1,K80=1", "x=1" } },
		{ "image-map",
		  { "a=b", "gcr.io/p/*=*", "gcr.io/p/i:1=i" },
		  { "", "a", "=b", "a=", "a=*", "A=b", "*a=b", "a b=c" } },
		{ "tpu-config",
		  { "{}", "{\"zone\":\"z\"}" },
		  { "", "x", "[]", "{", "{} {}", "{\"a\":1,\"a\":2}" } },
		{ "region", { "us-central1", "local" }, { "", "1", "US", "us central" } },
		{ "networks",
		  { "10.0.0.0/8", "192.168.0.0/16", "172.16.5.0/24" },
		  { "10.0.0.0", "10.0.0.0/7", "10.0.0.0/25", "10.1.0.0/8", "fd00::/8", "10.0.0.0/ 8",
		    "10.0.0/8", "10.0.0.0/16x" } },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		for (const struct config_item *item = config_items; item->name; item++) {
			if (strcmp(item->name, cases[i].name) != 0)
				continue;
			for (size_t j = 0; j < 4 && cases[i].good[j]; j++)
				assert_true(item->valid(cases[i].good[j]));
			for (size_t j = 0; j < 8 && cases[i].bad[j]; j++)
				if (item->valid(cases[i].bad[j]))
					fail_msg("%s takes \"%s\"", item->name, cases[i].bad[j]);
		}
	}
}

TEST(a_variable_is_named_after_its_option)
{
	(void)state_;
	for (const struct config_item *item = config_items; item->name; item++) {
		char expected[64] = "TRAINYARD_";
		size_t at = strlen(expected);

		for (const char *c = item->name; *c; c++)
			expected[at++] = *c == '-' ? '_' : (char)(*c - 'a' + 'A');
		expected[at] = '\0';
		assert_string_equal(item->environment, expected);
	}
}

static void state_dir_is(bool root, const char *xdg, const char *home, const char *expected)
{
	AUTO(string) char *path = state_dir_default(root, xdg, home);

	if (expected)
		assert_string_equal(path, expected);
	else
		assert_null(path);
}

TEST(the_state_directory_is_where_xdg_says)
{
	(void)state_;
	state_dir_is(true, "/x", "/root", "/var/lib/trainyard");
	state_dir_is(false, "/x", "/h", "/x/trainyard");
	state_dir_is(false, "x", "/h", "/h/.local/state/trainyard");
	state_dir_is(false, "", "/h", "/h/.local/state/trainyard");
	state_dir_is(false, NULL, NULL, NULL);
}

TEST(an_address_becomes_a_url_that_clients_reach)
{
	static const struct {
		const char *listen, *url;
	} cases[] = {
		{ "127.0.0.1:8090", "http://127.0.0.1:8090" }, { "localhost:1", "http://127.0.0.1:1" },
		{ "0.0.0.0:80", "http://127.0.0.1:80" },       { "[::]:80", "http://[::1]:80" },
		{ "10.1.2.3:80", "http://10.1.2.3:80" },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char address[LISTEN_ADDRESS_SIZE];
		struct text url AUTO_TEXT = { 0 };
		uint16_t port;

		assert_true(config_listen_split(cases[i].listen, address, &port));
		config_url_write(&url, address, port);
		assert_string_equal(url.data, cases[i].url);
	}
}

TEST(an_address_that_others_reach_is_told_from_those_that_they_do_not)
{
	static const char *const local[] = { "127.0.0.1:1", "127.9.0.1:1", "localhost:1", "[::1]:1",
					     "unix:/a" };
	static const char *const others[] = { "0.0.0.0:1",   "[::]:1",      "10.0.0.1:1",
					      "128.0.0.1:1", "[fe80::1]:1", "[::ffff:127.0.0.1]:1" };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(local); i++)
		assert_true(config_listen_is_local(local[i]));
	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_false(config_listen_is_local(others[i]));
}

TEST(help_shows_every_option_of_its_command)
{
	struct text help AUTO_TEXT = { 0 };

	(void)state_;
	config_help_write(&help, CONFIG_SERVE, NULL, NULL);
	for (const struct config_item *item = config_items; item->name; item++)
		assert_non_null(strstr(help.data, item->name));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_anything_given_the_defaults_hold, environment_clear),
		cmocka_unit_test_setup(
			the_command_line_goes_before_the_environment_before_the_file_before_the_default,
			environment_clear),
		cmocka_unit_test_setup(a_file_holds_comments_blanks_and_every_option_but_itself,
				       environment_clear),
		cmocka_unit_test_setup(a_fault_in_the_file_is_told_with_its_line, environment_clear),
		cmocka_unit_test_setup(the_values_of_a_list_add_up_within_one_place, environment_clear),
		cmocka_unit_test_setup(each_value_of_a_list_is_checked, environment_clear),
		cmocka_unit_test_setup(a_wrong_argument_is_told, environment_clear),
		cmocka_unit_test_setup(a_name_that_is_nearly_one_is_told_with_that_one, environment_clear),
		cmocka_unit_test_setup(what_docker_host_says_matters_only_where_it_is_used,
				       environment_clear),
		cmocka_unit_test_setup(variables_that_no_option_has_are_told, environment_clear),
		cmocka_unit_test_setup(an_option_of_serve_alone_is_none_of_env, environment_clear),
		cmocka_unit_test_setup(clean_takes_the_place_and_the_engine_and_nothing_else,
				       environment_clear),
		cmocka_unit_test_setup(an_empty_variable_counts_as_none, environment_clear),
		cmocka_unit_test(each_text_is_checked_by_its_own_rule),
		cmocka_unit_test(a_variable_is_named_after_its_option),
		cmocka_unit_test(the_state_directory_is_where_xdg_says),
		cmocka_unit_test(an_address_becomes_a_url_that_clients_reach),
		cmocka_unit_test(an_address_that_others_reach_is_told_from_those_that_they_do_not),
		cmocka_unit_test(help_shows_every_option_of_its_command),
	};
	int descriptor = mkstemp(file_path);
	int failed;

	if (descriptor < 0)
		return 99;
	close(descriptor);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(file_path);
	return failed;
}
