/* SPDX-License-Identifier: Apache-2.0 */
#include "store/keys/signing_key.h"

#include <fcntl.h>
#include <pthread.h>
#include <sodium.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "daemon/base/json.h"
#include "tests/unit/store/store_testing.h"

/* One directory for most tests, because making a key takes long. */
static char shared[64];
static struct signing_key *key;

static int shared_open(void **state)
{
	(void)state;
	snprintf(shared, sizeof(shared), "/tmp/trainyard-test-XXXXXX");
	if (!mkdtemp(shared))
		return -1;
	key = signing_key_new(shared);
	return key ? 0 : -1;
}

static int shared_close(void **state)
{
	(void)state;
	signing_key_free(key);
	directory_remove(shared);
	return 0;
}

static json_t *claims_sample(void)
{
	return json_pack("{s:s, s:s, s:I, s:b}", "iss", "https://accounts.google.com", "aud", "https://me",
			 "exp", (json_int_t)1795132800, "email_verified", 1);
}

static size_t files_in(const char *dir)
{
	DIR *listing = opendir(dir);
	struct dirent *file;
	size_t count = 0;

	while ((file = readdir(listing)))
		count += file->d_name[0] != '.';
	closedir(listing);
	return count;
}

static void what_was_signed_is_read_back(void **state)
{
	(void)state;
	AUTO(json) json_t *claims = claims_sample();
	AUTO(json) json_t *read = NULL;
	struct text jwt AUTO_TEXT = { 0 };
	struct error err AUTO_ERROR = { 0 };

	assert_int_equal(signing_key_sign(key, claims, &jwt, &err), STATUS_OK);
	assert_int_equal(signing_key_verify(key, jwt.data, &read, &err), STATUS_OK);
	assert_true(json_equal(claims, read));
}

static void every_changed_letter_is_refused(void **state)
{
	(void)state;
	AUTO(json) json_t *claims = claims_sample();
	struct text jwt AUTO_TEXT = { 0 };
	json_t *read = NULL;

	signing_key_sign(key, claims, &jwt, NULL);
	for (size_t i = 0; i < jwt.length; i++) {
		char kept = jwt.data[i];

		jwt.data[i] = kept == 'A' ? 'B' : 'A';
		assert_int_equal(signing_key_verify(key, jwt.data, &read, NULL), STATUS_UNAUTHENTICATED);
		jwt.data[i] = '\0';
		assert_int_equal(signing_key_verify(key, jwt.data, &read, NULL), STATUS_UNAUTHENTICATED);
		jwt.data[i] = kept;
	}
	assert_null(read);
}

static void what_is_no_token_is_refused(void **state)
{
	(void)state;
	/* The third is {"alg":"none"}.{}. without a signature. */
	static const char *const others[] = { "",
					      ".",
					      "..",
					      "eyJhbGciOiJub25lIn0.e30.",
					      "a.b.c.d",
					      "eyJhbGciOiJIUzI1NiJ9.e30.AAAA",
					      "\xff.\xff.\xff" };
	struct error err AUTO_ERROR = { 0 };
	char *large = malloc(100001);
	json_t *read = NULL;

	for (size_t i = 0; i < COUNT_OF(others); i++)
		assert_int_equal(signing_key_verify(key, others[i], &read, &err), STATUS_UNAUTHENTICATED);
	assert_string_equal(err.text, "Invalid JWT Signature.");
	memset(large, 'A', 100000);
	large[100000] = '\0';
	assert_int_equal(signing_key_verify(key, large, &read, NULL), STATUS_UNAUTHENTICATED);
	large[10] = large[20] = '.';
	assert_int_equal(signing_key_verify(key, large, &read, NULL), STATUS_UNAUTHENTICATED);
	free(large);
}

static void another_directory_s_signature_is_refused(void **state)
{
	(void)state;
	char dir[] = "/tmp/trainyard-test-XXXXXX";
	AUTO(json) json_t *claims = claims_sample();
	struct text jwt AUTO_TEXT = { 0 };
	json_t *read = NULL;

	assert_non_null(mkdtemp(dir));
	struct signing_key *other = signing_key_new(dir);
	assert_int_equal(signing_key_sign(other, claims, &jwt, NULL), STATUS_OK);
	assert_int_equal(signing_key_verify(key, jwt.data, &read, NULL), STATUS_UNAUTHENTICATED);
	signing_key_free(other);
	directory_remove(dir);
}

