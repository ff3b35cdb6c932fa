/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/image_name.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/cleanup.h"
#include "tests/unit/testing.h"

#define HEX_64  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SHA_256 "@sha256:" HEX_64

static void references_are_told_apart(void **state)
{
	static const struct {
		const char *text;
		size_t registry_length, name_length;
		bool has_tag, has_digest;
	} rows[] = {
		{ "busybox", 0, 7, false, false },
		{ "busybox:local", 0, 7, true, false },
		{ "my-image:1", 0, 8, true, false },
		{ "a", 0, 1, false, false },
		{ "library/busybox:1.36", 0, 15, true, false },
		{ "tensorflow/tensorflow:2.4.1-gpu", 0, 21, true, false },
		{ "gcr.io/p/i:1", 6, 10, true, false },
		{ "gcr.io/my-project/nested/dir/trainer:V1_Release.2-x", 6, 36, true, false },
		{ "gcr.io/example.com/project/image", 6, 32, false, false },
		{ "eu.gcr.io/p/i" SHA_256, 9, 13, false, true },
		{ "gcr.io/p/i:1.0" SHA_256, 6, 10, true, true },
		{ "us-central1-docker.pkg.dev/p/repo/image:tag", 26, 39, true, false },
		{ "gcr.io/cloud-ml-algos/boosted_trees:latest", 6, 35, true, false },
		{ "gcr.io/cloud-aiplatform/training/pytorch-gpu.1-7", 6, 48, false, false },
		{ "gcr.io/cloud-ml-public/training/pytorch-xla.1-11", 6, 48, false, false },
		{ "localhost:5000/a/b", 14, 18, false, false },
		{ "localhost/a", 9, 11, false, false },
		{ "localhost:5000", 0, 9, true, false },
		{ "registry:5000/x", 13, 15, false, false },
		{ "127.0.0.1:32768/x:y", 15, 17, true, false },
		{ "[::1]:5000/x", 10, 12, false, false },
		{ "[2001:db8::1]/x", 13, 15, false, false },
		{ "Upper/x", 5, 7, false, false },
		{ "REGISTRY.Example.COM/x", 20, 22, false, false },
		{ "a__b", 0, 4, false, false },
		{ "a_b.c---d", 0, 9, false, false },
		{ "i:_", 0, 1, true, false },
		{ "sha256:" HEX_64, 0, 6, true, false },
		{ "i@sha512:" HEX_64 HEX_64, 0, 1, false, true },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct image_name name;

		if (!image_name_parse(rows[i].text, &name))
			fail_msg("'%s' is refused", rows[i].text);
		assert_int_equal(name.registry_length, rows[i].registry_length);
		assert_int_equal(name.name_length, rows[i].name_length);
		assert_int_equal(name.has_tag, rows[i].has_tag);
		assert_int_equal(name.has_digest, rows[i].has_digest);
	}
}

static void what_is_no_reference_is_refused(void **state)
{
	static const char *const rows[] = {
		"",
		" ",
		"a b",
		"a\tb",
		"a\n",
		"Image",
		"gcr.io/P/i",
		"gcr.io/p/Image:1",
		"gcr.io/example.com:p/i",
		"https://gcr.io/p/i",
		"gs://bucket/image",
		"gcr.io/",
		"gcr.io//i",
		"gcr.io/p/",
		"/p/i",
		"p/",
		"i:",
		"i:-x",
		"i:.x",
		"i:a b",
		"i:t:u",
		"i@",
		"i@sha256:",
		"i@sha256:00",
		"i@sha256:" HEX_64 "0",
		"i@md5:0123456789abcdef0123456789abcdef",
		"i@sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
		"i" SHA_256 ":1",
		"-a",
		"a-",
		"_a",
		"a_",
		".a",
		"a.",
		"a..b",
		"a___b",
		"a._b",
		"a/-b",
		"a/b-/c",
		"-gcr.io/i",
		"gcr-.io/i",
		"gcr..io/i",
		".gcr.io/i",
		"gcr.io:/i",
		"gcr.io:port/i",
		"gcr.io:80:80/i",
		"[::1/i",
		"[:500(/i",
		"[]/i",
		"[x::1]:80/i",
		"u@gcr.io/i",
		"caf\xc3\xa9",
		"gcr.io/${PROJECT}/i",
		HEX_64,
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct image_name name;

		if (image_name_parse(rows[i], &name))
			fail_msg("'%s' is taken", rows[i]);
	}
}

