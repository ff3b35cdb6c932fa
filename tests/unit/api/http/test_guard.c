/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "api/http/guard.h"
#include "tests/unit/testing.h"

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

/* Fails with: name_allowed() that looks for "localhost" anywhere; literal_allowed() that lets any through. */
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

/* Fails with: literal_allowed() that lets any through. */
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
		{ "localhost", NULL, "same-origin", STATUS_OK },
		{ "localhost", NULL, "same-site", STATUS_PERMISSION_DENIED },
		{ "localhost", NULL, "cross-site", STATUS_PERMISSION_DENIED },
		{ "localhost", NULL, "", STATUS_PERMISSION_DENIED },
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

/* Fails with: origin_is_host() without its look at the port; without the one at the name. */
TEST(an_origin_is_the_host_port_and_all)
{
	static const struct {
		const char *host, *origin;
		bool own;
	} cases[] = {
		{ "localhost", "http://localhost", true },
		{ "localhost", "https://localhost", true },
		{ "localhost", "http://localhost:80", true },
		{ "localhost:80", "http://localhost", true },
		{ "localhost:443", "https://localhost", true },
		{ "localhost:8090", "http://localhost:8090", true },
		{ "localhost:8090", "https://localhost:8090", true },
		{ "LocalHost.:8090", "HTTP://localhost:08090", true },
		{ "[::1]:8090", "http://[::1]:8090", true },
		{ "metadata.google.internal", "http://metadata.google.internal", true },
		{ "localhost:443", "http://localhost", false },
		{ "localhost", "http://localhost:443", false },
		{ "localhost:8090", "http://localhost", false },
		{ "localhost:8090", "http://localhost:3000", false },
		{ "localhost", "http://localhost:8090", false },
		{ "localhost:8090", "http://localhost:80900", false },
		{ "localhost:8090", "http://localhost:4294975386", false }, /* the port is 8090 plus 2^32 */
		{ "localhost:8090", "http://127.0.0.1:8090", false },
		{ "127.0.0.1:8090", "http://[::1]:8090", false },
		{ "localhost:8090", "http://a.localhost:8090", false },
		{ "localhost:8090", "http://localhost:8090/", false },
		{ "localhost:8090", "http://localhost:8090@evil.com", false },
		{ "localhost:8090", "http://localhost:8090 http://evil.com", false },
		{ "localhost:8090", "http:/localhost:8090", false },
		{ "localhost:8090", "ws://localhost:8090", false },
		{ "localhost:8090", "localhost:8090", false },
		{ "localhost:8090", "http://", false },
		{ NULL, "http://localhost", false },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const bool own = !guard_check(&loopback, cases[i].host, cases[i].origin, NULL, NULL);

		if (own != cases[i].own)
			fail_msg("%s of a page of %s: %d", cases[i].host, cases[i].origin, own);
	}
}

/* Fails with: guard_type_refused() that asks media_type_is(), which wants UTF-8. */
TEST(types_that_pages_send_unasked_are_known)
{
	static const struct {
		const char *type;
		enum page_types least; /* the strictest setting that accepts the type */
	} cases[] = {
		{ "application/x-www-form-urlencoded", PAGE_TYPES_ALL },
		{ "APPLICATION/X-WWW-FORM-URLENCODED;charset=latin1", PAGE_TYPES_ALL },
		{ " multipart/form-data ; boundary=x", PAGE_TYPES_ALL },
		{ "text/ping", PAGE_TYPES_ALL },
		{ "application/csp-report", PAGE_TYPES_ALL },
		{ "text/plain", PAGE_TYPES_TEXT },
		{ "text/plain;charset=utf-16", PAGE_TYPES_TEXT },
		{ "text/plain; x=application/json", PAGE_TYPES_TEXT },
		{ NULL, PAGE_TYPES_NONE },
		{ "", PAGE_TYPES_NONE },
		{ "application/json", PAGE_TYPES_NONE },
		{ "application/json; x=text/plain", PAGE_TYPES_NONE },
		{ "text/plainer", PAGE_TYPES_NONE },
		{ "multipart/related; boundary=x", PAGE_TYPES_NONE },
		{ "multipart/mixed", PAGE_TYPES_NONE },
	};
	const struct guard open_to_all = { .any_host = true };

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		for (enum page_types taken = PAGE_TYPES_NONE; taken <= PAGE_TYPES_ALL; taken++) {
			assert_false(guard_type_refused(&open_to_all, cases[i].type, taken));
			if (guard_type_refused(&loopback, cases[i].type, taken) != (taken < cases[i].least))
				fail_msg("%s where %d is taken", cases[i].type, taken);
		}
}

