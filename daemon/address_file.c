/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/address_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"
#include "daemon/config.h"
#include "daemon/config_listen.h"
#include "store/state_dir.h"

enum { LINE_BYTES = 4352 /* a path may have 4096 bytes; the rest is for "unix:" and the line end */ };

static FILE *address_file_open(const char *state_dir, const char *mode)
{
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/address", state_dir);
	return fopen(path.data, mode);
}

static bool is_url(const char *text)
{
	return strncmp(text, "http://", 7) == 0 && text[7] &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.:/[]-") == strlen(text);
}

static bool line_read(FILE *file, char line[LINE_BYTES])
{
	if (!fgets(line, LINE_BYTES, file))
		return false;
	line[strcspn(line, "\r\n")] = '\0';
	return true;
}

void address_file_read(const char *state_dir, struct address *ret_address)
{
	FILE *file = address_file_open(state_dir, "re");
	char line[LINE_BYTES];
	pid_t holder = 0;

	*ret_address = (struct address){ 0 };
	if (!file)
		return;
	if (line_read(file, line)) {
		for (size_t length = strlen(line); length && line[length - 1] == '/';)
			line[--length] = '\0';
		if (is_url(line) || config_listen_path(line))
			ret_address->url = memory_strdup(line);
	}
	if (line_read(file, line) && *line == '/')
		ret_address->token_file = memory_strdup(line);
	if (line_read(file, line))
		ret_address->pid = (pid_t)atoi(line);
	if (line_read(file, line))
		ret_address->grpc_port = (uint16_t)atoi(line);
	fclose(file);
	/* A daemon in a container has another process id there than here, and is known by its lock alone. */
	if (ret_address->pid && !state_dir_holder(state_dir, &holder, NULL))
		ret_address->is_outdated =
			holder ? holder != ret_address->pid : !state_dir_is_locked(state_dir);
}

void address_deinit(struct address *address)
{
	free(address->url);
	free(address->token_file);
}

bool address_is_live(const struct address *address, const char *state_dir)
{
	pid_t holder = 0;

	return address->pid && !state_dir_holder(state_dir, &holder, NULL) && holder == address->pid;
}

void address_file_write(const char *state_dir, const char *url, const char *token_file, uint16_t grpc_port)
{
	AUTO(string) char *token_path = token_file ? realpath(token_file, NULL) : NULL;
	FILE *file = address_file_open(state_dir, "we");

	if (!file || fprintf(file, "%s\n%s\n%d\n%u\n", url, token_path ? token_path : "", (int)getpid(),
			     grpc_port) < 0)
		log_event(LOG_WARNING, "address-file", "path=%s/address error=\"%s\"", state_dir,
			  strerror(errno));
	if (file)
		fclose(file);
}

void address_file_remove(const char *state_dir)
{
	struct text path AUTO_TEXT = { 0 };

	text_printf(&path, "%s/address", state_dir);
	unlink(path.data);
}
