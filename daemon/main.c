/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/cli/verb.h"

int main(int argc, char **argv)
{
	return verbs_main((const char *const *)argv + (argc > 0));
}
