/* SPDX-License-Identifier: GPL-2.0-only */
/* The ECN field of packets on an Ethernet-like interface, as tc programs read and write it. */
#ifndef CONTEND_AP_ECN_BPF_H
#define CONTEND_AP_ECN_BPF_H

#include "tcp.h"

enum { ECT1 = 1, ECT0 = 2, CE = 3 };
/* The two bits of ECN: in the second byte of an IPv4 header; in IPv6 four bits further, over the first two bytes. */
#define AT (MAC + 1)

/* A segment of many that travel as one packet counts. */
INLINE u64 packets_of(const struct __sk_buff *skb) { return most(skb->gso_segs, 1); }

/* The ECN bits of a packet; not-ECT if it is not IP. */
INLINE u32 ecn(struct __sk_buff *skb)
{
	u8 b;

	if (bpf_skb_load_bytes(skb, AT, &b, 1))
		return 0;
	if (skb->protocol == bpf_htons(0x0800))
		return b & 3;
	return skb->protocol == bpf_htons(0x86dd) ? (b >> 4) & 3 : 0;
}

/* Writes the ECN bits of an IPv4 or IPv6 packet. Those of IPv6 are in no checksum. Returns 0 if it has worked. */
INLINE long write_ecn(struct __sk_buff *skb, u32 to)
{
	u8 b[2], before[2];
	u16 old, new;

	if (skb->protocol == bpf_htons(0x86dd)) {
		if (bpf_skb_load_bytes(skb, AT, b, 1))
			return -1;
		b[0] = (b[0] & ~0x30) | to << 4;
		return bpf_skb_store_bytes(skb, AT, b, 1, 0);
	}
	if (bpf_skb_load_bytes(skb, MAC, before, 2))
		return -1;
	b[0] = before[0];
	b[1] = (before[1] & ~3) | to;
	__builtin_memcpy(&old, before, 2);
	__builtin_memcpy(&new, b, 2);
	/* RFC 1624: the checksum moves with the field. */
	if (bpf_l3_csum_replace(skb, MAC + 10, old, new, 2))
		return -1;
	return bpf_skb_store_bytes(skb, MAC, b, 2, 0);
}

#endif
