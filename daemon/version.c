/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/version.h"

#include <jansson.h>

#include "api/grpc/front.h"
#include "api/http/http.h"
#include "store/keys/authority.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "0.2.0" /* for builds without configure, which defines it */
#endif

void version_write(struct text *text)
{
	text_puts(text, "trainyard " PACKAGE_VERSION "\n");
	text_printf(text, "with jansson %s, ", jansson_version_str());
	listener_versions_write(text);
	text_puts(text, ", ");
	front_versions_write(text);
	text_puts(text, ", ");
	authority_versions_write(text);
	text_putc(text, '\n');
}
