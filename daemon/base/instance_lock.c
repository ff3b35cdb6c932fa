/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/base/instance_lock.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/base/cleanup.h"
#include "daemon/base/log.h"
#include "daemon/base/socket_owner.h"

bool instance_valid(const char *instance)
{
	size_t length = strlen(instance);

	return length > 0 && length <= INSTANCE_MAX &&
	       strspn(instance, "abcdefghijklmnopqrstuvwxyz0123456789") == length;
}

#define NAME_BEGIN "trainyard/"

enum { NAME_SIZE = sizeof(NAME_BEGIN) + INSTANCE_MAX, SPARE_SIZE = NAME_SIZE + 1 + 16 };

/* Fills an abstract address, and returns its length. An abstract name begins with a NUL and is not terminated: the
 * length of the address is its end. */
static socklen_t address_make(const char *name, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(address->sun_path + 1));
}

/* Opens a datagram socket: other processes can see it once it is bound, without listen(). No data is sent to it. */
static int socket_open(void)
{
	return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static int name_bind(const char *name)
{
	struct sockaddr_un address;
	socklen_t length = address_make(name, &address);
	int fd = socket_open();

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&address, length) == 0) {
		shutdown(fd, SHUT_RD);
		return fd;
	}
	return fd_drop(fd);
}

/* ---- other holders ---- */

struct search {
	const char *name; /* "trainyard/INSTANCE" */
	ino_t own;        /* inode of this process's own socket, which is skipped */
	bool found;
	struct socket_owner owner; /* a socket of this user, if one was found; otherwise of another user */
};

static void holder_look(void *arg, const char *name, const struct socket_owner *owner)
{
	struct search *search = arg;
	const size_t length = strlen(search->name);

	if (strncmp(name, search->name, length) != 0 || (name[length] && name[length] != '/') ||
	    owner->inode == search->own || (search->found && search->owner.uid == geteuid()))
		return;
	search->found = true;
	search->owner = *owner;
}

/* Searches for a process that has the instance. Returns false if the kernel has no list of sockets. */
static bool holders_search(struct search *search)
{
	if (!socket_owner_visit_abstract(holder_look, search))
		return false;
	if (search->found)
		socket_owner_find_process(&search->owner);
	return true;
}

static bool name_answers(const char *name)
{
	struct sockaddr_un address;
	socklen_t length = address_make(name, &address);
	int fd = socket_open();
	bool answers = fd >= 0 && connect(fd, (const struct sockaddr *)&address, length) == 0;

	if (fd >= 0)
		close(fd);
	return answers;
}

/* ---- taking the lock ---- */

static enum status holder_refuse(const char *instance, enum instance_rule rule, const struct search *search,
				 struct error *err)
{
	struct text owner AUTO_TEXT = { 0 };

	socket_owner_write(&owner, &search->owner);
	return error_set(
		err, STATUS_FAILED_PRECONDITION, NULL,
		"another process of this machine works for instance %s, or holds its name: %s; %s", instance,
		owner.data,
		rule == INSTANCE_ALONE
			? "stop it, or give --force if it is neither a daemon nor a trainyard clean of this "
			  "instance"
			: "stop it first: of copies of a state directory, one can be served at a time");
}

static void holder_report(const char *instance, const struct search *search)
{
	struct text owner AUTO_TEXT = { 0 };

	socket_owner_write(&owner, &search->owner);
	log_event(
		LOG_WARNING, "instance-name-held",
		"instance=%s holder=\"%s\" hint=\"the holder is no daemon of this user; until it ends, "
		"trainyard clean --instance %s needs --force\"",
		instance, owner.failed ? "" : owner.data, instance);
}

enum status instance_lock_take(const char *instance, enum instance_rule rule, int *ret_fd, struct error *err)
{
	char name[NAME_SIZE], spare[SPARE_SIZE];
	unsigned long drawn = 0;
	struct search search = { .name = name, .owner = { .uid = SOCKET_USER_UNKNOWN } };
	struct stat about;
	int fd;

	snprintf(name, sizeof(name), NAME_BEGIN "%.32s", instance);
	fd = name_bind(name);
	if (fd < 0 && errno == EADDRINUSE) {
		search.found = true;
		(void)!getrandom(&drawn, sizeof(drawn), 0);
		snprintf(spare, sizeof(spare), "%s/%lx", name, drawn);
		fd = name_bind(spare);
	}
	if (fd < 0)
		return error_set(err, STATUS_UNAVAILABLE, NULL, "no socket can be made: %s", strerror(errno));
	search.own = fstat(fd, &about) == 0 ? about.st_ino : 0;
	holders_search(&search);
	if (search.found && (rule == INSTANCE_ALONE ||
			     (rule == INSTANCE_BESIDE_OTHER_USERS && search.owner.uid == geteuid()))) {
		close(fd);
		return holder_refuse(instance, rule, &search, err);
	}
	if (search.found)
		holder_report(instance, &search);
	*ret_fd = fd;
	return STATUS_OK;
}

bool instance_lock_seen(const char *instance)
{
	char name[NAME_SIZE];
	struct search search = { .name = name };

	snprintf(name, sizeof(name), NAME_BEGIN "%.32s", instance);
	return holders_search(&search) ? search.found : name_answers(name);
}
