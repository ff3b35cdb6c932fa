/* SPDX-License-Identifier: Apache-2.0 */
#include "store/keys/authority.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/small_file.h"
#include "tests/unit/store/store_testing.h"

#define YEAR ((int64_t)365 * 24 * 3600)

static const int64_t now_s = 1795132800; /* 2026-11-20 */
static const char *const names[] = { "storage.googleapis.com", "www.googleapis.com" };

struct lab {
	char directory[64];
	struct authority *authority;
};

static int setup(void **state)
{
	struct lab *lab = calloc(1, sizeof(*lab));

	strcpy(lab->directory, "/tmp/trainyard-test-XXXXXX");
	assert_non_null(mkdtemp(lab->directory));
	lab->authority = authority_new(lab->directory, "ca", "googleapis.com");
	assert_non_null(lab->authority);
	*state = lab;
	return 0;
}

static int teardown(void **state)
{
	struct lab *lab = *state;

	authority_free(lab->authority);
	directory_remove(lab->directory);
	free(lab);
	return 0;
}

static void path_of(const struct lab *lab, const char *name, char ret_path[128])
{
	snprintf(ret_path, 128, "%s/%s", lab->directory, name);
}

static void file_of(const struct lab *lab, const char *name, struct text *ret_content)
{
	char path[128];

	path_of(lab, name, path);
	text_clear(ret_content);
	assert_int_equal(small_file_read(path, 1 << 20, ret_content, NULL), STATUS_OK);
}

static void file_put(const struct lab *lab, const char *name, const char *content)
{
	struct text text AUTO_TEXT = { 0 };
	char path[128];

	path_of(lab, name, path);
	text_puts(&text, content);
	assert_int_equal(small_file_place(path, &text, 0644, PLACE_NEW, NULL), STATUS_OK);
}

static gnutls_x509_crt_t certificate_of(const struct text *pem)
{
	const gnutls_datum_t datum = { (unsigned char *)pem->data, (unsigned)pem->length };
	gnutls_x509_crt_t certificate;

	assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
	assert_int_equal(gnutls_x509_crt_import(certificate, &datum, GNUTLS_X509_FMT_PEM), 0);
	return certificate;
}

/* The result of verifying the leaf as a client that trusts the authority. */
static unsigned outcome_on(const struct lab *lab, gnutls_x509_crt_t leaf, const char *host)
{
	struct text pem AUTO_TEXT = { 0 };
	gnutls_typed_vdata_st data = { GNUTLS_DT_DNS_HOSTNAME, (unsigned char *)host, 0 };
	gnutls_x509_trust_list_t list;
	gnutls_x509_crt_t root;
	unsigned outcome = 0;

	file_of(lab, "ca.crt", &pem);
	root = certificate_of(&pem);
	assert_int_equal(gnutls_x509_trust_list_init(&list, 0), 0);
	assert_int_equal(gnutls_x509_trust_list_add_cas(list, &root, 1, 0), 1);
	assert_int_equal(gnutls_x509_trust_list_verify_crt2(list, &leaf, 1, &data, 1, 0, &outcome, NULL), 0);
	gnutls_x509_trust_list_deinit(list, 1);
	return outcome;
}

static gnutls_x509_crt_t issue(const struct lab *lab, const char *const *hosts, size_t count, int64_t at_s)
{
	struct text key AUTO_TEXT = { 0 };
	struct text pem AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };

	if (authority_issue(lab->authority, hosts, count, at_s, &key, &pem, &err))
		fail_msg("not issued: %s", err.text);
	assert_non_null(strstr(key.data, "-----BEGIN PRIVATE KEY-----"));
	return certificate_of(&pem);
}

static void who_trusts_the_authority_trusts_its_names_and_no_others(void **state)
{
	const struct lab *lab = *state;
	gnutls_x509_crt_t leaf = issue(lab, names, 2, time(NULL));

	assert_int_equal(outcome_on(lab, leaf, "storage.googleapis.com"), 0);
	assert_int_equal(outcome_on(lab, leaf, "www.googleapis.com"), 0);
	assert_int_not_equal(outcome_on(lab, leaf, "ml.googleapis.com"), 0);
	gnutls_x509_crt_deinit(leaf);
}

static void it_cannot_sign_for_others_than_google(void **state)
{
	static const char *const others[] = { "example.org" };
	const struct lab *lab = *state;
	gnutls_x509_crt_t leaf = issue(lab, others, 1, time(NULL));

	assert_int_not_equal(outcome_on(lab, leaf, "example.org"), 0);
	gnutls_x509_crt_deinit(leaf);
}

static void a_leaf_is_good_for_two_years(void **state)
{
	const struct lab *lab = *state;
	gnutls_x509_crt_t leaf = issue(lab, names, 2, now_s);

	assert_int_equal(gnutls_x509_crt_get_activation_time(leaf), now_s - 24 * 3600);
	assert_int_equal(gnutls_x509_crt_get_expiration_time(leaf), now_s + 2 * YEAR);
	gnutls_x509_crt_deinit(leaf);
}

