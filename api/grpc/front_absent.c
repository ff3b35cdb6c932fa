/* SPDX-License-Identifier: Apache-2.0 */
/* api/grpc/front_absent.c: the front of a build without gRPC. */
#include "api/grpc/front.h"

bool front_is_built(void)
{
	return false;
}

enum status front_open(const struct front_options *options, struct front **ret_front, struct error *err)
{
	(void)options, (void)ret_front;
	return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
			 "this trainyard was built without gRPC: install libnghttp2 and build it again");
}

uint16_t front_port(const struct front *front)
{
	(void)front;
	return 0;
}

void front_adopt(struct front *front, int fd, const struct sockaddr_in *peer)
{
	(void)front, (void)fd, (void)peer;
}

void front_close(struct front *front)
{
	(void)front;
}

void front_versions_write(struct text *text)
{
	text_puts(text, "no gRPC");
}
