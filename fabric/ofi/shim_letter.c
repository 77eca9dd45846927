// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Letters: batches as their target sees them, and their acknowledgements. Bytes from the
// network are not believed: a letter without this PE's token is none, and a record is looked at
// before it is carried out.
//
// A batch is a head, the sender's address, padded to 8 bytes, and records. A record is a word,
//
//	offset in the segment << 16 | code
//
// and 8 bytes or more. If code has bit 15, they are the operand of the atomic operation
// (code >> 4) & 31 on type code & 15, in libfabric's numbers; else code bytes to be put, padded
// to 8.

#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "shim.h"

enum { ATOMIC = 0x8000 };

static size_t pad(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

// Updates by compare-and-swap on the word's bits, for what has no instruction of its own.
#define UPDATE(type, bits, expression)                                                         \
	do {                                                                                   \
		bits *p = word, old = __atomic_load_n(p, __ATOMIC_RELAXED), now;               \
		do {                                                                           \
			type w, x, r;                                                          \
			memcpy(&w, &old, sizeof w);                                            \
			memcpy(&x, &v, sizeof x);                                              \
			r = (expression);                                                      \
			memcpy(&now, &r, sizeof r);                                            \
		} while (!__atomic_compare_exchange_n(p, &old, now, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)); \
		return true;                                                                   \
	} while (0)

#define INTEGER(name, type)                                                                    \
	static bool name(void *word, int op, uint64_t v)                                       \
	{                                                                                      \
		type *p_ = word, v_ = (type)v;                                                 \
		switch (op) {                                                                  \
		case FI_SUM: __atomic_fetch_add(p_, v_, __ATOMIC_SEQ_CST); return true;        \
		case FI_BOR: __atomic_fetch_or(p_, v_, __ATOMIC_SEQ_CST); return true;         \
		case FI_BAND: __atomic_fetch_and(p_, v_, __ATOMIC_SEQ_CST); return true;       \
		case FI_BXOR: __atomic_fetch_xor(p_, v_, __ATOMIC_SEQ_CST); return true;       \
		case FI_ATOMIC_WRITE: __atomic_store_n(p_, v_, __ATOMIC_SEQ_CST); return true; \
		case FI_MIN: UPDATE(type, type, x < w ? x : w);                                \
		case FI_MAX: UPDATE(type, type, x > w ? x : w);                                \
		case FI_PROD: UPDATE(type, type, (type)((uint64_t)w * (uint64_t)x));           \
		case FI_LOR: UPDATE(type, type, w || x);                                       \
		case FI_LAND: UPDATE(type, type, w && x);                                      \
		case FI_LXOR: UPDATE(type, type, !w != !x);                                    \
		default: return false;                                                         \
		}                                                                              \
	}

// Minimum and maximum of floats are not sent: what becomes of a NaN is the sender's affair.
#define INEXACT(name, type, bits)                                        \
	static bool name(void *word, int op, uint64_t v)                 \
	{                                                                \
		switch (op) {                                            \
		case FI_SUM: UPDATE(type, bits, w + x);                  \
		case FI_PROD: UPDATE(type, bits, w * x);                 \
		case FI_LOR: UPDATE(type, bits, (w != 0) || (x != 0));   \
		case FI_LAND: UPDATE(type, bits, (w != 0) && (x != 0));  \
		case FI_LXOR: UPDATE(type, bits, (w != 0) != (x != 0));  \
		default: return false;                                   \
		}                                                        \
	}

INTEGER(update_int8, int8_t)
INTEGER(update_uint8, uint8_t)
INTEGER(update_int16, int16_t)
INTEGER(update_uint16, uint16_t)
INTEGER(update_int32, int32_t)
INTEGER(update_uint32, uint32_t)
INTEGER(update_int64, int64_t)
INTEGER(update_uint64, uint64_t)
INEXACT(update_float, float, uint32_t)
INEXACT(update_double, double, uint64_t)
INEXACT(update_complex, float complex, uint64_t)

// update carries out an atomic operation on a word of size bytes, and reports whether
// there is such a one.
static bool update(void *word, size_t *size, int op, int datatype, uint64_t v)
{
	static const struct {
		uint8_t size;
		bool (*update)(void *word, int op, uint64_t v);
	} types[] = {
		[FI_INT8] = {1, update_int8}, [FI_UINT8] = {1, update_uint8},
		[FI_INT16] = {2, update_int16}, [FI_UINT16] = {2, update_uint16},
		[FI_INT32] = {4, update_int32}, [FI_UINT32] = {4, update_uint32},
		[FI_INT64] = {8, update_int64}, [FI_UINT64] = {8, update_uint64},
		[FI_FLOAT] = {4, update_float}, [FI_DOUBLE] = {8, update_double},
		[FI_FLOAT_COMPLEX] = {8, update_complex},
	};

	if ((size_t)datatype >= sizeof types / sizeof types[0] || !types[datatype].update)
		return false;
	if (size) {
		*size = types[datatype].size;
		return true;
	}
	return types[datatype].update(word, op, v);
}

// shim_records carries records out, in their order, and returns 0, or a negative number at
// the first that makes no sense: -1 - its place.
int64_t shim_records(struct shim_domain *d, const uint8_t *records, size_t size)
{
	const struct shim_mail *m = &d->mail;
	size_t at = 0;

	while (at < size) {
		uint64_t word, off;
		size_t n, length;
		unsigned code;

		if (size - at < 16)
			return -1 - (int64_t)at;
		memcpy(&word, records + at, 8);
		off = word >> 16;
		code = word & 0xffff;
		if (code & ATOMIC) {
			uint64_t v;

			memcpy(&v, records + at + 8, 8);
			if (!m->cpu || !update(NULL, &n, 0, code & 15, 0) || off % n || off > m->size || n > m->size - off ||
			    code & 0x7e00 || !update(m->segment + off, NULL, code >> 4 & 31, code & 15, v))
				return -1 - (int64_t)at;
			at += 16;
			continue;
		}
		n = code;
		length = 8 + pad(n);
		if (n == 0 || n > SHIM_SMALL || length > size - at || off > m->size || n > m->size - off)
			return -1 - (int64_t)at;
		if (n == 8)
			memcpy(m->segment + off, records + at + 8, 8); // one instruction
		else
			memcpy(m->segment + off, records + at + 8, n);
		at += length;
	}
	return 0;
}

// acknowledge sends an acknowledgement, which needs no buffer; false: there is no room.
static bool acknowledge(struct shim_domain *d, const struct shim_head *head, fi_addr_t addr)
{
	int64_t ret = fi_inject(d->eps[0], head, sizeof *head, addr);

	if (ret == -FI_EAGAIN)
		return false;
	if (ret == 0)
		__atomic_fetch_add(&d->counters.acks, 1, __ATOMIC_RELAXED);
	return true; // who cannot be told is gone
}

static void owe(struct shim_domain *d, const struct shim_head *head, fi_addr_t addr)
{
	struct shim_mail *m = &d->mail;
	struct shim_ack *a = m->acks || !acknowledge(d, head, addr) ? malloc(sizeof *a) : NULL;

	if (!a)
		return;
	*a = (struct shim_ack){.head = *head, .addr = addr};
	*m->last_ack = a;
	m->last_ack = &a->next;
	__atomic_store_n(&m->waiting, 1, __ATOMIC_SEQ_CST);
}

// origin returns the address of a PE that has sent a letter: it is in it.
static bool origin(struct shim_domain *d, const struct shim_head *head, fi_addr_t *addr)
{
	uint64_t *known = &d->mail.origins[head->from];

	if (*known == 0) {
		if (head->name == 0 || shim_insert(d, head + 1, head->name, addr) != 1)
			return false;
		*known = *addr + 1;
	}
	*addr = *known - 1;
	return true;
}

// open_letter looks at a letter and does what it says. false: it has the token, and
// makes no sense.
static bool open_letter(struct shim_domain *d, const uint8_t *bytes, size_t size)
{
	struct shim_mail *m = &d->mail;
	const struct shim_head *head = (const void *)bytes;
	fi_addr_t addr;
	size_t lead;

	if (size < sizeof *head || head->token != m->token)
		return true; // a stranger's
	lead = sizeof *head + pad(head->name);
	if (head->from >= d->config.npes || head->name > SHIM_NAME || lead > size || head->size != size - lead)
		return false;
	if (head->kind == SHIM_ACK) {
		struct shim_op *op = shim_batch_acked(d, head->id, head->from);
		if (op)
			shim_completed(op, NULL);
		return true;
	}
	if (head->kind != SHIM_BATCH || !origin(d, head, &addr) || shim_records(d, bytes + lead, head->size))
		return false;
	__atomic_thread_fence(__ATOMIC_SEQ_CST); // what was put is there before that is said
	owe(d, &(struct shim_head){.token = head->reply, .id = head->id, .kind = SHIM_ACK, .from = d->config.pe}, addr);
	return true;
}

static bool receive(struct shim_domain *d, struct shim_letter *l)
{
	l->posted = fi_recv(d->eps[0], l->bytes, SHIM_BOUNCE, NULL, FI_ADDR_UNSPEC, l) == 0;
	return l->posted;
}

// shim_received is called with each letter, or with size 0 for one that could not be received. The
// caller reads the completion queue.
void shim_received(struct shim_domain *d, struct shim_letter *l, size_t size)
{
	struct shim_mail *m = &d->mail;

	if (!open_letter(d, l->bytes, size)) {
		const struct shim_head *head = (const void *)l->bytes;
		__atomic_store_n(&m->malformed, head->from + 1 ? head->from + 1 : 1, __ATOMIC_RELAXED);
		__atomic_store_n(&d->broken, FI_EINVAL, __ATOMIC_RELEASE);
	}
	l->posted = false;
	if (!__atomic_load_n(&d->stopping, __ATOMIC_RELAXED) && !receive(d, l))
		__atomic_store_n(&m->waiting, 1, __ATOMIC_SEQ_CST);
}

// shim_repost sends acknowledgements that wait for room, each once, and posts buffers that do. The
// caller reads the completion queue.
void shim_repost(struct shim_domain *d)
{
	struct shim_mail *m = &d->mail;
	struct shim_ack *a = m->acks, *next;
	int tries = 16; // of a pass

	m->acks = NULL;
	m->last_ack = &m->acks;
	for (; a; a = next) {
		next = a->next;
		if (tries-- > 0 && acknowledge(d, &a->head, a->addr)) {
			free(a);
			continue;
		}
		a->next = NULL;
		*m->last_ack = a;
		m->last_ack = &a->next;
	}
	for (int i = 0; i < SHIM_LETTERS; i++)
		if (m->open && !m->letters[i].posted && !receive(d, &m->letters[i]))
			__atomic_store_n(&m->waiting, 1, __ATOMIC_SEQ_CST);
	if (m->acks)
		__atomic_store_n(&m->waiting, 1, __ATOMIC_SEQ_CST);
}

// shim_mail_open begins to receive letters. It is called before other PEs learn the token.
int64_t shim_mail_open(struct shim_domain *d, void *segment, size_t size, bool cpu, uint64_t token, const uint8_t *name, size_t name_size)
{
	struct shim_mail *m = &d->mail;

	if (name_size > SHIM_NAME)
		return -FI_EINVAL;
	m->segment = segment;
	m->size = size;
	m->cpu = cpu;
	m->token = token;
	m->name_size = name_size;
	m->lead = sizeof(struct shim_head) + pad(name_size);
	memcpy(m->name, name, name_size);
	m->origins = calloc(d->config.npes, sizeof *m->origins);
	m->buffers = malloc(SHIM_LETTERS * SHIM_BOUNCE);
	if (!m->origins || !m->buffers)
		return -FI_ENOMEM;
	for (uint32_t i = 0; i < SHIM_BOUNCES; i++)
		m->free[m->nfree++] = i;
	for (int i = 0; i < SHIM_LETTERS; i++) {
		m->letters[i].bytes = m->buffers + i * SHIM_BOUNCE;
		if (!receive(d, &m->letters[i]))
			return -FI_EAGAIN;
	}
	m->open = true;
	return 0;
}

// shim_mail_close ends the flusher.
void shim_mail_close(struct shim_domain *d)
{
	__atomic_store_n(&d->stopping, 1, __ATOMIC_SEQ_CST);
	if (!d->mail.flushing)
		return;
	shim_flusher_wake(d);
	pthread_join(d->mail.flusher, NULL);
	d->mail.flushing = false;
}

// shim_mail_free frees what is left when the endpoints are closed.
void shim_mail_free(struct shim_domain *d)
{
	struct shim_mail *m = &d->mail;

	while (m->acks) {
		struct shim_ack *next = m->acks->next;
		free(m->acks);
		m->acks = next;
	}
	free(m->origins);
	free(m->buffers);
	pthread_mutex_destroy(&m->mutex);
	pthread_mutex_destroy(&m->flush_mutex);
}
