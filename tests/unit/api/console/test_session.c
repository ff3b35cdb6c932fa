/* SPDX-License-Identifier: Apache-2.0 */
#include "api/console/session.h"

#include <stdio.h>

#include "api/console/console.h"
#include "daemon/base/clock.h"
#include "daemon/base/memory.h"
#include "tests/unit/api/http/http_testing.h"

#define SESSION "/_trainyard/console/session HTTP/1.1\r\n" HOST
#define TICKET  "/_trainyard/console/ticket HTTP/1.1\r\n" HOST
#define KNOWN   "Authorization: Bearer good\r\n"

#define MINUTE_US INT64_C(60000000)
#define HOUR_US   (60 * MINUTE_US)

static int64_t now_us;

static int64_t mono_us(void *arg)
{
	(void)arg;
	return now_us;
}

static const struct clock stopped = { .mono_us = mono_us };
static struct console_sessions *sessions;
static struct family families[2];

static enum status caller_check(void *arg, const char *authorization, const char *api_key, struct error *err)
{
	(void)arg, (void)api_key;
	if (authorization && strcmp(authorization, "Bearer good") == 0)
		return STATUS_OK;
	return error_set(err, STATUS_UNAUTHENTICATED, NULL, "It is not known.");
}

static int listener_setup(void **state)
{
	(void)state;
	now_us = 1;
	sessions = console_sessions_new(&stopped);
	families[0] = (struct family){
		.name = "console", .routes = console_routes, .context = sessions, .lenient_query = true
	};
	return listener_begin((struct listener_options){
		.families = families,
		.caller = { .check = caller_check },
		.session = { CONSOLE_API, console_session_check, sessions },
	});
}

static int listener_teardown(void **state)
{
	listener_end(state);
	console_sessions_free(sessions);
	return 0;
}

/* The text between @begin and @end in an answer. */
static char *part_of(const char *answer, const char *begin, char end)
{
	const char *at = strstr(answer, begin);

	if (!at)
		fail_msg("%s\nis without %s", answer, begin);
	at += strlen(begin);
	return memory_strndup(at, (size_t)(strchr(at, end) - at));
}

struct known {
	char *cookie; /* "trainyard-=0123…" */
	char *proof;
};

static struct known begin(const char *request)
{
	AUTO(string) char *answer = exchange_raw(request);

	return (struct known){ part_of(answer, "Set-Cookie: ", ';'), part_of(answer, "\"proof\": \"", '"') };
}

static void end(struct known *known)
{
	free(known->cookie);
	free(known->proof);
}

static bool is_known(const struct known *known)
{
	return console_session_check(sessions, known->cookie, known->proof);
}

/* Fails with: console_session_check() that does not compare the proof; secret_is() that does not look at the time. */
TEST(a_session_is_a_cookie_with_its_proof_for_twelve_hours)
{
	struct known one = begin("POST " SESSION KNOWN "\r\n"), other = begin("POST " SESSION KNOWN "\r\n");
	AUTO(string) char *among = memory_printf("a=b;  %s; trainyard-8090=; trainyard-x; c", one.cookie);
	AUTO(string) char *longer = memory_printf("%s0", one.cookie);

	(void)state_;
	assert_true(is_known(&one));
	assert_true(is_known(&other));
	assert_true(console_session_check(sessions, among, one.proof));
	assert_false(console_session_check(sessions, one.cookie, other.proof));
	assert_false(console_session_check(sessions, longer, one.proof));
	assert_false(console_session_check(sessions, one.cookie, ""));
	assert_false(console_session_check(sessions, one.cookie, NULL));
	assert_false(console_session_check(sessions, NULL, one.proof));
	now_us += 12 * HOUR_US - 1;
	assert_true(is_known(&one));
	now_us += 1;
	assert_false(is_known(&one));
	end(&one);
	end(&other);
}

/* Fails with: cookie_set() without one of them. */
TEST(the_cookie_is_for_the_page_alone)
{
	(void)state_;
	answers("POST " SESSION KNOWN "\r\n", OK_,
		"; Path=/_trainyard/console/; Max-Age=43200; HttpOnly; SameSite=Strict\r\n");
	answers("POST /_trainyard/console/session HTTP/1.1\r\nHost: localhost:8090\r\n" KNOWN "\r\n", OK_,
		"Set-Cookie: trainyard-8090=");
	answers("POST " SESSION KNOWN "\r\n", OK_, "Cache-Control: no-store\r\n");
}

/* Fails with: console_session_begin() that does not look at call->anonymous. */
TEST(a_session_is_begun_with_the_token_or_with_a_ticket_once_within_five_minutes)
{
	char ticket[256];

	(void)state_;
	answers("POST " SESSION "\r\n", "HTTP/1.1 401 ", "does not accept this token");
	answers("POST " SESSION "Authorization: Bearer bad\r\n\r\n", "HTTP/1.1 401 ",
		"does not accept this token");
	answers("POST " SESSION "X-Trainyard-Ticket: 0123\r\n\r\n", "HTTP/1.1 401 ", "used before");
	answers("POST " TICKET "\r\n", "HTTP/1.1 401 ", "It is not known.");
	for (int wait_us = 0; wait_us <= 1; wait_us++) {
		AUTO(string) char *answer = exchange_raw("POST " TICKET KNOWN "\r\n");
		AUTO(string) char *told = part_of(answer, "\"ticket\": \"", '"');

		snprintf(ticket, sizeof(ticket), "POST " SESSION "X-Trainyard-Ticket: %s\r\n\r\n", told);
		now_us += 5 * MINUTE_US - 1 + wait_us;
		if (wait_us == 0)
			answers(ticket, OK_, "\"proof\": \"");
		answers(ticket, "HTTP/1.1 401 ", "used before");
	}
}