/* Fails with: guard_network_read() that takes an address with bits behind the mask. */
TEST(a_network_is_read_strictly)
{
	static const char *const wrong[] = {
		"",
		"/",
		"10.0.0.0",
		"10.0.0.0/",
		"10.0.0.0/0",
		"10.0.0.0/33",
		"10.0.0.0/+8",
		"10.0.0.0/8 ",
		"10.0.0.0/008",
		"10.0.0/8",
		"10.0.0.1/8",
		"::/8",
		"10.0.0.0/8/8",
		"255.255.255.255.255.255/8",
	};
	struct guard_network network;

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		if (guard_network_read(wrong[i], &network))
			fail_msg("%s was read", wrong[i]);
	assert_true(guard_network_read("10.213.0.0/16", &network));
	assert_int_equal(network.address, 0x0ad50000);
	assert_int_equal(network.mask, 0xffff0000);
	assert_true(guard_network_read("10.0.0.1/32", &network));
	assert_int_equal(network.mask, 0xffffffff);
	assert_true(guard_network_read("128.0.0.0/1", &network));
	assert_int_equal(network.mask, 0x80000000);
}

static uint32_t peer_of(const char *text)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return guard_peer_ipv4((const struct sockaddr *)&v4);
	assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
	return guard_peer_ipv4((const struct sockaddr *)&v6);
}

/* Fails with: guard_peer_check() that refuses no peer; guard_peer_ipv4() that reads any IPv6 address as a mapped one. */
TEST(clients_of_a_refused_network_are_told_from_others)
{
	static const struct {
		const char *peer;
		enum status expected;
	} cases[] = {
		{ "10.213.0.0", STATUS_PERMISSION_DENIED },
		{ "10.213.255.255", STATUS_PERMISSION_DENIED },
		{ "::ffff:10.213.7.7", STATUS_PERMISSION_DENIED },
		{ "10.212.255.255", STATUS_OK },
		{ "10.214.0.0", STATUS_OK },
		{ "::ffff:10.214.0.0", STATUS_OK },
		{ "::10.213.7.7", STATUS_OK },
		{ "127.0.0.1", STATUS_OK },
		{ "::1", STATUS_OK },
	};
	struct guard guard = { .address = "127.0.0.1" };

	(void)state_;
	assert_int_equal(guard_peer_ipv4(NULL), 0);
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(guard_peer_check(&guard, peer_of(cases[i].peer), NULL), STATUS_OK);
	assert_true(guard_network_read("10.213.0.0/16", &guard.refused));
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		assert_int_equal(guard_peer_check(&guard, peer_of(cases[i].peer), NULL), cases[i].expected);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_names_of_this_machine_are_allowed),
		cmocka_unit_test(other_names_are_not_allowed),
		cmocka_unit_test(the_address_listened_on_is_allowed),
		cmocka_unit_test(with_a_wildcard_address_any_literal_is_allowed_and_no_name),
		cmocka_unit_test(requests_of_other_web_sites_are_refused),
		cmocka_unit_test(an_origin_is_the_host_port_and_all),
		cmocka_unit_test(types_that_pages_send_unasked_are_known),
		cmocka_unit_test(a_network_is_read_strictly),
		cmocka_unit_test(clients_of_a_refused_network_are_told_from_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
