/* SPDX-License-Identifier: Apache-2.0 */
/* The floor for requests: libmicrohttpd answering the same bytes to everything, in the daemon's mode.
 *
 *     bare_server BYTES        prints its port; ends with its standard input */
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static enum MHD_Result answer(void *response, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *upload_data,
			      size_t *upload_data_size, void **seen)
{
	(void)url, (void)method, (void)version, (void)upload_data, (void)upload_data_size;
	if (!*seen) {
		*seen = response;
		return MHD_YES;
	}
	return MHD_queue_response(connection, MHD_HTTP_OK, response);
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	char *body = malloc(bytes + 1);
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct MHD_Response *response;
	struct MHD_Daemon *daemon;
	char end;

	if (!body || !bytes)
		return 2;
	memset(body, 'x', bytes);
	response = MHD_create_response_from_buffer(bytes, body, MHD_RESPMEM_MUST_FREE);
	MHD_add_response_header(response, "Content-Type", "application/json; charset=UTF-8");
	daemon = MHD_start_daemon(MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_ITC,
				  0, NULL, NULL, answer, response, MHD_OPTION_SOCK_ADDR, &address,
				  MHD_OPTION_END);
	if (!daemon)
		return 1;
	printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
	fflush(stdout);
	while (read(STDIN_FILENO, &end, 1) > 0)
		;
	MHD_stop_daemon(daemon);
	MHD_destroy_response(response);
	return 0;
}
