/* SPDX-License-Identifier: Apache-2.0 */
#include "api/aiplatform/prebuilt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const places[] = {
	"us-docker.pkg.dev/vertex-ai/training/",   "europe-docker.pkg.dev/vertex-ai/training/",
	"asia-docker.pkg.dev/vertex-ai/training/", "gcr.io/cloud-aiplatform/training/",
	"us.gcr.io/cloud-aiplatform/training/",    "eu.gcr.io/cloud-aiplatform/training/",
	"asia.gcr.io/cloud-aiplatform/training/",
};

static const char *name_in(const char *image)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strncmp(image, places[i], strlen(places[i])) == 0)
			return image + strlen(places[i]);
	return NULL;
}

static bool word_copy(char to[PREBUILT_WORD_SIZE], const char *from, size_t length)
{
	if (!length || length >= PREBUILT_WORD_SIZE)
		return false;
	memcpy(to, from, length);
	to[length] = '\0';
	return true;
}

/* "2-11" says 2.11. */
static bool version_copy(char to[PREBUILT_WORD_SIZE], const char *from, size_t length)
{
	if (!word_copy(to, from, length) || to[strspn(to, "0123456789-")])
		return false;
	for (char *c = to; *c; c++)
		if (*c == '-')
			*c = '.';
	return true;
}

/* Reads the Python version: "py310" and "cp310" mean 3.10. */
static bool python_copy(char to[PREBUILT_WORD_SIZE], const char *from, size_t length)
{
	if (length < 4 || length > 6 || (strncmp(from, "py", 2) != 0 && strncmp(from, "cp", 2) != 0) ||
	    strspn(from + 2, "0123456789") < length - 2)
		return false;
	snprintf(to, PREBUILT_WORD_SIZE, "%c.%.*s", from[2], (int)length - 3, from + 3);
	return true;
}

/* FRAMEWORK-DEVICE.VERSION[.PYTHON][:TAG] */
bool prebuilt_parse(const char *image, struct prebuilt *ret_prebuilt)
{
	struct prebuilt prebuilt = { .python = "3.7" };
	const char *name = name_in(image);
	const size_t length = name ? strcspn(name, ":@") : 0;
	const char *dot = length ? memchr(name, '.', length) : NULL;
	const char *dash = dot ? memrchr(name, '-', (size_t)(dot - name)) : NULL;
	size_t version;

	if (!dash || !word_copy(prebuilt.framework, name, (size_t)(dash - name)))
		return false;
	prebuilt.gpu = strncmp(dash, "-gpu.", 5) == 0;
	version = strcspn(dot + 1, ".:@");
	if (!version_copy(prebuilt.version, dot + 1, version))
		return false;
	dot += 1 + version;
	if (*dot == '.' && !python_copy(prebuilt.python, dot + 1, (size_t)(name + length - dot - 1)))
		return false;
	*ret_prebuilt = prebuilt;
	return true;
}
