/* SPDX-License-Identifier: Apache-2.0 */
#include "store/objects/objects.h"

enum { NOTHING_SAID = -1 };

enum condition_outcome conditions_check(const struct conditions *conditions, int64_t generation,
					int64_t metageneration)
{
	if (conditions->generation_match != NOTHING_SAID && conditions->generation_match != generation)
		return CONDITIONS_FAILED;
	if (conditions->metageneration_match != NOTHING_SAID &&
	    conditions->metageneration_match != metageneration)
		return CONDITIONS_FAILED;
	if (conditions->generation_not_match != NOTHING_SAID &&
	    conditions->generation_not_match == generation)
		return CONDITIONS_UNCHANGED;
	if (conditions->metageneration_not_match != NOTHING_SAID &&
	    conditions->metageneration_not_match == metageneration)
		return CONDITIONS_UNCHANGED;
	return CONDITIONS_HOLD;
}
