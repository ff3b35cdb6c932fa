/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <unistd.h>

#include "daemon/cli/verb.h"

/* Where the caller has closed one of the first three descriptors, a file or socket would get its number, and what is printed
 * would go there. As before, nothing can be read from them, nothing written to them, and no other program inherits them. */
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