static void the_file_is_the_owner_s_alone_and_nothing_is_left_beside_it(void **state)
{
	(void)state;
	struct text path AUTO_TEXT = { 0 };
	json_t *jwks = NULL;
	struct stat info;

	assert_int_equal(signing_key_jwks(key, &jwks, NULL), STATUS_OK);
	json_decref(jwks);
	text_printf(&path, "%s/identity.key", shared);
	assert_int_equal(stat(path.data, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(files_in(shared), 1);
}

/* The key is read again, and the file has it in the form that openssl and other libraries read. */
static void the_key_stays_and_its_pem_is_the_file(void **state)
{
	(void)state;
	struct text path AUTO_TEXT = { 0 };
	struct text pem AUTO_TEXT = { 0 };
	struct signing_key *again = signing_key_new(shared);
	char id[41], other_id[41], file[4096];
	struct text other AUTO_TEXT = { 0 };

	assert_int_equal(signing_key_pem(key, &pem, id, NULL), STATUS_OK);
	assert_int_equal(signing_key_pem(again, &other, other_id, NULL), STATUS_OK);
	assert_string_equal(id, other_id);
	assert_string_equal(pem.data, other.data);
	assert_int_equal(strspn(id, "0123456789abcdef"), 40);
	text_printf(&path, "%s/identity.key", shared);
	FILE *read = fopen(path.data, "r");
	file[fread(file, 1, sizeof(file) - 1, read)] = '\0';
	fclose(read);
	assert_string_equal(file, pem.data);
	signing_key_free(again);
}

static void openssl_says(const char *command, const char *expected)
{
	char line[256] = "";
	FILE *output = popen(command, "r");

	assert_non_null(output);
	assert_non_null(fgets(line, sizeof(line), output));
	pclose(output);
	assert_non_null(strstr(line, expected));
}

/* openssl verifies a signature, independently of our code. */
static void openssl_takes_the_key_and_the_signature(void **state)
{
	(void)state;
	AUTO(json) json_t *claims = claims_sample();
	struct text jwt AUTO_TEXT = { 0 };
	struct text command AUTO_TEXT = { 0 };
	unsigned char signature[256];
	size_t length = 0;

	if (system("openssl version >/dev/null 2>&1") != 0)
		skip();
	text_printf(&command, "openssl rsa -check -noout -in %s/identity.key 2>&1", shared);
	openssl_says(command.data, "RSA key ok");
	assert_int_equal(signing_key_sign(key, claims, &jwt, NULL), STATUS_OK);
	const char *dot = strrchr(jwt.data, '.');
	assert_int_equal(sodium_base642bin(signature, sizeof(signature), dot + 1, strlen(dot + 1), NULL,
					   &length, NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING),
			 0);
	text_clear(&command);
	text_printf(
		&command,
		"cd %s && cat >signature && openssl rsa -in identity.key -pubout -out public 2>/dev/null"
		" && printf %%s '%.*s' >text && openssl dgst -sha256 -verify public -signature signature text"
		" >verdict",
		shared, (int)(dot - jwt.data), jwt.data);
	FILE *input = popen(command.data, "w");
	fwrite(signature, 1, length, input);
	assert_int_equal(pclose(input), 0);
	text_clear(&command);
	text_printf(&command, "cat %s/verdict; rm %s/signature %s/public %s/text %s/verdict", shared, shared,
		    shared, shared, shared);
	openssl_says(command.data, "Verified OK");
}

static void the_key_set_names_the_public_half(void **state)
{
	(void)state;
	struct text pem AUTO_TEXT = { 0 };
	AUTO(json) json_t *jwks = NULL;
	char id[41];

	assert_int_equal(signing_key_jwks(key, &jwks, NULL), STATUS_OK);
	signing_key_pem(key, &pem, id, NULL);
	const json_t *one = json_array_get(json_object_get(jwks, "keys"), 0);
	assert_int_equal(json_array_size(json_object_get(jwks, "keys")), 1);
	assert_string_equal(json_text_at(one, "kid"), id);
	assert_string_equal(json_text_at(one, "kty"), "RSA");
	assert_string_equal(json_text_at(one, "alg"), "RS256");
	assert_string_equal(json_text_at(one, "use"), "sig");
	assert_string_equal(json_text_at(one, "e"), "AQAB");
	assert_int_equal(strlen(json_text_at(one, "n")), 342);
	assert_null(json_object_get(one, "d"));
}

enum { RACERS = 4 };

static void *race(void *arg)
{
	struct text pem AUTO_TEXT = { 0 };
	char *id = calloc(1, 41);

	if (signing_key_pem(arg, &pem, id, NULL))
		id[0] = '\0';
	return id;
}

/* Each thread has a struct of its own, as two programs would. */
static void those_who_make_it_at_once_agree_on_one(void **state)
{
	(void)state;
	char dir[] = "/tmp/trainyard-test-XXXXXX";
	struct signing_key *keys[RACERS];
	pthread_t threads[RACERS];
	char *ids[RACERS];

	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < RACERS; i++) {
		keys[i] = signing_key_new(dir);
		assert_int_equal(pthread_create(&threads[i], NULL, race, keys[i]), 0);
	}
	for (int i = 0; i < RACERS; i++) {
		pthread_join(threads[i], (void **)&ids[i]);
		signing_key_free(keys[i]);
	}
	for (int i = 0; i < RACERS; i++) {
		assert_int_equal(strlen(ids[i]), 40);
		assert_string_equal(ids[i], ids[0]);
	}
	for (int i = 0; i < RACERS; i++)
		free(ids[i]);
	assert_int_equal(files_in(dir), 1);
	directory_remove(dir);
}

static void file_put(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(content, file);
	fclose(file);
}

/* Keys of other kinds: elliptic, and RSA with 1024 bits. */
static const char elliptic_pem[] = "-----BEGIN PRIVATE KEY-----\n"
				   "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgVLDqT8sxUcqAxq6M\n"
				   "W/DZOFisxxeTPU7WA9LQoT+pKIahRANCAAQyCNRrJpUVMRT4GbGncplb8d0JloBG\n"
				   "Yal+QAAQfhGVD3fGbKGxUATTu6DdE1DexlHdnoxhvhzOtPZ5y5xrqcmT\n"
				   "-----END PRIVATE KEY-----\n";
static const char small_pem[] = "-----BEGIN PRIVATE KEY-----\n"
				"MIICdwIBADANBgkqhkiG9w0BAQEFAASCAmEwggJdAgEAAoGBAONv3C12Q++NbiGw\n"
				"RBcJsbfrt+KoKc/Y40TQPA5/YTgy08aADe7m+sZO9HmKgXz/vVyS4cDhMfEpdXED\n"
				"MeIWMT3Cn6F6fCqq6A/zTDH19mgAvrB9H9vRlN/o/kAnJow5el3c/eNMKE/EPiUE\n"
				"TgVnuqIbVpHLBu3/UCZP9CqM8Rg9AgMBAAECgYEA2oWHj0aqT2gcANJTGa9+ya/5\n"
				"phTc148UDfHlQiixSEXNpFM1D+1t1UvXKVAiye8OCfw2XBQC4CttY4AmVYvtEhHU\n"
				"uP2+tKGuVChfqMqx+R105otZtpBZp1+t8UdtmJhGUa1MyBwb8hecm8djJBVtMXIr\n"
				"cXo1ICr8ahgdatUE7wECQQD82bhur3v+g/v/DyKsvGjMjuzB7Kfas2yiAEHuTEM9\n"
				"Ok3m77mjKNCVZNc6YGnuqR7Q6e7ljP8WQ6waXyBs71kpAkEA5kUaHY8i6guWcoxI\n"
				"2EID0xvw38n6hI5qntGw22obr/wcXuuh3e5txJjC9UmjLc03UPEgSahFXCJYftyd\n"
				"KH8k9QJBALsdl9n5bWYtYCghmESCbX+r6VOdgZ5cF3FPhXsG3t+JrSrQju1KgAl+\n"
				"hbRCs0IVz6NE6zDfBcsBK3Scnw9elPkCQAtB7ZjsWoSetGg9O4J3F8DGaOxH75tz\n"
				"avsAvWi8s0XTSX/KfUtgULV/0mgzhWrD0aR/ZVi0hU+PzkvFdVl5fdECQHlEuykO\n"
				"67LX/hB4knr8unPoQu3VaMxSM+XGCrOnmcmGdyZNiajpKlCFUghSRqs7GireP8xM\n"
				"e9y//jhVW3CCS8M=\n"
				"-----END PRIVATE KEY-----\n";

/* A key that an earlier build made with other libraries, and a signature of that build. */
static const char earlier_pem[] = "-----BEGIN PRIVATE KEY-----\n"
				  "MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCzcZ8G6ECibwWb\n"
				  "WWQTdPAafnQmQ0BaG6R9ngIRI2q8S1HTPrJxGxHS+QGmrmA8gMWjajCIA40Vgx8C\n"
				  "jlQu6Wqfdly9dRJqa4NpOeyQV6RuFeF23R4iRmDxHnNB3icXxorLAioi05oGXTMj\n"
				  "Mk9kdcvNVzgCMr8BdrvbDZ0ROGAkGWTEmEZByCwHJAuAtltXKCuJYmv3C5jq2JV5\n"
				  "dCioJJSpa9qFHU7qBf157a1Qmy7aMZrhey/2mrSzKZpeVkoPcEa470vENgkP3KZp\n"
				  "miYkw9noZhAmObvJqs5QqB9sH23of0Renl/KUQmgFa3eU4ruUByZQNlG9p+dRtvp\n"
				  "szFJke3zAgMBAAECggEAUCBcMmli8yVAC65O0aFV1X7BvpQpGBNfz/fOVHjMIGhB\n"
				  "kWJdq8O6ocouwo76ygl2NxIjuZhcV07Feg6z6H6x7aKcprywDHUVqNcEmy+HbOC4\n"
				  "XKs/2W4zu3ctYCwiqKsvLpc42XRDQrQ7MWw1p1YyOu7HQ7QFNlIecCIUEKxrwbIV\n"
				  "NhOL/FBBikIOQhxsub+gE7/UKoxjbE9XQQxV9Eftabiz9MkanZxd+QovdR+IS2Wc\n"
				  "GLVJ1vA/jNLisNrQEgSHqqhMOcWVEvnccsV/AGoOOiEpkG9fVChPVhXB9AvuM3v8\n"
				  "42fEfhiB7Kix6W0yhCDZMotAl8eR1UUu+w7upR1agQKBgQDHhyzJv05mG5PDrnjz\n"
				  "ndhiHiZ0kitGEQaMljRNvg7nHAVdx6Lqt36MGNdEqmblLxaaJ75yoVNmVhd57DMb\n"
				  "YroOiyyEqTvkllEOHMGxF7Vde6WYCtF9DX+t97vwrX+9PddrNMJ2n6EPOlJ7Duts\n"
				  "wP0SRJ4DBL+K8Ul2L5db/kfYTwKBgQDmOz5mHbtvv5Ua2vbfM6zHbgjPIfeTcIp6\n"
				  "9SJCw8CQJRI/UQd7ywhAV+sVp5zdqHblToKhgz1PyfGomejyqA15aRt07TEo4P2I\n"
				  "g2ptcOn3a1uFQAAcjVpDxemXxjNV+RaPIEzvafqUmJ4eouep2ktdlNeTv2oVreNT\n"
				  "h3V3nuKDHQKBgDTU1QYicpbUzH5uzzXqYKYyR4psPasSzQIir3y6S2XkZINdXgT6\n"
				  "Sza7SRy0ZgRfQIPW7DWcA+I//31YDnw82vkI3uPNj79KEfJDqQHEPlCfccxdaPTM\n"
				  "wzcENq5WslEgc86+LJOOVu4aSkatP6cPPrM8mf5Anpsioon5tgE0xj8/AoGAWE2A\n"
				  "sUnWChZA6fvxk8oOCq95UXiFrFcNxfsfGNxbju2pAf/iDujgUU1nLPcMgzeJ4okq\n"
				  "MShU67VYqoHdhrRN9rMJhN80a6lflGxS9YbJNcxHXeQeJtVQOY4++adbKS5QKLUK\n"
				  "zQiowzWF79orYEoJfesIg/J2jboT5oWd2DNoTUECgYB2ewB1kM3RLuaV4JAiJ0rm\n"
				  "B+5zXvMOxT3t6hSNcAbiliMRuXbA9ThnsWM0BO/uxd8I474NiFYXj3R0uryDRn2B\n"
				  "BFEZGTpsIUydF+pnQtXsYYfFz13P7KW4aNQ7hTvzB3590UcQ1pZ+cBLVth7iKI2v\n"
				  "OPhMETesGIpMCFDcUqvOxw==\n"
				  "-----END PRIVATE KEY-----\n";
static const char earlier_id[] = "ddcdf28b76462c8bd3969bd8cc3efbecb646f35a";
static const char earlier_modulus[] =
	"s3GfBuhAom8Fm1lkE3TwGn50JkNAWhukfZ4CESNqvEtR0z6ycRsR0vkBpq5gPIDFo2owiAONFYMfAo5ULulqn3ZcvXUS"
	"amuDaTnskFekbhXhdt0eIkZg8R5zQd4nF8aKywIqItOaBl0zIzJPZHXLzVc4AjK_AXa72w2dEThgJBlkxJhGQcgsByQL"
	"gLZbVygriWJr9wuY6tiVeXQoqCSUqWvahR1O6gX9ee2tUJsu2jGa4Xsv9pq0symaXlZKD3BGuO9LxDYJD9ymaZomJMPZ"
	"6GYQJjm7yarOUKgfbB9t6H9EXp5fylEJoBWt3lOK7lAcmUDZRvafnUbb6bMxSZHt8w";
static const char earlier_jwt[] =
	"eyJhbGciOiJSUzI1NiIsImtpZCI6ImRkY2RmMjhiNzY0NjJjOGJkMzk2OWJkOGNjM2VmYmVjYjY0NmYzNWEiLCJ0eXAi"
	"OiJKV1QifQ"
	"."
	"eyJpc3MiOiJodHRwczovL2FjY291bnRzLmdvb2dsZS5jb20iLCJleHAiOjE3OTUxMzI4MDB9"
	"."
	"WztTIWtrcHUaN4yb_zXSh60YfyVjFdZYjXOI8zk2Zb3ZTnZRbNXOK0a7f83bhFJ6_wKr__5GdusSeUcIDEzQ3EwF39m8"
	"3wXIGZUyZl7dGNZrDt77KYXXf9BRKpUXArYCAaZAwVPB_2m3pi1YsxjZd5fAOcrJSFG7BHAdiVa9HgxUdsubPy3jIO8G"
	"p24Bmb36UONh6CbnmgVzSgjc6Hkt4barvJypSIw8R9sVaSwVjxXA5xCR3PUG27Aj5RYygoIgAhwWbDLfGvVnB5BGeTxu"
	"inXPuXBzhN1ofyWAZUYQWzUA4VsfSFSXD6HwmeGKte4gCFddVb4xppHpLWMguHsS8g";

/* Fails with: public_describe() that puts no zeros before the exponent. */
static void a_key_of_an_earlier_build_gives_the_same_bytes(void **state)
{
	(void)state;
	char dir[] = "/tmp/trainyard-test-XXXXXX";
	AUTO(json) json_t *jwks = NULL;
	AUTO(json)
	json_t *claims =
		json_pack("{s:s, s:I}", "iss", "https://accounts.google.com", "exp", (json_int_t)1795132800);
	struct text path AUTO_TEXT = { 0 };
	struct text jwt AUTO_TEXT = { 0 };
	struct text pem AUTO_TEXT = { 0 };
	char id[41];

	assert_non_null(mkdtemp(dir));
	text_printf(&path, "%s/identity.key", dir);
	file_put(path.data, earlier_pem);
	AUTO(signing_key) struct signing_key *earlier = signing_key_new(dir);

	assert_int_equal(signing_key_sign(earlier, claims, &jwt, NULL), STATUS_OK);
	assert_string_equal(jwt.data, earlier_jwt);
	assert_int_equal(signing_key_pem(earlier, &pem, id, NULL), STATUS_OK);
	assert_string_equal(pem.data, earlier_pem);
	assert_string_equal(id, earlier_id);
	assert_int_equal(signing_key_jwks(earlier, &jwks, NULL), STATUS_OK);
	const json_t *one = json_array_get(json_object_get(jwks, "keys"), 0);
	assert_string_equal(json_text_at(one, "n"), earlier_modulus);
	assert_string_equal(json_text_at(one, "e"), "AQAB");
	directory_remove(dir);
}

/* Fails with: key_read() that asks neither for the size nor gnutls_x509_privkey_verify_params(). */
static void a_file_that_holds_no_key_is_said_and_left_alone(void **state)
{
	(void)state;
	char mixed[sizeof(earlier_pem)];
	const char *const contents[] = { "",
					 "no key",
					 "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
					 "-----BEGIN PRIVATE KEY-----\nMAMCAQA=\n-----END PRIVATE KEY-----\n",
					 "-----BEGIN PRIVATE KEY-----\n****\n-----END PRIVATE KEY-----\n",
					 elliptic_pem,
					 small_pem,
					 mixed };
	char dir[] = "/tmp/trainyard-test-XXXXXX";
	struct text path AUTO_TEXT = { 0 };

	memcpy(mixed, earlier_pem, sizeof(mixed));
	mixed[850] = mixed[850] == 'A' ? 'B' : 'A'; /* of a prime: the numbers do not belong together */
	assert_non_null(mkdtemp(dir));
	text_printf(&path, "%s/identity.key", dir);
	for (size_t i = 0; i < COUNT_OF(contents); i++) {
		struct error err AUTO_ERROR = { 0 };
		struct signing_key *broken = signing_key_new(dir);
		json_t *jwks = NULL;

		file_put(path.data, contents[i]);
		assert_int_equal(signing_key_jwks(broken, &jwks, &err), STATUS_FAILED_PRECONDITION);
		assert_non_null(strstr(err.text, path.data));
		signing_key_free(broken);
	}
	directory_remove(dir);
}

static void a_directory_that_cannot_be_written_is_said(void **state)
{
	(void)state;
	struct signing_key *nowhere = signing_key_new("/proc/nowhere");
	struct error err AUTO_ERROR = { 0 };
	json_t *jwks = NULL;

	assert_int_equal(signing_key_jwks(nowhere, &jwks, &err), STATUS_FAILED_PRECONDITION);
	assert_non_null(strstr(err.text, "/proc/nowhere/identity.key"));
	signing_key_free(nowhere);
}

static int TEST_MAIN(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_signed_is_read_back),
		cmocka_unit_test(every_changed_letter_is_refused),
		cmocka_unit_test(what_is_no_token_is_refused),
		cmocka_unit_test(another_directory_s_signature_is_refused),
		cmocka_unit_test(the_file_is_the_owner_s_alone_and_nothing_is_left_beside_it),
		cmocka_unit_test(the_key_stays_and_its_pem_is_the_file),
		cmocka_unit_test(openssl_takes_the_key_and_the_signature),
		cmocka_unit_test(the_key_set_names_the_public_half),
		cmocka_unit_test(those_who_make_it_at_once_agree_on_one),
		cmocka_unit_test(a_key_of_an_earlier_build_gives_the_same_bytes),
		cmocka_unit_test(a_file_that_holds_no_key_is_said_and_left_alone),
		cmocka_unit_test(a_directory_that_cannot_be_written_is_said),
	};

	return cmocka_run_group_tests(tests, shared_open, shared_close);
}
