/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/integration/engine_api.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/text.h"
#include "tests/unit/testing.h"

char engine_socket[100];

int socket_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

bool send_whole(int fd, const char *data, size_t length)
{
	while (length > 0) {
		ssize_t sent = send(fd, data, length, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		data += sent;
		length -= (size_t)sent;
	}
	return true;
}

int api(const char *method, const char *path, const char *type, const char *body, size_t length,
	char **ret_answer)
{
	int fd = socket_connect(engine_socket), code = 0;
	struct text head AUTO_TEXT = { 0 }, answer AUTO_TEXT = { 0 };
	char piece[16384];
	ssize_t got;

	if (fd < 0)
		return 0;
	text_printf(&head, "%s %s HTTP/1.0\r\nHost: docker\r\n", method, path);
	if (type)
		text_printf(&head, "Content-Type: %s\r\n", type);
	text_printf(&head, "Content-Length: %zu\r\n\r\n", length);
	if (send_whole(fd, head.data, head.length) && send_whole(fd, body, length))
		while ((got = recv(fd, piece, sizeof(piece), 0)) > 0)
			text_append(&answer, piece, (size_t)got);
	close(fd);
	if (answer.data)
		sscanf(answer.data, "HTTP/%*s %d", &code);
	if (ret_answer)
		*ret_answer = text_take(&answer);
	return code;
}

void tar_add(struct text *tar, const char *name, char kind, const char *target, const char *data,
	     size_t length)
{
	unsigned char header[512] = { 0 };
	unsigned sum = 0;

	snprintf((char *)header, 100, "%s", name);
	memcpy(header + 100, "0000755", 8);
	memcpy(header + 108, "0000000", 8);
	memcpy(header + 116, "0000000", 8);
	snprintf((char *)header + 124, 12, "%011zo", length);
	memcpy(header + 136, "00000000000", 12);
	memset(header + 148, ' ', 8);
	header[156] = (unsigned char)kind;
	snprintf((char *)header + 157, 100, "%s", target ? target : "");
	memcpy(header + 257,
	       "ustar\0"
	       "00",
	       8);
	for (size_t i = 0; i < sizeof(header); i++)
		sum += header[i];
	snprintf((char *)header + 148, 8, "%06o", sum);
	text_append(tar, header, sizeof(header));
	text_append(tar, data, length);
	for (; length % 512; length++)
		text_putc(tar, '\0');
}

bool image_make(void)
{
	static const char *const applets[] = { "sh",       "sleep", "echo", "cat",  "seq", "head",     "tr",
					       "nslookup", "wget",  "yes",  "kill", "env", "hostname", "nc" };
	char name[64], path[128], end[1024] = { 0 };
	struct text tar AUTO_TEXT = { 0 };
	struct stat about;
	char *busybox;
	int code, fd;

	snprintf(path, sizeof(path), "/images/%s/json", image_name);
	if (api("GET", path, NULL, NULL, 0, NULL) == 200)
		return true; /* left by an earlier run */
	fd = open("/bin/busybox", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &about) != 0)
		return false;
	busybox = malloc((size_t)about.st_size);
	assert_int_equal(read(fd, busybox, (size_t)about.st_size), about.st_size);
	close(fd);
	tar_add(&tar, "bin/", '5', NULL, NULL, 0);
	tar_add(&tar, "tmp/", '5', NULL, NULL, 0);
	tar_add(&tar, "bin/busybox", '0', NULL, busybox, (size_t)about.st_size);
	for (size_t i = 0; i < sizeof(applets) / sizeof(applets[0]); i++) {
		snprintf(name, sizeof(name), "bin/%s", applets[i]);
		tar_add(&tar, name, '2', "busybox", NULL, 0);
	}
	text_append(&tar, end, sizeof(end));
	free(busybox);
	snprintf(path, sizeof(path), "/images/create?fromSrc=-&repo=%s",
		 image_name); /* Podman accepts no separate tag */
	code = api("POST", path, "application/x-tar", tar.data, tar.length, NULL);
	return code == 200;
}
