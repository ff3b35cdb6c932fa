/* SPDX-License-Identifier: Apache-2.0 */
/* What decides where a request ends: the first line is HTTP's version, each of the others a header.
 *
 * A head that is taken tells one end to all readers. Fails with: head_check_framing() without is_digits(), without
 * check_single(), or that takes a coding of HTTP/1.0. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/request.h"
#include "daemon/base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void head_fill(struct head *head, char *lines)
{
	char *rest = lines;

	for (char *line; rest && (line = strsep(&rest, "\n"));) {
		char *value = strchr(line, ':');

		if (value)
			*value++ = '\0';
		head_add(head, line, value ? value + strspn(value, " \t") : NULL);
	}
}

static void taken_check(const struct head *head, const char *version, enum framing framing)
{
	const char *length = head->values[HEADER_CONTENT_LENGTH];
	const char *coding = head->values[HEADER_TRANSFER_ENCODING];

	expect(head->counts[HEADER_CONTENT_LENGTH] <= 1 && head->counts[HEADER_TRANSFER_ENCODING] <= 1);
	expect(head->counts[HEADER_HOST] == 1 || strcmp(version, "HTTP/1.0") == 0);
	expect(!head->malformed && !head->controlled);
	if (head_says_identity(head)) { /* an empty body, and the last request of the connection */
		expect(head_declared_bytes(head) == 0 && head_says_coding(head));
		return;
	}
	expect(!length || (*length && !length[strspn(length, "0123456789")]));
	expect(!coding || (strcasecmp(coding, "chunked") == 0 && strcmp(version, "HTTP/1.1") == 0));
	expect(!length || !coding || framing == FRAMING_CODING_WINS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO(string) char *text = strndup((const char *)data, size);
	struct head head = { 0 };
	char *lines = text;
	const char *version;

	expect(text);
	version = strsep(&lines, "\n");
	head_fill(&head, lines);
	for (int framing = FRAMING_STRICT; framing <= FRAMING_CODING_WINS; framing++) {
		struct error err AUTO_ERROR = { 0 };
		const enum status rc = head_check_framing(&head, version, (enum framing)framing, &err);

		expect(!rc || (err.text && (rc == STATUS_INVALID_ARGUMENT || rc == STATUS_UNIMPLEMENTED)));
		if (!rc)
			taken_check(&head, version, (enum framing)framing);
	}
	return 0;
}
