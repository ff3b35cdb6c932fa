/* SPDX-License-Identifier: Apache-2.0 */
#pragma once
/* scheduler/engine/throttle/throttle.h: exit codes of the program throttle. */

/* The codes begin at 100, because engines use 125 to 127 themselves. */
enum throttle_end {
	THROTTLE_DONE = 0,
	THROTTLE_CALLED_WRONG = 100,
	THROTTLE_NO_NETLINK,   /* cannot open a netlink socket to the kernel */
	THROTTLE_NO_INTERFACE, /* the container has no eth0 */
	THROTTLE_FORBIDDEN,    /* CAP_NET_ADMIN is missing, or the engine's machine forbids it */
	THROTTLE_NO_BUCKET,    /* the kernel has no queueing discipline tbf */
	THROTTLE_NO_DEVICE,    /* the kernel cannot make a device of kind ifb */
	THROTTLE_NO_REDIRECT,  /* the kernel has no ingress queue, u32 filter or mirred action */
	THROTTLE_STAYS,        /* the limit cannot be removed */
};
