/* SPDX-License-Identifier: Apache-2.0 */
/* throttle BYTES_PER_SECOND: limits the rate at which the network namespace that it runs in sends and receives
 * through eth0. 0: no limit.
 *
 * It is the first and only program of a container that shares a replica's network. The container is made from the
 * replica's image, which may be any, so the program must need no file of it: it is linked with no library, not even
 * libc. All it does is send a handful of messages to the kernel.
 *
 *   sent      a token bucket is the queue of eth0
 *   received  what comes in at eth0 is redirected into a device of kind ifb, which has a token bucket as its queue
 *
 * Choice: all of it lives in the replica's own namespace and goes with it. The other end of eth0 could have a queue for
 * what is received, too, but lies in the engine machine's namespace, where such a program has no business.
 * Source: linux/rtnetlink.h, linux/pkt_sched.h, linux/pkt_cls.h; tc-tbf(8), tc-mirred(8), tc-u32(8) (read 2026-11-22) */
#include "scheduler/engine/throttle/throttle.h"

#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/tc_act/tc_mirred.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scheduler/engine/bare/bare.h"

/* Constants of libc's headers, which are not available here. */
enum { SOCKET_RAW = 3, FAMILY_NETLINK = 16, FAMILY_INET6 = 10 };
enum {
	DENIED_EPERM = 1,
	NOT_THERE_ENOENT = 2,
	DENIED_EACCES = 13,
	NOT_THERE_ENODEV = 19,
	NOT_VALID_EINVAL = 22
};

enum {
	/* The burst of the token bucket. Choice: at least enough for a frame of 9000 bytes, and more at high rates,
	 * because timers are too coarse for small bursts and would lower the rate. */
	BURST_LEAST_BYTES = 16 * 1024,
	BURST_PARTS_OF_S = 100,
	/* The length of the queue: the bytes of a quarter of a second. */
	QUEUE_LEAST_BYTES = 32 * 1024,
	QUEUE_PARTS_OF_S = 4,
	INGRESS_HANDLE = 0xffff0000,
	FILTER_PRIORITY = 1,
};

#define INTERFACE "eth0"
#define DEVICE    "ty-slow"

/* ---- one message, and the kernel's answer to it ---- */

/* A netlink message. The buffer is far larger than any message of this program. */
struct message {
	struct nlmsghdr head;
	char rest[1024];
};

static void message_begin(struct message *message, unsigned short type, unsigned short flags,
			  const void *what, size_t size)
{
	memset(message, 0, sizeof(*message));
	message->head.nlmsg_type = type;
	message->head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | flags;
	message->head.nlmsg_len = (uint32_t)NLMSG_SPACE(size);
	memcpy(message->rest, what, size);
}

static struct rtattr *attribute_add(struct message *message, unsigned short type, const void *value,
				    size_t size)
{
	struct rtattr *attribute = (struct rtattr *)((char *)message + message->head.nlmsg_len);

	attribute->rta_type = type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(attribute), value, size);
	message->head.nlmsg_len += (uint32_t)RTA_ALIGN(attribute->rta_len);
	return attribute;
}

#define TEXT_ADD(MESSAGE, TYPE, TEXT) attribute_add(MESSAGE, TYPE, TEXT, sizeof(TEXT))

/* Begins a nested attribute: attributes that are added before nest_end() are inside it. */
static struct rtattr *nest_begin(struct message *message, unsigned short type)
{
	return attribute_add(message, type, "", 0);
}

static void nest_end(struct message *message, struct rtattr *nest)
{
	nest->rta_len = (unsigned short)((char *)message + message->head.nlmsg_len - (char *)nest);
}

/* Sends the message; returns 0 or the kernel's error number. */
static int message_send(int kernel_fd, const struct message *message)
{
	static union {
		struct nlmsghdr head;
		char bytes[8192];
	} answer;
	const long size = (long)message->head.nlmsg_len;
	long got = kernel(__NR_sendto, kernel_fd, (long)message, size, 0, 0, 0);
	struct nlmsgerr word;

	if (got < 0)
		return (int)-got;
	got = kernel(__NR_recvfrom, kernel_fd, (long)&answer, sizeof(answer), 0, 0, 0);
	if (got < 0)
		return (int)-got;
	if (got < (long)NLMSG_LENGTH(sizeof(word)) || answer.head.nlmsg_type != NLMSG_ERROR)
		return NOT_VALID_EINVAL;
	memcpy(&word, NLMSG_DATA(&answer.head), sizeof(word));
	return -word.error;
}

/* ---- the parts of a limit ---- */

/* Returns the interface's index; 0: there is no such interface. */
static int interface_index(int kernel_fd, const char *name)
{
	struct ifreq request = { 0 };

	for (size_t i = 0; i + 1 < sizeof(request.ifr_name) && name[i]; i++)
		request.ifr_name[i] = name[i];
	return kernel(__NR_ioctl, kernel_fd, SIOCGIFINDEX, (long)&request, 0, 0, 0) < 0 ? 0
											: request.ifr_ifindex;
}

