/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/docker_mounts.h"

#include <string.h>

#include "daemon/base/json.h"
#include "daemon/base/memory.h"
#include "daemon/base/text.h"

/* The beginning of the engine's message about a missing path. Source: answers of Docker 20.10, moby/moby,
 * volume/mounts/validate.go */
static const char unseen[] = "bind source path does not exist: ";

static json_t *mount_make(const char *reported)
{
	static const char only[] = ":ro";
	size_t length = strlen(reported);
	const bool read_only = length > strlen(only) && strcmp(reported + length - strlen(only), only) == 0;
	size_t at;

	if (read_only)
		length -= strlen(only);
	/* The last colon separates the two paths: the path in the container is ours and has no colon, but the path
	 * of this machine may have some. */
	for (at = length; at > 0 && reported[at - 1] != ':';)
		at--;
	return at == 0 ? NULL
		       : json_pack("{ss ss% ss% sb}", "Type", "bind", "Source", reported, at - 1, "Target",
				   reported + at, length - at, "ReadOnly", read_only);
}

json_t *docker_mounts_make(const json_t *mounts)
{
	AUTO(json) json_t *made = json_array();
	size_t index;
	json_t *reported;

	json_array_foreach(mounts, index, reported)
		if (!json_is_string(reported) ||
		    json_array_append_new(made, mount_make(json_string_value(reported))))
			return NULL;
	return TAKE(made);
}

bool docker_mount_is_missing(const char *words)
{
	return strstr(words, unseen) != NULL;
}

char *docker_mount_question(const char *path)
{
	AUTO(json)
	json_t *body = json_pack("{ss s{s[{ss ss ss}]}}", "Image", "", "HostConfig", "Mounts", "Type", "bind",
				 "Source", path, "Target", "/seen");

	return body ? json_dump_compact(body) : memory_strdup("");
}
