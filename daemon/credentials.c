/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/credentials.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/metadata/account.h"
#include "daemon/base/cleanup.h"
#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "store/keys/signing_key.h"
#include "store/small_file.h"

/* PROMISED_BYTES: the file has this size before it has its content, because some programs look at the size before they
 * open the file. */
enum { FILE_MODE = 0600, CREDENTIALS_BYTES_MAX = 16384, PROMISED_BYTES = 4096 };

/* "trainyard@my-project.iam.gserviceaccount.com": the account that programs outside containers use. The project
 * "example.com:project", which belongs to a domain, has "trainyard@project.example.com.iam.gserviceaccount.com".
 * Source: https://cloud.google.com/iam/docs/service-account-overview (read 2026-11-22) */
static void email_write(struct text *text, const char *project)
{
	const char *colon = strchr(project, ':');

	text_printf(text, "trainyard@%s", colon ? colon + 1 : project);
	if (colon)
		text_printf(text, ".%.*s", (int)(colon - project), project);
	text_puts(text, ".iam.gserviceaccount.com");
}

static json_t *credentials_json(const char *url, const char *project, const char *pem, const char *key_id)
{
	char client_id[ACCOUNT_ID_SIZE];
	struct text email AUTO_TEXT = { 0 };
	struct text token_uri AUTO_TEXT = { 0 };

	email_write(&email, project);
	text_printf(&token_uri, "%s/token", url);
	account_id_write(email.data, client_id);
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}", "type", "service_account", "project_id",
			 project, "private_key_id", key_id, "private_key", pem, "client_email", email.data,
			 "client_id", client_id, "token_uri", token_uri.data, "universe_domain",
			 "googleapis.com");
}

static enum status content_make(const char *state_dir, const char *url, const char *project,
				struct text *content, struct error *err)
{
	AUTO(signing_key) struct signing_key *key = signing_key_new(state_dir);
	struct text pem AUTO_TEXT = { 0 };
	AUTO(json) json_t *credentials = NULL;
	char key_id[41];
	enum status rc = signing_key_pem(key, &pem, key_id, err);

	if (rc)
		return rc;
	credentials = credentials_json(url, project, pem.data, key_id);
	json_write(content, credentials);
	text_putc(content, '\n');
	return STATUS_OK;
}

static void file_close(FILE *file)
{
	fclose(file);
}

DEFINE_AUTO(file, FILE *, file_close)

static bool file_holds(const char *path, const struct text *content)
{
	AUTO(file) FILE *file = fopen(path, "re");
	char seen[CREDENTIALS_BYTES_MAX];
	struct stat info;

	return file && fstat(fileno(file), &info) == 0 && (info.st_mode & 0777) == FILE_MODE &&
	       fread(seen, 1, sizeof(seen), file) == content->length &&
	       memcmp(seen, content->data, content->length) == 0;
}

/* Does not make the directory: it is not known whether a daemon will ever use it. */
static enum status directory_check(const char *state_dir, struct error *err)
{
	struct stat info;

	if (stat(state_dir, &info) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL, "no daemon has used %s: %s",
				 state_dir, strerror(errno));
	if (info.st_uid != geteuid() || access(state_dir, R_OK | W_OK | X_OK) != 0)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the state directory %s belongs to another user", state_dir);
	return STATUS_OK;
}

enum status credentials_keep(const char *state_dir, const char *url, const char *project, char **ret_path,
			     struct error *err)
{
	AUTO(string) char *directory = realpath(state_dir, NULL);
	struct text path AUTO_TEXT = { 0 };
	struct text content AUTO_TEXT = { 0 };
	enum status rc = directory_check(state_dir, err);

	if (!rc && !directory)
		rc = error_set(err, STATUS_UNAVAILABLE, NULL, "cannot find %s: %s", state_dir,
			       strerror(errno));
	if (!rc)
		rc = content_make(directory, url, project, &content, err);
	if (rc)
		return rc;
	text_printf(&path, "%s/credentials.json", directory);
	if (!file_holds(path.data, &content))
		rc = small_file_place(path.data, &content, FILE_MODE, PLACE_NEW, err);
	if (rc)
		return rc;
	*ret_path = text_take(&path);
	return STATUS_OK;
}

int credentials_promise(const char *state_dir, char **ret_path)
{
	AUTO(string) char *directory = realpath(state_dir, NULL);
	AUTO(string) char *path = memory_printf("%s/credentials.json", directory ? directory : state_dir);
	char lines[PROMISED_BYTES];
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);

	if (fd < 0)
		return -1;
	memset(lines, '\n', sizeof(lines));
	if (write(fd, lines, sizeof(lines)) != sizeof(lines) || fcntl(fd, F_SETLEASE, F_WRLCK) != 0) {
		unlink(path);
		close(fd);
		return -1;
	}
	*ret_path = TAKE(path);
	return fd;
}

enum status credentials_fill(int fd, const char *state_dir, const char *url, const char *project,
			     struct error *err)
{
	struct text content AUTO_TEXT = { 0 };
	enum status rc = content_make(state_dir, url, project, &content, err);

	if (!rc && pwrite(fd, content.data, content.length, 0) != (ssize_t)content.length)
		rc = error_set(err, STATUS_UNAVAILABLE, NULL, "cannot write %s/credentials.json: %s",
			       state_dir, strerror(errno));
	close(fd);
	return rc;
}