static int device_remove(int kernel_fd)
{
	const struct ifinfomsg any = { 0 };
	struct message message;

	message_begin(&message, RTM_DELLINK, 0, &any, sizeof(any));
	TEXT_ADD(&message, IFLA_IFNAME, DEVICE);
	return message_send(kernel_fd, &message);
}

static int queue_remove(int kernel_fd, int interface, uint32_t parent, uint32_t handle)
{
	const struct tcmsg which = { .tcm_ifindex = interface, .tcm_parent = parent, .tcm_handle = handle };
	struct message message;

	message_begin(&message, RTM_DELQDISC, 0, &which, sizeof(which));
	return message_send(kernel_fd, &message);
}

static int device_add(int kernel_fd)
{
	const struct ifinfomsg any = { 0 };
	struct message message;
	struct rtattr *info;

	message_begin(&message, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &any, sizeof(any));
	TEXT_ADD(&message, IFLA_IFNAME, DEVICE);
	info = nest_begin(&message, IFLA_LINKINFO);
	TEXT_ADD(&message, IFLA_INFO_KIND, "ifb");
	nest_end(&message, info);
	return message_send(kernel_fd, &message);
}

/* Removes the device's own IPv6 addresses, which programs would otherwise find. A kernel without IPv6 gives it none. */
static void device_unaddress(int kernel_fd, int device)
{
	const struct ifinfomsg which = { .ifi_index = device };
	const uint8_t none = IN6_ADDR_GEN_MODE_NONE;
	struct message message;
	struct rtattr *families, *family;

	message_begin(&message, RTM_NEWLINK, 0, &which, sizeof(which));
	families = nest_begin(&message, IFLA_AF_SPEC);
	family = nest_begin(&message, FAMILY_INET6);
	attribute_add(&message, IFLA_INET6_ADDR_GEN_MODE, &none, sizeof(none));
	nest_end(&message, family);
	nest_end(&message, families);
	message_send(kernel_fd, &message);
}

static int device_raise(int kernel_fd, int device)
{
	const struct ifinfomsg which = { .ifi_index = device, .ifi_flags = IFF_UP, .ifi_change = IFF_UP };
	struct message message;

	message_begin(&message, RTM_NEWLINK, 0, &which, sizeof(which));
	return message_send(kernel_fd, &message);
}

static uint32_t at_least(uint32_t value, uint32_t least)
{
	return value < least ? least : value;
}

static int bucket_add(int kernel_fd, int interface, uint32_t bytes_per_s)
{
	const struct tcmsg where = { .tcm_ifindex = interface, .tcm_parent = TC_H_ROOT };
	const uint32_t burst = at_least(bytes_per_s / BURST_PARTS_OF_S, BURST_LEAST_BYTES);
	const struct tc_tbf_qopt bucket = {
		.rate = { .linklayer = TC_LINKLAYER_ETHERNET, .rate = bytes_per_s },
		.limit = at_least(bytes_per_s / QUEUE_PARTS_OF_S, QUEUE_LEAST_BYTES),
	};
	struct message message;
	struct rtattr *options;

	message_begin(&message, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE, &where, sizeof(where));
	TEXT_ADD(&message, TCA_KIND, "tbf");
	options = nest_begin(&message, TCA_OPTIONS);
	attribute_add(&message, TCA_TBF_PARMS, &bucket, sizeof(bucket));
	attribute_add(&message, TCA_TBF_BURST, &burst, sizeof(burst));
	nest_end(&message, options);
	return message_send(kernel_fd, &message);
}

static int ingress_add(int kernel_fd, int interface)
{
	const struct tcmsg where = { .tcm_ifindex = interface,
				     .tcm_parent = TC_H_INGRESS,
				     .tcm_handle = INGRESS_HANDLE };
	struct message message;

	message_begin(&message, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, &where, sizeof(where));
	TEXT_ADD(&message, TCA_KIND, "ingress");
	return message_send(kernel_fd, &message);
}

/* Adds the filter that redirects each received packet to @device. */
static int redirect_add(int kernel_fd, int interface, int device)
{
	const struct tcmsg where = { .tcm_ifindex = interface,
				     .tcm_parent = INGRESS_HANDLE,
				     .tcm_info =
					     TC_H_MAKE(FILTER_PRIORITY << 16, __builtin_bswap16(ETH_P_ALL)) };
	/* The filter has one key that compares no bits, so each packet matches. */
	const union {
		struct tc_u32_sel selector;
		char bytes[sizeof(struct tc_u32_sel) + sizeof(struct tc_u32_key)];
	} all = { .selector = { .flags = TC_U32_TERMINAL, .nkeys = 1 } };
	const struct tc_mirred away = { .action = TC_ACT_STOLEN,
					.eaction = TCA_EGRESS_REDIR,
					.ifindex = (uint32_t)device };
	struct message message;
	struct rtattr *options, *actions, *first, *action;

	message_begin(&message, RTM_NEWTFILTER, NLM_F_CREATE | NLM_F_EXCL, &where, sizeof(where));
	TEXT_ADD(&message, TCA_KIND, "u32");
	options = nest_begin(&message, TCA_OPTIONS);
	attribute_add(&message, TCA_U32_SEL, &all, sizeof(all));
	actions = nest_begin(&message, TCA_U32_ACT);
	first = nest_begin(&message, 1);
	TEXT_ADD(&message, TCA_ACT_KIND, "mirred");
	action = nest_begin(&message, TCA_ACT_OPTIONS);
	attribute_add(&message, TCA_MIRRED_PARMS, &away, sizeof(away));
	nest_end(&message, action);
	nest_end(&message, first);
	nest_end(&message, actions);
	nest_end(&message, options);
	return message_send(kernel_fd, &message);
}