static char *repeated(const char *before, char c, size_t count)
{
	size_t length = strlen(before);
	char *text = calloc(1, length + count + 1);

	memcpy(text, before, length);
	memset(text + length, c, count);
	return text;
}

static void paths_and_tags_have_their_longest(void **state)
{
	AUTO(string) char *path = repeated("gcr.io/", 'x', 255);
	AUTO(string) char *longer = repeated("gcr.io/", 'x', 256);
	AUTO(string) char *tag = repeated("i:", 'x', 128);
	AUTO(string) char *longer_tag = repeated("i:", 'x', 129);
	AUTO(string) char *endless = repeated("", 'a', 1000000);
	struct image_name name;

	(void)state;
	assert_true(image_name_parse(path, &name));
	assert_false(image_name_parse(longer, &name));
	assert_true(image_name_parse(tag, &name));
	assert_false(image_name_parse(longer_tag, &name));
	assert_false(image_name_parse(endless, &name));
}

static void registries_are_googles_others_or_this_machines(void **state)
{
	static const struct {
		const char *text;
		enum image_origin origin;
	} rows[] = {
		{ "gcr.io/p/i:1", IMAGE_OF_GOOGLE },
		{ "eu.gcr.io/p/i", IMAGE_OF_GOOGLE },
		{ "asia.gcr.io/p/i", IMAGE_OF_GOOGLE },
		{ "GCR.IO/p/i", IMAGE_OF_GOOGLE },
		{ "us-central1-docker.pkg.dev/p/r/i", IMAGE_OF_GOOGLE },
		{ "europe-docker.pkg.dev/p/r/i", IMAGE_OF_GOOGLE },
		{ "notgcr.io/p/i", IMAGE_OF_OTHERS },
		{ "gcr.io.example.com/p/i", IMAGE_OF_OTHERS },
		{ "gcr.io:5000/p/i", IMAGE_OF_OTHERS },
		{ "docker.pkg.dev/p/i", IMAGE_OF_OTHERS },
		{ "my-image:1", IMAGE_OF_OTHERS },
		{ "gcr/p/i", IMAGE_OF_OTHERS },
		{ "docker.io/library/busybox", IMAGE_OF_OTHERS },
		{ "quay.io/p/i", IMAGE_OF_OTHERS },
		{ "10.0.0.1:5000/i", IMAGE_OF_OTHERS },
		{ "127.example.com/i", IMAGE_OF_OTHERS },
		{ "localhost/i", IMAGE_OF_MACHINE },
		{ "localhost:5000/i", IMAGE_OF_MACHINE },
		{ "reg.localhost:5000/i", IMAGE_OF_MACHINE },
		{ "127.0.0.1:5000/i", IMAGE_OF_MACHINE },
		{ "127.1.2.3/i", IMAGE_OF_MACHINE },
		{ "[::1]:5000/i", IMAGE_OF_MACHINE },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct image_name name;

		assert_true(image_name_parse(rows[i].text, &name));
		if (image_origin(rows[i].text) != rows[i].origin)
			fail_msg("'%s' is of %d", rows[i].text, (int)image_origin(rows[i].text));
	}
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_are_told_apart),
		cmocka_unit_test(what_is_no_reference_is_refused),
		cmocka_unit_test(paths_and_tags_have_their_longest),
		cmocka_unit_test(registries_are_googles_others_or_this_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
