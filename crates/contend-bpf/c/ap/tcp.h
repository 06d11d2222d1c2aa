/* SPDX-License-Identifier: GPL-2.0-only */
/* TCP packets over IPv4 and IPv6 on an Ethernet-like interface, as tc programs see them. */
#ifndef CONTEND_AP_TCP_H
#define CONTEND_AP_TCP_H

#include <linux/types.h>
#include <linux/bpf.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_endian.h>
#include "../arith.h"

#define MAC 14
enum { FIN = 1, SYN = 2, RST = 4, ACK = 16, ECE = 64, CWR = 128 };

/* A direction of a connection. */
struct direction {
	u8 from[16], to[16];
	u16 sport, dport;
	u32 zero;
};

struct tcp {
	struct direction way;
	/* Offset of the TCP header, its length, and the payload of one segment and of all that travel as one packet. */
	u32 at, length, segment, payload;
	u32 seq, ack;
	u16 window;
	/* The flags without AE, and the counter of accurate ECN (RFC 9768 §3.1): AE, CWR and ECE. */
	u8 flags, ace;
};

/* What the programs count: packets seen, and two things done to them (src/block.rs). */
struct calls {
	u64 seen, lowered, dropped;
};

/* Reads a packet. Returns 0 if it is not TCP. */
INLINE int read_tcp(struct __sk_buff *skb, struct tcp *p)
{
	u32 head, end, v;
	u8 b[20];

	if (skb->protocol == bpf_htons(0x0800)) {
		if (bpf_skb_load_bytes(skb, MAC, b, 20) || (b[0] >> 4) != 4 || b[9] != 6)
			return 0;
		/* Of fragments only the first has ports, and none can be judged. */
		if ((b[6] & 0x3f) | b[7])
			return 0;
		head = (b[0] & 15) * 4;
		end = b[2] << 8 | b[3];
		__builtin_memcpy(p->way.from + 12, b + 12, 4);
		__builtin_memcpy(p->way.to + 12, b + 16, 4);
	} else if (skb->protocol == bpf_htons(0x86dd)) {
		if (bpf_skb_load_bytes(skb, MAC, b, 8) || b[6] != 6)
			return 0;
		head = 40;
		end = 40 + (b[4] << 8 | b[5]);
		if (bpf_skb_load_bytes(skb, MAC + 8, p->way.from, 16) || bpf_skb_load_bytes(skb, MAC + 24, p->way.to, 16))
			return 0;
	} else {
		return 0;
	}
	p->at = MAC + head;
	if (bpf_skb_load_bytes(skb, p->at, b, 20))
		return 0;
	__builtin_memcpy(&p->way.sport, b, 2);
	__builtin_memcpy(&p->way.dport, b + 2, 2);
	__builtin_memcpy(&v, b + 4, 4);
	p->seq = bpf_ntohl(v);
	__builtin_memcpy(&v, b + 8, 4);
	p->ack = bpf_ntohl(v);
	p->length = (b[12] >> 4) * 4;
	p->flags = b[13];
	p->ace = (b[12] & 1) << 2 | b[13] >> 6;
	p->window = b[14] << 8 | b[15];
	/* Segments that travel as one packet may exceed what the IP header can say. */
	end = skb->gso_segs > 1 || end < head ? skb->len - MAC : end;
	p->payload = end < head + p->length ? 0 : end - head - p->length;
	p->segment = skb->gso_size ? least(p->payload, skb->gso_size) : p->payload;
	return p->length >= 20;
}

/* The value of the option `kind`, 0 if it has more than one byte; -1 if there is none. Options are read one by one. */
static __attribute__((noinline, unused)) int option(struct __sk_buff *skb, u32 at, u32 length, u32 kind)
{
	u32 i = 20;
	int n;
	u8 b[3];

	for (n = 0; n < 40; n++) {
		if (i >= length || bpf_skb_load_bytes(skb, at + i, b, 1) || b[0] == 0)
			break;
		if (b[0] == 1) {
			i += 1;
			continue;
		}
		if (bpf_skb_load_bytes(skb, at + i, b, 2) || b[1] < 2)
			break;
		if (b[0] == kind)
			return b[1] == 3 && !bpf_skb_load_bytes(skb, at + i, b, 3) ? b[2] : 0;
		i += b[1];
	}
	return -1;
}

/* The other direction. */
INLINE struct direction back(const struct direction *d)
{
	struct direction b = { .sport = d->dport, .dport = d->sport };

	__builtin_memcpy(b.from, d->to, 16);
	__builtin_memcpy(b.to, d->from, 16);
	return b;
}

/* A sequence number without wrapping, near an earlier one; 0: there is none. */
INLINE u64 unwrapped(u64 near, u32 x) { return near ? near + (s64)(s32)(x - (u32)near) : (1ull << 32) + x; }

#endif