/* ---- the program ---- */

/* Maps a step's error number: 0 means success, and a missing permission is THROTTLE_FORBIDDEN; any other error is
 * @otherwise. */
static enum throttle_end end_of(int code, enum throttle_end otherwise)
{
	if (code == 0)
		return THROTTLE_DONE;
	return code == DENIED_EPERM || code == DENIED_EACCES ? THROTTLE_FORBIDDEN : otherwise;
}

/* Maps the error number of a removal. If nothing was set, there is nothing to remove, which kernels report by three
 * error numbers: that is success. */
static enum throttle_end end_of_removal(int code)
{
	return code == NOT_THERE_ENOENT || code == NOT_THERE_ENODEV || code == NOT_VALID_EINVAL
		       ? THROTTLE_DONE
		       : end_of(code, THROTTLE_STAYS);
}

static enum throttle_end loosen(int kernel_fd, int interface)
{
	const enum throttle_end ends[] = {
		end_of_removal(queue_remove(kernel_fd, interface, TC_H_ROOT, 0)),
		end_of_removal(queue_remove(kernel_fd, interface, TC_H_INGRESS, INGRESS_HANDLE)),
		end_of_removal(device_remove(kernel_fd)),
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (ends[i])
			return ends[i];
	return THROTTLE_DONE;
}

static enum throttle_end device_make(int kernel_fd, uint32_t bytes_per_s, int *ret_device)
{
	int code = device_add(kernel_fd);
	const int device = interface_index(kernel_fd, DEVICE);

	if (code)
		return end_of(code, THROTTLE_NO_DEVICE);
	if (!device)
		return THROTTLE_NO_DEVICE;
	device_unaddress(kernel_fd, device);
	code = bucket_add(kernel_fd, device, bytes_per_s);
	if (code)
		return end_of(code, THROTTLE_NO_BUCKET);
	*ret_device = device;
	return end_of(device_raise(kernel_fd, device), THROTTLE_NO_DEVICE);
}

static enum throttle_end tighten(int kernel_fd, int interface, uint32_t bytes_per_s)
{
	int device = 0, code;
	enum throttle_end end = device_make(kernel_fd, bytes_per_s, &device);

	if (end)
		return end;
	code = ingress_add(kernel_fd, interface);
	if (!code)
		code = redirect_add(kernel_fd, interface, device);
	if (code)
		return end_of(code, THROTTLE_NO_REDIRECT);
	return end_of(bucket_add(kernel_fd, interface, bytes_per_s), THROTTLE_NO_BUCKET);
}

/* Sets the limit completely or not at all. Any earlier limit is removed first, so repeating the call is harmless. */
static enum throttle_end throttle(uint32_t bytes_per_s)
{
	const int kernel_fd = (int)kernel(__NR_socket, FAMILY_NETLINK, SOCKET_RAW, NETLINK_ROUTE, 0, 0, 0);
	const int interface = kernel_fd < 0 ? 0 : interface_index(kernel_fd, INTERFACE);
	enum throttle_end end;

	if (kernel_fd < 0)
		return THROTTLE_NO_NETLINK;
	if (!interface)
		return THROTTLE_NO_INTERFACE;
	end = loosen(kernel_fd, interface);
	if (end || !bytes_per_s)
		return end;
	end = tighten(kernel_fd, interface, bytes_per_s);
	if (end)
		loosen(kernel_fd, interface);
	return end;
}

/* Reads a number. False: the text has other characters than digits, or the number does not fit in 32 bits. */
static bool number_read(const char *text, uint32_t *ret_number)
{
	uint64_t number = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		if (*text < '0' || *text > '9')
			return false;
		number = number * 10 + (uint64_t)(*text - '0');
		if (number > UINT32_MAX)
			return false;
	}
	*ret_number = (uint32_t)number;
	return true;
}

void bare_begin(char *const *stack)
{
	enum throttle_end end = THROTTLE_CALLED_WRONG;
	uint32_t bytes_per_s;

	if ((uintptr_t)stack[0] == 2 && number_read(stack[2], &bytes_per_s))
		end = throttle(bytes_per_s);
	for (;;)
		kernel(__NR_exit_group, end, 0, 0, 0, 0, 0);
}
