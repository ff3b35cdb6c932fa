/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/socket_owner.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"

DEFINE_AUTO(directory, DIR *, closedir)

enum { ANSWER_BYTES = 32 << 10, PATIENCE_S = 2 };

/* ---- the kernel's list ---- */

typedef void message_fn(void *arg, const struct nlmsghdr *message);

static bool request_send(int fd, const void *request, size_t size)
{
	struct {
		struct nlmsghdr header;
		char request[sizeof(struct inet_diag_req_v2)];
	} message = { .header = { .nlmsg_len = (uint32_t)NLMSG_LENGTH(size),
				  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
				  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };

	memcpy(message.request, request, size);
	return send(fd, &message, message.header.nlmsg_len, 0) == (ssize_t)message.header.nlmsg_len;
}

/* Reads the answer, and calls @each for each socket in it. Returns true if the list is complete. */
static bool answer_read(int fd, message_fn *each, void *arg)
{
	_Alignas(struct nlmsghdr) char answer[ANSWER_BYTES];
	ssize_t length;

	while ((length = recv(fd, answer, sizeof(answer), 0)) > 0) {
		const struct nlmsghdr *message = (const struct nlmsghdr *)answer;

		for (; NLMSG_OK(message, length); message = NLMSG_NEXT(message, length)) {
			if (message->nlmsg_type == NLMSG_DONE || message->nlmsg_type == NLMSG_ERROR)
				return message->nlmsg_type == NLMSG_DONE;
			if (message->nlmsg_type == SOCK_DIAG_BY_FAMILY)
				each(arg, message);
		}
	}
	return false;
}

static bool list_read(const void *request, size_t size, message_fn *each, void *arg)
{
	const struct timeval patience = { .tv_sec = PATIENCE_S };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	bool whole = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0 &&
		     request_send(fd, request, size) && answer_read(fd, each, arg);

	if (fd >= 0)
		close(fd);
	return whole;
}

/* ---- names ---- */

struct names {
	void (*visit)(void *arg, const char *name, const struct socket_owner *owner);
	void *arg;
};

static void name_read(void *arg, const struct nlmsghdr *message)
{
	const struct names *names = arg;
	const struct unix_diag_msg *found = NLMSG_DATA(message);
	const struct rtattr *item = (const struct rtattr *)(found + 1);
	size_t left = message->nlmsg_len - NLMSG_LENGTH(sizeof(*found));
	struct socket_owner owner = { .inode = found->udiag_ino, .uid = SOCKET_USER_UNKNOWN };
	char name[sizeof(((struct sockaddr_un *)NULL)->sun_path)] = "";

	for (; RTA_OK(item, left); item = RTA_NEXT(item, left)) {
		const char *data = RTA_DATA(item);
		const size_t length = RTA_PAYLOAD(item);

		if (item->rta_type == UNIX_DIAG_UID && length == sizeof(owner.uid))
			memcpy(&owner.uid, data, length);
		else if (item->rta_type == UNIX_DIAG_NAME && length > 1 && length <= sizeof(name) &&
			 data[0] == '\0' && !memchr(data + 1, '\0', length - 1))
			memcpy(name, data + 1, length - 1);
	}
	if (*name)
		names->visit(names->arg, name, &owner);
}

bool socket_owner_visit_abstract(void (*visit)(void *arg, const char *name, const struct socket_owner *owner),
				 void *arg)
{
	const struct unix_diag_req request = { .sdiag_family = AF_UNIX,
					       .udiag_states = ~0U,
					       .udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_UID };

	return list_read(&request, sizeof(request), name_read, &(struct names){ visit, arg });
}

/* ---- ports ---- */

struct port {
	const struct sockaddr *address;
	struct socket_owner *ret_owner;
	bool found;
};

/* Returns true if the socket @id listens on @address or on all addresses. IPv4 addresses mapped into IPv6 are not
 * considered. */
static bool address_clashes(const struct inet_diag_sockid *id, const struct sockaddr *address)
{
	static const struct in6_addr any;
	const bool v6 = address->sa_family == AF_INET6;
	const void *wanted = v6 ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
				: (const void *)&((const struct sockaddr_in *)address)->sin_addr;
	const size_t size = v6 ? sizeof(struct in6_addr) : sizeof(struct in_addr);

	return memcmp(id->idiag_src, &any, sizeof(any)) == 0 || memcmp(wanted, &any, size) == 0 ||
	       memcmp(id->idiag_src, wanted, size) == 0;
}

static in_port_t port_of(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
					      : ((const struct sockaddr_in *)address)->sin_port;
}

static void listener_read(void *arg, const struct nlmsghdr *message)
{
	struct port *port = arg;
	const struct inet_diag_msg *found = NLMSG_DATA(message);

	if (message->nlmsg_len < NLMSG_LENGTH(sizeof(*found)) || port->found ||
	    found->id.idiag_sport != port_of(port->address) || !address_clashes(&found->id, port->address))
		return;
	*port->ret_owner = (struct socket_owner){ .inode = found->idiag_inode, .uid = found->idiag_uid };
	port->found = true;
}

bool socket_owner_find_listener(const struct sockaddr *address, struct socket_owner *ret_owner)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	struct port port = { address, ret_owner, false };

	for (size_t i = 0; i < sizeof(families) && !port.found; i++) {
		const struct inet_diag_req_v2 request = { .sdiag_family = families[i],
							  .sdiag_protocol = IPPROTO_TCP,
							  .idiag_states = 1U << TCP_LISTEN };

		list_read(&request, sizeof(request), listener_read, &port);
	}
	if (port.found)
		socket_owner_find_process(ret_owner);
	return port.found;
}

