/* SPDX-License-Identifier: Apache-2.0 */
/* Uploads in which it matters when each byte arrives. For complete ones see test_storage_media.py and
 * test_storage_sessions.py. */
#include <dirent.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/unit/api/storage/storage_testing.h"

enum { PIECE = 256 << 10 };

#define INSERT "/upload/storage/v1/b/demo-bucket/o"
#define OBJECT "/storage/v1/b/demo-bucket/o/"

static int bucket_open(void **state)
{
	int rc = yard_open(state);

	if (rc == 0)
		done(200, "POST", "/storage/v1/b?project=demo", "{'name':'demo-bucket'}");
	return rc;
}

static int request_begin(const char *line, const char *headers, size_t length)
{
	struct text head AUTO_TEXT = { 0 };
	int client = client_open();

	text_printf(&head,
		    "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n",
		    line, headers, length);
	client_send(client, head.data, head.length);
	return client;
}

static char *request_end(int client)
{
	struct text seen AUTO_TEXT = { 0 };

	while (client_receive(client, &seen))
		;
	close(client);
	return text_take(&seen);
}

/* Waits until the running upload has received bytes. */
static void bytes_await(void)
{
	char path[128];
	struct stat info;
	bool there = false;

	snprintf(path, sizeof(path), "%s/uploads", yard.dir);
	for (int i = 0; i < ANSWER_WAIT_MS && !there; i++) {
		DIR *files = opendir(path);

		for (const struct dirent *file; files && (file = readdir(files));)
			there |= file->d_name[0] != '.' &&
				 fstatat(dirfd(files), file->d_name, &info, 0) == 0 && info.st_size > 0;
		if (files)
			closedir(files);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	assert_true(there);
}

/* Sends the first half, calls @between, and sends the rest; returns the answer. */
static char *upload_with(const char *query, void (*between)(void))
{
	AUTO(string) char *line = NULL;
	char half[1000];
	int client;

	memset(half, 'x', sizeof(half));
	assert_true(asprintf(&line, "POST " INSERT "?uploadType=media&name=late%s", query) > 0);
	client = request_begin(line, "", 2 * sizeof(half));
	client_send(client, half, sizeof(half));
	bytes_await();
	between();
	client_send(client, half, sizeof(half));
	return request_end(client);
}

static void overtake(void)
{
	done(200, "POST", INSERT "?uploadType=media&name=late", "{'first':1}");
}

static void bucket_remove(void)
{
	done(204, "DELETE", "/storage/v1/b/demo-bucket", NULL);
}

static void nothing_happens(void) {}

TEST(an_upload_that_another_one_overtook_is_refused)
{
	AUTO(string) char *free_ = NULL;
	AUTO(string) char *seen = upload_with("&ifGenerationMatch=0", overtake);
	struct seen object AUTO_SEEN = ask_for(200, "GET", OBJECT "late", NULL);

	(void)state_;
	if (!strstr(seen, "HTTP/1.1 412 "))
		fail_msg("%s", seen);
	assert_string_equal(text_of(&object, "size"), "11");
	free_ = upload_with("", nothing_happens);
	assert_non_null(strstr(free_, "HTTP/1.1 200 "));
	assert_non_null(strstr(free_, "\"size\": \"2000\""));
}

TEST(an_upload_into_a_bucket_that_went_is_refused)
{
	AUTO(string) char *seen = upload_with("", bucket_remove);

	(void)state_;
	if (!strstr(seen, "HTTP/1.1 404 "))
		fail_msg("%s", seen);
}

TEST(a_multipart_upload_may_be_cut_anywhere)
{
	static const char body[] = "--b\r\nContent-Type: application/json\r\n\r\n{\"name\":\"cut\"}\r\n"
				   "--b\r\nContent-Type: a/b\r\n\r\n-\r\n--\r\nbytes\r\n--b--";
	const size_t length = strlen(body);

	(void)state_;
	for (size_t cut = 0; cut <= length; cut++) {
		int client = request_begin("POST " INSERT "?uploadType=multipart",
					   "Content-Type: multipart/related; boundary=b\r\n", length);
		AUTO(string) char *seen = NULL;

		client_send(client, body, cut);
		client_send(client, body + cut, length - cut);
		seen = request_end(client);
		if (!strstr(seen, "HTTP/1.1 200 ") || !strstr(seen, "\"size\": \"12\"") ||
		    !strstr(seen, "\"contentType\": \"a/b\""))
			fail_msg("cut at %zu: %s", cut, seen);
	}
}

/* Begins a session and, if asked, uploads one piece; returns the session's target. */
static char *session_make(const char *headers, bool has_piece)
{
	struct seen seen AUTO_SEEN =
		ask_with("POST", INSERT "?uploadType=resumable&name=session", headers, "{}");
	const char *location = strstr(seen.all, "Location: http://localhost:8090");
	AUTO(string) char *line = NULL;
	AUTO(string) char *answer = NULL;
	AUTO(string) char *piece = calloc(1, PIECE);
	char *target;
	int client;

	assert_non_null(location);
	location += strlen("Location: http://localhost:8090");
	target = strndup(location, strcspn(location, "\r"));
	if (!has_piece)
		return target;
	assert_true(asprintf(&line, "PUT %s", target) > 0);
	client = request_begin(line, "Content-Range: bytes 0-262143/*\r\n", PIECE);
	client_send(client, piece, PIECE);
	answer = request_end(client);
	assert_non_null(strstr(answer, "HTTP/1.1 308 "));
	assert_non_null(strstr(answer, "Range: bytes=0-262143\r\n"));
	return target;
}

static void piece_put(const char *range, size_t bytes, unsigned http_status, int64_t received)
{
	AUTO(string) char *target = session_make("", true);
	AUTO(string) char *line = NULL;
	AUTO(string) char *header = NULL;
	AUTO(string) char *answer = NULL;
	AUTO(string) char *data = calloc(1, bytes + 1);
	AUTO(string) char *status = NULL;
	int client;

	assert_true(asprintf(&line, "PUT %s", target) > 0);
	assert_true(asprintf(&header, "Content-Range: %s\r\n", range) > 0);
	client = request_begin(line, header, bytes);
	client_send(client, data, bytes);
	answer = request_end(client);
	assert_true(asprintf(&status, "HTTP/1.1 %u ", http_status) > 0);
	if (!strstr(answer, status))
		fail_msg("%s with %zu bytes: %s, not %s", range, bytes, answer, status);
	struct seen after AUTO_SEEN =
		ask_with("PUT", target, "Content-Range: bytes */*\r\nContent-Length: 0\r\n", NULL);
	assert_int_equal(after.http_status, http_status == 200 ? 200 : 308);
	free(status);
	status = NULL;
	assert_true((http_status == 200
			     ? asprintf(&status, "\"size\": \"%" PRId64 "\"", received)
			     : asprintf(&status, "Range: bytes=0-%" PRId64 "\r\n", received - 1)) > 0);
	if (!strstr(after.all, status))
		fail_msg("%s with %zu bytes: then %s", range, bytes, after.all);
}

TEST(each_content_range_does_what_it_says)
{
	static const struct {
		const char *range;
		size_t bytes;
		unsigned http_status;
		int64_t received; /* bytes afterwards; for status 200, the object's size */
	} cases[] = {
		{ "bytes */*", 0, 308, PIECE },
		{ "bytes */262145", 0, 308, PIECE },
		{ "bytes */262144", 0, 200, PIECE },
		{ "bytes */262143", 0, 308, PIECE },
		{ "bytes 262144-262144/262145", 1, 200, PIECE + 1 },
		{ "bytes 262144-*/262145", 1, 200, PIECE + 1 },
		{ "bytes 262144-*/*", 3, 200, PIECE + 3 },
		{ "bytes 262144-*/*", 0, 200, PIECE },
		{ "bytes 262144-*/262150", 3, 308, PIECE + 3 },
		{ "bytes 262144-*/262145", 2, 400, PIECE + 1 },
		{ "bytes 0-262144/262145", PIECE + 1, 200, PIECE + 1 },
		{ "bytes 262143-262144/262145", 2, 200, PIECE + 1 },
		{ "bytes 262145-262145/262146", 1, 503, PIECE },
		{ "bytes 262144-262243/*", 100, 400, PIECE },
		{ "bytes 262144-524287/*", PIECE, 308, 2 * PIECE },
		{ "bytes 262144-524288/*", PIECE + 1, 308, 2 * PIECE },
		{ "bytes 0-262143/*", PIECE, 308, PIECE },
		{ "bytes 262144-262145/262146", 1, 400, PIECE + 1 },
		{ "bytes 262144-262144/262145", 2, 400, PIECE + 1 },
		{ "bytes 262144", 0, 400, PIECE },
		/* Fails with: total_suffices() that returns true: an object of more bytes than it was said to have. */
		{ "bytes 0-262142/262143", PIECE - 1, 400, PIECE },
		{ "bytes 262143-*/262143", 0, 400, PIECE },
	};

	(void)state_;
	for (size_t i = 0; i < COUNT_OF(cases); i++)
		piece_put(cases[i].range, cases[i].bytes, cases[i].http_status, cases[i].received);
}

/* Fails with: total_suffices() that looks at what came alone. */
TEST(no_piece_goes_beyond_what_the_upload_began_with)
{
	AUTO(string) char *target = session_make("X-Upload-Content-Length: 262149\r\n", false);
	AUTO(string) char *data = calloc(1, 2 * PIECE);
	AUTO(string) char *line = NULL;
	AUTO(string) char *answer = NULL;
	int client;

	(void)state_;
	assert_true(asprintf(&line, "PUT %s", target) > 0);
	client = request_begin(line, "Content-Range: bytes 0-524287/*\r\n", 2 * PIECE);
	client_send(client, data, 2 * PIECE);
	answer = request_end(client);
	assert_non_null(strstr(answer, "HTTP/1.1 400 "));
	assert_non_null(
		strstr(answer, "The upload has 524288 byte(s), which exceeds its total of 262149 byte(s)."));
}

TEST(a_resource_too_large_is_refused)
{
	AUTO(string) char *large = malloc((1 << 20) + 2);
	AUTO(string) char *seen = NULL;
	int client = request_begin("POST " INSERT "?uploadType=resumable&name=n", "", (1 << 20) + 1);

	(void)state_;
	memset(large, ' ', (1 << 20) + 1);
	client_send(client, large, (1 << 20) + 1);
	seen = request_end(client);
	assert_non_null(strstr(seen, "HTTP/1.1 400 "));
	assert_non_null(strstr(seen, "limited to 1048576 bytes"));
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_upload_that_another_one_overtook_is_refused, bucket_open,
						yard_close),
		cmocka_unit_test_setup_teardown(an_upload_into_a_bucket_that_went_is_refused, bucket_open,
						yard_close),
		cmocka_unit_test_setup_teardown(a_multipart_upload_may_be_cut_anywhere, bucket_open,
						yard_close),
		cmocka_unit_test_setup_teardown(each_content_range_does_what_it_says, bucket_open,
						yard_close),
		cmocka_unit_test_setup_teardown(no_piece_goes_beyond_what_the_upload_began_with, bucket_open,
						yard_close),
		cmocka_unit_test_setup_teardown(a_resource_too_large_is_refused, bucket_open, yard_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