static void the_key_is_for_its_owner_alone(void **state)
{
	const struct lab *lab = *state;
	char path[128];
	struct stat about;

	gnutls_x509_crt_deinit(issue(lab, names, 2, now_s));
	path_of(lab, "ca.key", path);
	assert_int_equal(stat(path, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
}

static void key_and_certificate_are_kept_until_it_nears_its_end(void **state)
{
	const struct lab *lab = *state;
	struct text keys[2] = { { 0 } }, certificates[3] = { { 0 } };

	gnutls_x509_crt_deinit(issue(lab, names, 2, now_s));
	file_of(lab, "ca.key", &keys[0]);
	file_of(lab, "ca.crt", &certificates[0]);
	gnutls_x509_crt_deinit(issue(lab, names, 2, now_s + 12 * YEAR));
	file_of(lab, "ca.crt", &certificates[1]);
	assert_string_equal(certificates[0].data, certificates[1].data);
	gnutls_x509_crt_deinit(issue(lab, names, 2, now_s + 13 * YEAR));
	file_of(lab, "ca.crt", &certificates[2]);
	file_of(lab, "ca.key", &keys[1]);
	assert_string_not_equal(certificates[0].data, certificates[2].data);
	assert_string_equal(keys[0].data, keys[1].data);
	for (size_t i = 0; i < 3; i++)
		text_deinit(&certificates[i]);
	text_deinit(&keys[0]);
	text_deinit(&keys[1]);
}

static void another_key_gets_another_certificate(void **state)
{
	const struct lab *lab = *state;
	char path[128];
	gnutls_x509_crt_t leaf;

	gnutls_x509_crt_deinit(issue(lab, names, 2, now_s));
	path_of(lab, "ca.key", path);
	assert_int_equal(unlink(path), 0);
	leaf = issue(lab, names, 2, time(NULL));
	assert_int_equal(outcome_on(lab, leaf, names[0]), 0);
	gnutls_x509_crt_deinit(leaf);
}

static void a_file_that_holds_something_else_is_told_of(void **state)
{
	static const char *const contents[] = { "", "no key", "-----BEGIN PRIVATE KEY-----\nMAA=\n" };
	const struct lab *lab = *state;

	for (size_t i = 0; i < COUNT_OF(contents); i++) {
		struct text key AUTO_TEXT = { 0 };
		struct text pem AUTO_TEXT = { 0 };
		struct error err AUTO_ERROR = { 0 };

		file_put(lab, "ca.key", contents[i]);
		assert_int_equal(authority_issue(lab->authority, names, 2, now_s, &key, &pem, &err),
				 STATUS_FAILED_PRECONDITION);
		assert_non_null(strstr(err.text, "ca.key does not hold a private key: remove it"));
	}
}

static void *issue_first(void *arg)
{
	struct authority *authority = authority_new(arg, "ca", "googleapis.com");
	struct text key AUTO_TEXT = { 0 };
	struct text pem AUTO_TEXT = { 0 };

	assert_non_null(authority);
	assert_int_equal(authority_issue(authority, names, 2, time(NULL), &key, &pem, NULL), STATUS_OK);
	authority_free(authority);
	return text_take(&pem);
}

static void those_who_make_it_at_once_agree(void **state)
{
	struct lab *lab = *state;
	pthread_t threads[8];

	for (size_t i = 0; i < COUNT_OF(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, issue_first, lab->directory), 0);
	for (size_t i = 0; i < COUNT_OF(threads); i++) {
		struct text pem AUTO_TEXT = { 0 };
		gnutls_x509_crt_t leaf;
		void *made;

		assert_int_equal(pthread_join(threads[i], &made), 0);
		text_puts(&pem, made);
		free(made);
		leaf = certificate_of(&pem);
		assert_int_equal(outcome_on(lab, leaf, names[0]), 0);
		gnutls_x509_crt_deinit(leaf);
	}
}

/* ---- one daemon's threads ---- */

enum { THREADS = 6, ROUNDS = 8 };

struct crowd {
	struct lab *lab;
	pthread_barrier_t start;
};

/* The contents of the authority's file when the first certificate was issued. */
static void *issue_and_look(void *arg)
{
	struct crowd *crowd = arg;
	struct text key AUTO_TEXT = { 0 };
	struct text pem AUTO_TEXT = { 0 };
	struct text seen AUTO_TEXT = { 0 };

	pthread_barrier_wait(&crowd->start);
	assert_int_equal(authority_issue(crowd->lab->authority, names, 2, now_s, &key, &pem, NULL),
			 STATUS_OK);
	file_of(crowd->lab, "ca.crt", &seen);
	return text_take(&seen);
}

static void new_state(struct lab *lab)
{
	char path[128];

	path_of(lab, "ca.key", path);
	unlink(path);
	path_of(lab, "ca.crt", path);
	unlink(path);
}

/* A client that trusts ca.crt, or uses its bundle, keeps working: the authority never changes. Fails with: authority_take()
 * without its lock. */
static void threads_of_one_daemon_make_it_once(void **state)
{
	struct crowd crowd = { .lab = *state };

	assert_int_equal(pthread_barrier_init(&crowd.start, NULL, THREADS), 0);
	for (int round = 0; round < ROUNDS; round++) {
		pthread_t threads[THREADS];
		void *seen[THREADS];
		size_t same = 0;

		new_state(crowd.lab);
		for (size_t i = 0; i < THREADS; i++)
			assert_int_equal(pthread_create(&threads[i], NULL, issue_and_look, &crowd), 0);
		for (size_t i = 0; i < THREADS; i++)
			assert_int_equal(pthread_join(threads[i], &seen[i]), 0);
		for (size_t i = 0; i < THREADS; i++)
			same += strcmp(seen[i], seen[0]) == 0;
		for (size_t i = 0; i < THREADS; i++)
			free(seen[i]);
		assert_int_equal(same, THREADS);
	}
	pthread_barrier_destroy(&crowd.start);
}

static void a_bundle_holds_the_systems_certificates_and_ours(void **state)
{
	const struct lab *lab = *state;
	struct text path AUTO_TEXT = { 0 };
	struct text bundle AUTO_TEXT = { 0 };
	struct text own AUTO_TEXT = { 0 };
	struct text expected AUTO_TEXT = { 0 };
	char system[128];

	path_of(lab, "system.crt", system);
	for (int i = 0; i < 2; i++) {
		file_put(lab, "system.crt", i ? "changed\n" : "no line end");
		text_clear(&path);
		assert_int_equal(authority_bundle(lab->authority, system, now_s, &path, NULL), STATUS_OK);
		assert_non_null(strstr(path.data, "/ca/bundle.crt"));
		file_of(lab, "ca/bundle.crt", &bundle);
		file_of(lab, "ca.crt", &own);
		text_clear(&expected);
		text_printf(&expected, "%s%s", i ? "changed\n" : "no line end\n", own.data);
		assert_string_equal(bundle.data, expected.data);
	}
	assert_int_equal(authority_bundle(lab->authority, NULL, now_s, &path, NULL), STATUS_OK);
	file_of(lab, "ca/bundle.crt", &bundle);
	assert_string_equal(bundle.data, own.data);
	path_of(lab, "none.crt", system);
	assert_int_equal(authority_bundle(lab->authority, system, now_s, &path, NULL), STATUS_NOT_FOUND);
}

/* The certificate at @pem against the only trusted one, as both ends of an agent's connection look at it. */
static unsigned distrust_of(const struct text *pem, const struct text *trusted)
{
	const gnutls_datum_t data[] = { { (unsigned char *)pem->data, (unsigned)pem->length },
					{ (unsigned char *)trusted->data, (unsigned)trusted->length } };
	gnutls_x509_trust_list_t list;
	gnutls_x509_crt_t certificate;
	unsigned found = 0;

	assert_int_equal(gnutls_x509_trust_list_init(&list, 0), 0);
	assert_int_equal(gnutls_x509_trust_list_add_trust_mem(list, &data[1], NULL, GNUTLS_X509_FMT_PEM, 0, 0), 1);
	assert_int_equal(gnutls_x509_crt_init(&certificate), 0);
	assert_int_equal(gnutls_x509_crt_import(certificate, &data[0], GNUTLS_X509_FMT_PEM), 0);
	assert_int_equal(gnutls_x509_trust_list_verify_crt(list, &certificate, 1, 0, &found, NULL), 0);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_trust_list_deinit(list, 1);
	return found;
}

static void a_certificate_that_is_its_own_authority_is_trusted_by_itself_alone(void **state)
{
	const int64_t today_s = (int64_t)time(NULL);
	struct text keys AUTO_TEXT = { 0 }, one AUTO_TEXT = { 0 }, other AUTO_TEXT = { 0 };

	(void)state;
	assert_int_equal(certificate_self_signed("trainyard daemon", today_s, &keys, &one, NULL), STATUS_OK);
	assert_int_equal(certificate_self_signed("trainyard daemon", today_s, &keys, &other, NULL), STATUS_OK);
	assert_int_equal(distrust_of(&one, &one), 0);
	assert_int_not_equal(distrust_of(&other, &one), 0);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(TEST) cmocka_unit_test_setup_teardown(TEST, setup, teardown)
		CASE(who_trusts_the_authority_trusts_its_names_and_no_others),
		CASE(it_cannot_sign_for_others_than_google),
		CASE(a_leaf_is_good_for_two_years),
		CASE(the_key_is_for_its_owner_alone),
		CASE(key_and_certificate_are_kept_until_it_nears_its_end),
		CASE(another_key_gets_another_certificate),
		CASE(a_file_that_holds_something_else_is_told_of),
		CASE(those_who_make_it_at_once_agree),
		CASE(threads_of_one_daemon_make_it_once),
		CASE(a_bundle_holds_the_systems_certificates_and_ours),
		CASE(a_certificate_that_is_its_own_authority_is_trusted_by_itself_alone),
	};

	return cmocka_run_group_tests_name("authority", tests, NULL, NULL);
}
