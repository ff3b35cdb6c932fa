/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "daemon/cli/verb.h"

/* Opens the standard descriptors that the caller has closed. Otherwise a later file or socket would get one of their
 * numbers, and output for stdout or stderr would go into it. The new ones can be neither read nor written, and other
 * programs do not inherit them. */
static void descriptors_fill(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int main(int argc, char **argv)
{
	descriptors_fill();
	return verbs_main((const char *const *)argv + (argc > 0));
}
