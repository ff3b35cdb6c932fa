/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* tests/unit/testing.h: cmocka with what it wants included first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
