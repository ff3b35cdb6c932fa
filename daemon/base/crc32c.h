/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* daemon/base/crc32c.h: the checksum of objects and of event files: Castagnoli's polynomial, as iSCSI has it.
 * Source: https://www.rfc-editor.org/rfc/rfc3720#appendix-B.4 ("123456789" gives e3069283). Pure. Thread: any. */
#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of the preceding bytes, which is @crc, followed by @data. @crc is 0 at the beginning. */
uint32_t crc32c_extend(uint32_t crc, const void *data, size_t length);
/* Returns the checksum of a followed by b, from their checksums and the length of b. */
uint32_t crc32c_concat(uint32_t crc_a, uint32_t crc_b, uint64_t length_b);
