/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/bare/bare.h: the parts of libc that a program needs to run alone in a container: such a program is
 * linked with no library and needs no other file. Only the two architectures on which it was tried are supported.
 * Exactly one source of a program includes this file, and that source defines bare_begin(). */
#include <asm/unistd.h>
#include <stddef.h>

/* The program's main function. @stack: the stack as the kernel passes it: the number of arguments, then the
 * arguments. It must not return: __NR_exit_group ends the program. */
__attribute__((noreturn, used)) void bare_begin(char *const *stack);

/* Makes a system call; returns its result, or the negated error number. */
#if defined(__x86_64__) && defined(__LP64__)
__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall bare_begin\n\thlt\n");

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__) && defined(__LP64__)
__asm__(".globl _start\n_start:\n\tmov x29, #0\n\tmov x30, #0\n\tmov x0, sp\n\tbl bare_begin\n\tbrk #0\n");

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b,
			 x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e,
			 x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#else
#error "programs without libraries do not know this machine"
#endif

/* The compiler calls these functions by itself. The empty statement AS_IT_STANDS() in their loops keeps the compiler
 * from replacing the loops by calls of the same functions. */
#define AS_IT_STANDS() __asm__ volatile("" ::: "memory")

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

void *memcpy(void *to, const void *from, size_t size)
{
#if defined(__x86_64__)
	void *at = to;

	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(size) : : "memory");
#else
	char *at = to;

	for (const char *next = from; size > 0; size--) {
		*at++ = *next++;
		AS_IT_STANDS();
	}
#endif
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	char *at = to;
	const char *next = from;

	if (at <= next)
		return memcpy(to, from, size);
	while (size-- > 0) {
		at[size] = next[size];
		AS_IT_STANDS();
	}
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	char *at = to;

	for (; size > 0; size--) {
		*at++ = (char)byte;
		AS_IT_STANDS();
	}
	return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
	const unsigned char *first = a, *second = b;

	for (; size > 0; size--, first++, second++) {
		if (*first != *second)
			return *first < *second ? -1 : 1;
		AS_IT_STANDS();
	}
	return 0;
}
