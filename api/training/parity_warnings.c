/* SPDX-License-Identifier: Apache-2.0 */
#include "api/training/parity_warnings.h"

#include "api/training/image_name.h"
#include "scheduler/plan/deviation.h"

/* Choice: at most this much of a client's text is repeated in a warning. */
enum { SHOWN_BYTES = 200 };

void registry_report(json_t *list, const char *image, const char *field)
{
	switch (image_origin(image)) {
	case IMAGE_OF_GOOGLE:
		return;
	case IMAGE_OF_MACHINE:
		deviation_add(list, REFUSED_BY_CLOUD, "image-registry", field,
			      "The cloud cannot pull %.*s, which is on this machine.", SHOWN_BYTES, image);
		return;
	case IMAGE_OF_OTHERS:
		deviation_add(list, IN_DOUBT_IN_CLOUD, "image-registry", field,
			      "The cloud may not pull %.*s: it wants images to be in Artifact Registry or "
			      "Container Registry.",
			      SHOWN_BYTES, image);
		return;
	}
}

void unknown_report(json_t *list, const char *code, const char *field, const char *noun, const char *name)
{
	deviation_add(list, REFUSED_BY_CLOUD, code, field,
		      "The %s '%.*s' is not known to exist in the service.", noun, SHOWN_BYTES, name);
}
