/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduler/engine/kernel_esp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The exit status of the child process; 0: the kernel can encrypt. */
enum { EXIT_LACKS = 1, EXIT_UNKNOWN = 2 };

/* The algorithm with which engines encrypt overlay networks.
 * Source: the security associations in the log of Docker 20.10 (read 2026-11-27) */
#define ALGORITHM "rfc4106(gcm(aes))"
enum { KEY_BYTES = 20, CHECK_BITS = 64, SPI = 0x1000 };

struct request {
	struct nlmsghdr head;
	struct xfrm_usersa_info info;
	char attributes[256];
};

/* Fills in a request for a security association, between two addresses that nothing uses. */
static void request_fill(struct request *request)
{
	const size_t size = sizeof(struct xfrm_algo_aead) + KEY_BYTES;
	struct rtattr *attribute;
	struct xfrm_algo_aead *algorithm;

	memset(request, 0, sizeof(*request));
	request->head = (struct nlmsghdr){ .nlmsg_type = XFRM_MSG_NEWSA,
					   .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE,
					   .nlmsg_len = (uint32_t)NLMSG_SPACE(sizeof(request->info)) };
	request->info.family = AF_INET;
	request->info.mode = XFRM_MODE_TRANSPORT;
	request->info.saddr.a4 = htonl(INADDR_LOOPBACK);
	request->info.id.daddr.a4 = htonl(INADDR_LOOPBACK + 1);
	request->info.id.spi = htonl(SPI);
	request->info.id.proto = IPPROTO_ESP;
	request->info.lft.soft_byte_limit = request->info.lft.hard_byte_limit = XFRM_INF;
	request->info.lft.soft_packet_limit = request->info.lft.hard_packet_limit = XFRM_INF;
	attribute = (struct rtattr *)((char *)request + request->head.nlmsg_len);
	attribute->rta_type = XFRMA_ALG_AEAD;
	attribute->rta_len = (unsigned short)RTA_LENGTH(size);
	algorithm = RTA_DATA(attribute);
	memcpy(algorithm->alg_name, ALGORITHM, sizeof(ALGORITHM));
	algorithm->alg_key_len = KEY_BYTES * 8;
	algorithm->alg_icv_len = CHECK_BITS;
	request->head.nlmsg_len += (uint32_t)RTA_ALIGN(attribute->rta_len);
}

/* Adds the security association; returns 0 or the kernel's error number. */
static int association_add(void)
{
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_XFRM);
	union {
		struct nlmsghdr head;
		char bytes[1024];
	} answer;
	struct request request;
	struct nlmsgerr word;

	if (fd < 0)
		return errno;
	request_fill(&request);
	if (send(fd, &request, request.head.nlmsg_len, 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), 0) < (ssize_t)NLMSG_LENGTH(sizeof(word)))
		return errno ? errno : EPROTO;
	memcpy(&word, NLMSG_DATA(&answer.head), sizeof(word));
	return -word.error;
}

/* Tries to add an association and returns the exit status. It runs between fork() and _exit(), so it takes no locks
 * and allocates no memory. It works in a new network namespace, so that the machine's associations stay as they are;
 * a user that is not root needs a user namespace for that, too. */
static int child_try(void)
{
	int problem;

	if (unshare(CLONE_NEWNET) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return EXIT_UNKNOWN;
	errno = 0;
	problem = association_add();
	if (!problem)
		return 0;
	return problem == EPERM || problem == EACCES ? EXIT_UNKNOWN : EXIT_LACKS;
}

enum status kernel_esp_check(struct error *err)
{
	const pid_t pid = fork();
	int state = 0;

	if (pid == 0)
		_exit(child_try());
	while (pid > 0 && waitpid(pid, &state, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(state) && WEXITSTATUS(state) == 0)
		return STATUS_OK;
	if (pid > 0 && WIFEXITED(state) && WEXITSTATUS(state) == EXIT_LACKS)
		return error_set(err, STATUS_FAILED_PRECONDITION, NULL,
				 "the kernel lacks ESP with " ALGORITHM
				 ", with which networks between nodes are encrypted: load its "
				 "modules (modprobe esp4), or choose --unencrypted");
	return error_set(
		err, STATUS_UNAVAILABLE, NULL,
		"whether the kernel has ESP cannot be found out: no network namespace can be made here");
}
