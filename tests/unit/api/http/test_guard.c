/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/testing.h"

#include "api/http/guard.h"

#define TEST(name) static void name(void **state_)

static const char *const own_names[] = { "metadata.google.internal", NULL };
static const struct guard loopback = { .address = "127.0.0.1", .hosts = own_names };
static const struct guard wildcard = { .address = "0.0.0.0" };
static const struct guard wildcard6 = { .address = "::" };
static const struct guard gateway = { .address = "10.213.0.1" };

TEST(the_names_of_this_machine_are_allowed)
{
	static const char *const hosts[] = {
		"localhost",
		"LOCALHOST:8090",
		"localhost.",
		"ml.localhost:1",
		"a.b.localhost",
		"127.0.0.1",
		"127.0.0.1:8090",
		"127.9.8.7:1",
		"[::1]",
		"[::1]:8090",
		"[::ffff:127.0.0.1]:1",
		"metadata.google.internal",
		"Metadata.Google.Internal:80",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(hosts); i++)
		assert_true(guard_host_allowed(&loopback, hosts[i]));
}

TEST(other_names_are_not_allowed)
{
	static const char *const hosts[] = {
		"",
		":",
		":80",
		"evil.com",
		"localhost.evil.com",
		"evillocalhost",
		".localhost",
		"127.0.0.1.evil.com",
		"127.1",
		"0.0.0.0",
		"10.0.0.1",
		"128.0.0.1",
		"[::2]",
		"[::1",
		"::1",
		"[::1]x",
		"localhost:80x",
		"localhost:80:80",
		"localhost..",
		"[localhost]",
		"localhost/x",
		"user@localhost",
		"2130706433",
		"0x7f.0.0.1",
		"[fe80::1%25lo]",
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(hosts); i++)
		assert_false(guard_host_allowed(&loopback, hosts[i]));
}

TEST(the_address_listened_on_is_allowed)
{
	(void)state_;
	assert_true(guard_host_allowed(&gateway, "10.213.0.1:8090"));
	assert_true(guard_host_allowed(&gateway, "127.0.0.1:8090"));
	assert_false(guard_host_allowed(&gateway, "10.213.0.2:8090"));
}

TEST(with_a_wildcard_address_any_literal_is_allowed_and_no_name)
{
	(void)state_;
	assert_true(guard_host_allowed(&wildcard, "192.168.1.5:8090"));
	assert_true(guard_host_allowed(&wildcard6, "[fd00::1]:8090"));
	assert_true(guard_host_allowed(&wildcard6, "192.168.1.5"));
	assert_false(guard_host_allowed(&wildcard, "evil.com"));
	assert_false(guard_host_allowed(&wildcard, "metadata.google.internal"));
}

TEST(requests_of_other_web_sites_are_refused)
{
	static const struct {
		const char *host, *origin, *site;
		enum status expected;
	} cases[] = {
		{ "localhost", NULL, NULL, STATUS_OK },
		{ NULL, NULL, NULL, STATUS_OK }, /* HTTP/1.0 */
		{ "localhost", NULL, "none", STATUS_OK },
		{ "localhost", "http://localhost:3000", "same-site", STATUS_OK },
		{ "localhost", "http://[::1]:3000", "same-origin", STATUS_OK },
		{ "localhost", NULL, "cross-site", STATUS_PERMISSION_DENIED },
		{ "localhost", "http://localhost", "Cross-Site", STATUS_PERMISSION_DENIED },
		{ "localhost", "https://evil.com", NULL, STATUS_PERMISSION_DENIED },
		{ "localhost", "https://localhost.evil.com", NULL, STATUS_PERMISSION_DENIED },
		{ "localhost", "https://evil.com/://localhost", NULL, STATUS_PERMISSION_DENIED },
		{ "localhost", "null", NULL, STATUS_PERMISSION_DENIED },
		{ "localhost", "", NULL, STATUS_PERMISSION_DENIED },
		{ "evil.com", NULL, NULL, STATUS_PERMISSION_DENIED },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(guard_check(&loopback, cases[i].host, cases[i].origin, cases[i].site, NULL),
				 cases[i].expected);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_of_this_machine_are_allowed),
		cmocka_unit_test(other_names_are_not_allowed),
		cmocka_unit_test(the_address_listened_on_is_allowed),
		cmocka_unit_test(with_a_wildcard_address_any_literal_is_allowed_and_no_name),
		cmocka_unit_test(requests_of_other_web_sites_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