/* ---- processes ---- */

/* Returns true if one of the descriptors in the directory @place ("/proc/PID/fd") is the socket with that inode. */
static bool process_has(const char *place, uint32_t inode)
{
	AUTO(directory) DIR *listing = opendir(place);
	const struct dirent *entry;
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "socket:[%u]", inode);
	while (listing && (entry = readdir(listing)) != NULL) {
		char target[sizeof(wanted)];
		ssize_t length = readlinkat(dirfd(listing), entry->d_name, target, sizeof(target) - 1);

		target[length > 0 ? length : 0] = '\0';
		if (strcmp(target, wanted) == 0)
			return true;
	}
	return false;
}

void socket_owner_name_program(struct socket_owner *owner)
{
	char path[64];
	int fd;
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)owner->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd >= 0 ? read(fd, owner->program, sizeof(owner->program) - 1) : 0;
	if (fd >= 0)
		close(fd);
	owner->program[length > 0 ? length : 0] = '\0';
	owner->program[strcspn(owner->program, "\n")] = '\0';
	text_make_harmless(owner->program);
}

void socket_owner_find_process(struct socket_owner *owner)
{
	AUTO(directory) DIR *processes = opendir("/proc");
	const struct dirent *entry;

	while (processes && (entry = readdir(processes)) != NULL) {
		char place[64];
		struct stat about;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(place, sizeof(place), "/proc/%.16s/fd", entry->d_name);
		if (!process_has(place, owner->inode))
			continue;
		owner->pid = (pid_t)strtol(entry->d_name, NULL, 10);
		socket_owner_name_program(owner);
		if (owner->uid == SOCKET_USER_UNKNOWN &&
		    fstatat(dirfd(processes), entry->d_name, &about, 0) == 0)
			owner->uid = about.st_uid;
		return;
	}
}

void socket_owner_write(struct text *text, const struct socket_owner *owner)
{
	if (owner->pid)
		text_printf(text, "process %d (%s)", (int)owner->pid, owner->program);
	else
		text_puts(text, "a process");
	if (owner->uid != SOCKET_USER_UNKNOWN)
		text_printf(text, " of user %u", (unsigned)owner->uid);
	if (!owner->pid)
		text_puts(text, " (only root and that user can see its number)");
}
