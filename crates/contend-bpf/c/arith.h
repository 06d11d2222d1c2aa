/* SPDX-License-Identifier: MIT OR Apache-2.0 OR GPL-2.0-only */
/* Integers as Rust has them: saturating sums and products, and a quotient of 128-bit numbers, which BPF lacks. */
#ifndef CONTEND_ARITH_H
#define CONTEND_ARITH_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

#define U32_MAX 0xffffffffu
#define U64_MAX 0xffffffffffffffffull
#define INLINE static inline __attribute__((always_inline, unused))

INLINE u64 least(u64 a, u64 b) { return a < b ? a : b; }
INLINE u64 most(u64 a, u64 b) { return a > b ? a : b; }
INLINE u64 between(u64 x, u64 low, u64 high) { return least(most(x, low), high); }
INLINE u32 narrow(u64 x) { return x > U32_MAX ? U32_MAX : x; }
INLINE u64 sat_add(u64 a, u64 b) { return a + b < a ? U64_MAX : a + b; }
INLINE u64 sat_sub(u64 a, u64 b) { return a < b ? 0 : a - b; }

/* A number of 128 bits. */
struct wide {
	u64 hi, lo;
};

INLINE struct wide mul(u64 a, u64 b)
{
	u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
	u64 low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (u32)mid;
	struct wide w = { ah * bh + (mid >> 32) + (mid2 >> 32), (mid2 << 32) | (u32)low };
	return w;
}

INLINE u64 sat_mul(u64 a, u64 b)
{
	struct wide w = mul(a, b);
	return w.hi ? U64_MAX : w.lo;
}

/* The number shifted to the left by n, from 1 to 63 bits. */
INLINE struct wide shl(struct wide w, u32 n)
{
	struct wide s = { (w.hi << n) | (w.lo >> (64 - n)), w.lo << n };
	return s;
}

/* The number shifted to the right by n, from 1 to 63 bits; U64_MAX if that does not fit 64 bits. */
INLINE u64 shr(struct wide w, u32 n) { return w.hi >> n ? U64_MAX : (w.hi << (64 - n)) | (w.lo >> n); }

/* 1 if a < b, without a branch. */
INLINE u64 less(u64 a, u64 b) { return ((~a & b) | ((~a | b) & (a - b))) >> 63; }

/*
 * n / d rounded down, for d > 0 of at most 127 bits; U64_MAX if that does not fit 64 bits. Not inlined, and without
 * branches in the loop: the verifier looks at it once, and at each round once.
 */
__attribute__((noinline)) u64 quotient128(u64 nh, u64 nl, u64 dh, u64 dl)
{
	u64 q = 0, rh = 0, rl = 0, lost = 0, borrow, fits;
	int i;

	if (!nh && !dh)
		return dl ? nl / dl : U64_MAX;
	/* The remainder takes the number in bit by bit, from the highest. */
	for (i = 0; i < 128; i++) {
		rh = (rh << 1) | (rl >> 63);
		rl = (rl << 1) | (nh >> 63);
		nh = (nh << 1) | (nl >> 63);
		nl <<= 1;
		borrow = less(rl, dl);
		/* r >= d: rh - dh - borrow does not go below zero. */
		fits = 1 - (less(rh, dh) | less(rh - dh, borrow));
		rh -= (dh + borrow) & (0 - fits);
		rl -= dl & (0 - fits);
		lost |= q >> 63;
		q = (q << 1) | fits;
	}
	return lost ? U64_MAX : q;
}

INLINE u64 quotient(struct wide n, struct wide d) { return quotient128(n.hi, n.lo, d.hi, d.lo); }
INLINE u64 over(struct wide n, u64 d) { return quotient128(n.hi, n.lo, 0, d); }

#endif