/* Fails with: ticket_take() that does not compare the attempt, or does not end the ticket. */
TEST(a_ticket_is_taken_again_from_the_same_attempt_for_some_seconds)
{
	AUTO(string) char *answer = exchange_raw("POST " TICKET KNOWN "\r\n");
	AUTO(string) char *ticket = part_of(answer, "\"ticket\": \"", '"');
	AUTO(string) char *bare = memory_printf("POST " SESSION "X-Trainyard-Ticket: %s\r\n", ticket);
	AUTO(string) char *mine = memory_printf("%sX-Trainyard-Attempt: mine\r\n\r\n", bare);
	AUTO(string) char *other = memory_printf("%sX-Trainyard-Attempt: other\r\n\r\n", bare);

	(void)state_;
	answers(mine, OK_, "\"proof\": \"");
	answers(other, "HTTP/1.1 401 ", "used before");
	now_us += MINUTE_US / 2 - 1;
	answers(mine, OK_, "\"proof\": \"");
	now_us += 1;
	answers(mine, "HTTP/1.1 401 ", "used before");
}

/* Fails with: secret_is() that takes a ticket that an attempt has used. */
TEST(a_used_ticket_is_refused_without_its_attempt)
{
	AUTO(string) char *answer = exchange_raw("POST " TICKET KNOWN "\r\n");
	AUTO(string) char *ticket = part_of(answer, "\"ticket\": \"", '"');
	AUTO(string) char *bare = memory_printf("POST " SESSION "X-Trainyard-Ticket: %s\r\n", ticket);
	AUTO(string) char *mine = memory_printf("%sX-Trainyard-Attempt: mine\r\n\r\n", bare);
	AUTO(string) char *without = memory_printf("%s\r\n", bare);

	(void)state_;
	answers(mine, OK_, "\"proof\": \"");
	answers(without, "HTTP/1.1 401 ", "used before");
	answers(mine, OK_, "\"proof\": \"");
}

/* Fails with: console_session_end() that only takes the cookie away. */
TEST(a_session_can_be_ended)
{
	struct known one = begin("POST " SESSION KNOWN "\r\n"), other = begin("POST " SESSION KNOWN "\r\n");
	AUTO(string) char *request = memory_printf("DELETE " SESSION "Cookie: %s\r\n\r\n", one.cookie);

	(void)state_;
	answers(request, OK_, "; Max-Age=0;");
	assert_false(is_known(&one));
	assert_true(is_known(&other));
	end(&one);
	end(&other);
}

/* Fails with: secret_add() that takes the first place. */
TEST(the_oldest_of_many_sessions_gives_way)
{
	struct known first = begin("POST " SESSION KNOWN "\r\n"), second = { 0 }, last = { 0 };

	(void)state_;
	for (int i = 0; i < 64; i++) {
		now_us++;
		end(&last);
		last = begin("POST " SESSION KNOWN "\r\n");
		if (i == 0)
			second = (struct known){ memory_strdup(last.cookie), memory_strdup(last.proof) };
	}
	assert_false(is_known(&first));
	assert_true(is_known(&second));
	assert_true(is_known(&last));
	end(&first);
	end(&second);
	end(&last);
}

/* Fails with: session_fits() without by_browser; target_own() that takes any path that begins so. */
TEST(a_session_counts_below_the_consoles_own_path_alone)
{
	struct known known = begin("POST " SESSION KNOWN "\r\n");
	AUTO(string)
	char *head = memory_printf(HOST "Cookie: %s\r\nX-Trainyard-Session: %s\r\n\r\n", known.cookie,
				   known.proof);
	static const struct {
		const char *target, *status;
	} rows[] = {
		{ "/_trainyard/console/api/_trainyard/console/ticket", OK_ },
		{ "/_trainyard/console/ticket", "HTTP/1.1 401 " },
		{ "/_trainyard/console/apis/_trainyard/console/ticket", "HTTP/1.1 401 " },
		{ "/_trainyard/console/ap%69/_trainyard/console/ticket", "HTTP/1.1 401 " },
		{ "/_trainyard/console/api", "HTTP/1.1 401 " },
		{ "/_trainyard/console/api/_trainyard/console/api/_trainyard/console/ticket",
		  "HTTP/1.1 405 " },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		AUTO(string) char *request = memory_printf("POST %s HTTP/1.1\r\n%s", rows[i].target, head);

		answers(request, rows[i].status, "");
	}
	end(&known);
}

#define WITH_SESSIONS(name) cmocka_unit_test_setup_teardown(name, listener_setup, listener_teardown)

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		WITH_SESSIONS(a_session_is_a_cookie_with_its_proof_for_twelve_hours),
		WITH_SESSIONS(the_cookie_is_for_the_page_alone),
		WITH_SESSIONS(a_session_is_begun_with_the_token_or_with_a_ticket_once_within_five_minutes),
		WITH_SESSIONS(a_ticket_is_taken_again_from_the_same_attempt_for_some_seconds),
		WITH_SESSIONS(a_used_ticket_is_refused_without_its_attempt),
		WITH_SESSIONS(a_session_can_be_ended),
		WITH_SESSIONS(the_oldest_of_many_sessions_gives_way),
		WITH_SESSIONS(a_session_counts_below_the_consoles_own_path_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
