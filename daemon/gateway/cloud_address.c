/* SPDX-License-Identifier: Apache-2.0 */
/* Source: rtnetlink(7), ip-rule(8), linux/fib_rules.h (read 2026-11-25) */
#include "daemon/gateway/cloud_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	TABLE = 16925,    /* a routing table of our own, with a route for CLOUD_ADDRESS only */
	PRIORITY = 16925, /* before the machine's own routes */
	ADDRESS_BITS = 32,
	ANSWER_BYTES = 32 << 10,
	SWEPT_MAX = 64, /* rules for at most this number of devices are removed at a time */
};

struct request {
	struct nlmsghdr head;
	char body[256];
};

static void request_begin(struct request *request, unsigned kind, unsigned flags, const void *head,
			  size_t bytes)
{
	*request = (struct request){ .head = { .nlmsg_len = (uint32_t)NLMSG_LENGTH(bytes),
					       .nlmsg_type = (uint16_t)kind,
					       .nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags) } };
	memcpy(request->body, head, bytes);
}

static void attribute_add(struct request *request, unsigned kind, const void *value, size_t bytes)
{
	const struct rtattr head = { .rta_len = (unsigned short)RTA_LENGTH(bytes),
				     .rta_type = (unsigned short)kind };
	char *at = (char *)request + NLMSG_ALIGN(request->head.nlmsg_len);

	memcpy(at, &head, sizeof(head));
	memcpy(at + RTA_LENGTH(0), value, bytes);
	request->head.nlmsg_len = (uint32_t)(NLMSG_ALIGN(request->head.nlmsg_len) + RTA_SPACE(bytes));
}

static void number_add(struct request *request, unsigned kind, uint32_t number)
{
	attribute_add(request, kind, &number, sizeof(number));
}

static void address_add(struct request *request, unsigned kind)
{
	struct in_addr address;

	inet_pton(AF_INET, CLOUD_ADDRESS, &address);
	attribute_add(request, kind, &address, sizeof(address));
}

static void rule_make(struct request *request, unsigned kind, unsigned flags, const char *device)
{
	const struct fib_rule_hdr rule = {
		.family = AF_INET, .dst_len = ADDRESS_BITS, .table = RT_TABLE_UNSPEC, .action = FR_ACT_TO_TBL
	};

	request_begin(request, kind, flags | NLM_F_ACK, &rule, sizeof(rule));
	address_add(request, FRA_DST);
	attribute_add(request, FRA_IIFNAME, device, strlen(device) + 1);
	number_add(request, FRA_TABLE, TABLE);
	number_add(request, FRA_PRIORITY, PRIORITY);
}

static void route_make(struct request *request)
{
	const struct rtmsg route = { .rtm_family = AF_INET,
				     .rtm_dst_len = ADDRESS_BITS,
				     .rtm_table = RT_TABLE_UNSPEC,
				     .rtm_protocol = RTPROT_STATIC,
				     .rtm_scope = RT_SCOPE_HOST,
				     .rtm_type = RTN_LOCAL };

	request_begin(request, RTM_NEWROUTE, NLM_F_ACK | NLM_F_CREATE | NLM_F_REPLACE, &route, sizeof(route));
	address_add(request, RTA_DST);
	number_add(request, RTA_OIF, if_nametoindex("lo"));
	number_add(request, RTA_TABLE, TABLE);
}

/* Sends one request to the kernel and reads the answer. Returns 0, or the errno of the failure. */
static int request_do(int fd, const struct request *request)
{
	char answer[1024] __attribute__((aligned(NLMSG_ALIGNTO)));
	const struct nlmsghdr *head = (const struct nlmsghdr *)answer;
	struct nlmsgerr reported;
	ssize_t got;

	if (send(fd, request, request->head.nlmsg_len, 0) < 0)
		return errno;
	got = recv(fd, answer, sizeof(answer), 0);
	if (got < (ssize_t)NLMSG_LENGTH(sizeof(reported)) || head->nlmsg_type != NLMSG_ERROR)
		return got < 0 ? errno : EPROTO;
	memcpy(&reported, NLMSG_DATA(head), sizeof(reported));
	return -reported.error;
}

