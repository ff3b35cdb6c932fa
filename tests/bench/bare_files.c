/* SPDX-License-Identifier: Apache-2.0 */
/* The floor for bytes: libmicrohttpd that writes what is PUT to a file and sends it to a client that GETs it, and no more.
 *
 * As the library comes, in the daemon's mode.
 *
 *     bare_files FILE          prints its port; ends with its standard input */
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static enum MHD_Result answer_empty(struct MHD_Connection *connection, unsigned status)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result result = MHD_queue_response(connection, status, response);

	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_file(struct MHD_Connection *connection, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	struct MHD_Response *response;
	enum MHD_Result result;

	if (fd < 0 || fstat(fd, &about) < 0) {
		if (fd >= 0)
			close(fd);
		return answer_empty(connection, MHD_HTTP_NOT_FOUND);
	}
	response = MHD_create_response_from_fd((size_t)about.st_size, fd);
	result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static bool bytes_write(int fd, const char *data, size_t length)
{
	while (length) {
		ssize_t written = write(fd, data, length);

		if (written <= 0)
			return false;
		data += written;
		length -= (size_t)written;
	}
	return true;
}

/* *@seen: the request's file descriptor plus one, so that it is not NULL. */
static enum MHD_Result answer(void *path, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **seen)
{
	(void)url, (void)version;
	if (strcmp(method, MHD_HTTP_METHOD_GET) == 0)
		return answer_file(connection, path);
	if (!*seen) {
		int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		*seen = (void *)((intptr_t)fd + 1);
		return fd < 0 ? MHD_NO : MHD_YES;
	}
	if (*upload_data_size) {
		if (!bytes_write((int)((intptr_t)*seen - 1), upload_data, *upload_data_size))
			return MHD_NO;
		*upload_data_size = 0;
		return MHD_YES;
	}
	return answer_empty(connection, MHD_HTTP_OK);
}

static void request_end(void *arg, struct MHD_Connection *connection, void **seen,
			enum MHD_RequestTerminationCode how)
{
	(void)arg, (void)connection, (void)how;
	if (*seen)
		close((int)((intptr_t)*seen - 1));
	*seen = NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct MHD_Daemon *daemon;
	char end;

	if (argc != 2)
		return 2;
	daemon = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC,
				  0, NULL, NULL, answer, argv[1], MHD_OPTION_SOCK_ADDR, &address,
				  MHD_OPTION_NOTIFY_COMPLETED, request_end, NULL, MHD_OPTION_END);
	if (!daemon)
		return 1;
	printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	MHD_stop_daemon(daemon);
	return 0;
}