/* Reads the device of a routing rule. Returns false if trainyard did not make the rule. */
static bool rule_read(const struct nlmsghdr *head, char ret_device[IF_NAMESIZE])
{
	int left = (int)head->nlmsg_len - (int)NLMSG_LENGTH(sizeof(struct fib_rule_hdr));
	const struct rtattr *at =
		(const struct rtattr *)((const char *)head + NLMSG_LENGTH(sizeof(struct fib_rule_hdr)));
	uint32_t table = 0;

	*ret_device = '\0';
	for (; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		if (at->rta_type == FRA_TABLE)
			memcpy(&table, RTA_DATA(at), sizeof(table));
		else if (at->rta_type == FRA_IIFNAME)
			snprintf(ret_device, IF_NAMESIZE, "%.*s", (int)RTA_PAYLOAD(at),
				 (const char *)RTA_DATA(at));
	}
	return table == TABLE && *ret_device;
}

/* Finds our rules that name a device that no longer exists. Returns the number of these devices. */
static size_t gone_find(int fd, char gone[SWEPT_MAX][IF_NAMESIZE])
{
	const struct fib_rule_hdr any = { .family = AF_INET };
	char answer[ANSWER_BYTES] __attribute__((aligned(NLMSG_ALIGNTO)));
	struct request request;
	size_t count = 0;
	ssize_t got;

	request_begin(&request, RTM_GETRULE, NLM_F_DUMP, &any, sizeof(any));
	if (send(fd, &request, request.head.nlmsg_len, 0) < 0)
		return 0;
	while ((got = recv(fd, answer, sizeof(answer), 0)) > 0) {
		const struct nlmsghdr *head = (const struct nlmsghdr *)answer;

		for (size_t left = (size_t)got; NLMSG_OK(head, left); head = NLMSG_NEXT(head, left)) {
			if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR)
				return count;
			if (count < SWEPT_MAX && rule_read(head, gone[count]) &&
			    if_nametoindex(gone[count]) == 0)
				count++;
		}
	}
	return count;
}

static void rules_sweep(int fd)
{
	char gone[SWEPT_MAX][IF_NAMESIZE];
	const size_t count = gone_find(fd, gone);
	struct request request;

	for (size_t i = 0; i < count; i++) {
		rule_make(&request, RTM_DELRULE, 0, gone[i]);
		request_do(fd, &request);
	}
}

static int kernel_call(void)
{
	return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
}

void cloud_address_sweep(void)
{
	const int fd = kernel_call();

	if (fd < 0)
		return;
	rules_sweep(fd);
	close(fd);
}

enum status cloud_address_lead(const char *device, struct error *err)
{
	const int fd = kernel_call();
	struct request request;
	int failure;

	/* The kernel treats packets that this machine's own programs send as arriving through "lo": they must not be
	 * redirected. */
	if (fd < 0 || strcmp(device, "lo") == 0 || strlen(device) >= IF_NAMESIZE) {
		failure = fd < 0 ? errno : EINVAL;
		if (fd >= 0)
			close(fd);
		return error_set(err, STATUS_UNAVAILABLE, NULL,
				 CLOUD_ADDRESS " cannot be routed to the device %s: %s", device,
				 strerrordesc_np(failure));
	}
	rules_sweep(fd);
	route_make(&request);
	failure = request_do(fd, &request);
	if (!failure) {
		rule_make(&request, RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, device);
		failure = request_do(fd, &request);
	}
	close(fd);
	if (!failure || failure == EEXIST)
		return STATUS_OK;
	return error_set(err, STATUS_UNAVAILABLE, NULL,
			 CLOUD_ADDRESS " cannot be routed to the device %s: %s", device,
			 strerrordesc_np(failure));
}
