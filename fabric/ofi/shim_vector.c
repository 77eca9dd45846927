// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// Transfers of many ranges: lists of them, and strided ones. Several ranges go in
// one message, as many as it takes; a call remembers which one is next.

#include <string.h>

#include "shim.h"

// Ranges of a transfer: listed, or of one size at even distances.
struct ranges {
	size_t count;
	const struct shim_part *list; // NULL: even ones
	struct shim_strides even;
	uintptr_t local;
	uint64_t remote;
};

static struct shim_part range(const struct ranges *r, size_t i)
{
	if (r->list)
		return r->list[i];
	return (struct shim_part){
		.local = r->local + i * r->even.local,
		.remote = r->remote + i * r->even.remote,
		.size = r->even.block,
	};
}

// pack makes a message of ranges first … and returns how many it takes. Ranges that
// touch are one. What fits a bounce buffer may be gathered from any number of places
// here, if that is allowed: then nlocal exceeds the limit, and local is of no use.
static size_t pack(struct shim_domain *d, struct shim_message *m, uint64_t key, const struct ranges *r, size_t first, bool gathers)
{
	size_t size = 0, i;

	m->nlocal = m->nremote = 0;
	for (i = first; i < r->count; i++) {
		struct shim_part p = range(r, i);
		struct iovec *l = m->nlocal && m->nlocal <= d->iovs ? &m->local[m->nlocal - 1] : NULL;
		struct fi_rma_iov *f = m->nremote ? &m->remote[m->nremote - 1] : NULL;
		bool near = l && (uintptr_t)l->iov_base + l->iov_len == p.local;
		bool far = f && f->addr + f->len == p.remote;

		if (size + p.size > d->config.max_message || (!far && m->nremote == d->iovs))
			break;
		if (!near && m->nlocal >= d->iovs && !(gathers && size + p.size <= SHIM_BOUNCE))
			break;
		if (m->nlocal > d->iovs && size + p.size > SHIM_BOUNCE)
			break;
		if (near)
			l->iov_len += p.size;
		else if (m->nlocal++ < d->iovs)
			m->local[m->nlocal - 1] = (struct iovec){.iov_base = (void *)(uintptr_t)p.local, .iov_len = p.size};
		if (far)
			f->len += p.size;
		else
			m->remote[m->nremote++] = (struct fi_rma_iov){.addr = p.remote, .len = p.size, .key = key};
		size += p.size;
	}
	m->size = size;
	return i - first;
}

// gather copies a message's ranges to a buffer that takes their place.
static void gather(struct shim_message *m, const struct ranges *r, size_t first, size_t n, uint8_t *buffer)
{
	size_t at = 0;

	for (size_t i = first; i < first + n; i++) {
		struct shim_part p = range(r, i);
		memcpy(buffer + at, (const void *)(uintptr_t)p.local, p.size);
		at += p.size;
	}
	m->nlocal = 1;
	m->local[0] = (struct iovec){.iov_base = buffer, .iov_len = at};
}

// put writes ranges from number from on. A range is no longer than a message may be.
static struct shim_result put(struct shim_stream *s, const struct shim_target *to, const struct ranges *r, size_t size, size_t from, struct shim_wait *w)
{
	struct shim_domain *d = s->domain;
	struct shim_spin b = shim_spin_begin(s, size);
	int64_t ret = 0;

	while (from < r->count) {
		struct shim_message m = {.kind = SHIM_PUT, .flags = FI_DELIVERY_COMPLETE | FI_COMPLETION};
		size_t n = pack(d, &m, to->key, r, from, true);
		uint8_t small[1024];
		void *bounce = NULL;
		bool await = false;

		if (m.size <= d->info->tx_attr->inject_size && m.size <= sizeof small) {
			gather(&m, r, from, n, small);
			m.flags |= FI_INJECT;
		} else if (m.size <= SHIM_BOUNCE) {
			while (!(bounce = shim_bounce(s)) && shim_spin_pass(&b))
				;
			if (!bounce) {
				ret = -FI_EAGAIN;
				break;
			}
			gather(&m, r, from, n, bounce);
		} else {
			await = true;
			if (!w && !(w = shim_wait_new(s))) {
				ret = -FI_ENOMEM;
				break;
			}
		}
		if ((ret = shim_post(s, to, &m, await ? w : NULL, bounce, &b)))
			break;
		from += n;
	}
	return shim_end(s, to, SHIM_PUT, from, w, ret, &b);
}

// get reads ranges from number from on and waits for them together.
static struct shim_result get(struct shim_stream *s, const struct shim_target *to, const struct ranges *r, size_t size, size_t from, struct shim_wait *w)
{
	struct shim_spin b = shim_spin_begin(s, size);
	int64_t ret = 0;

	if (!w && !(w = shim_wait_new(s)))
		ret = -FI_ENOMEM;
	while (!ret && from < r->count) {
		struct shim_message m = {.kind = SHIM_GET, .flags = FI_COMPLETION};
		size_t n = pack(s->domain, &m, to->key, r, from, false);

		if (!(ret = shim_post(s, to, &m, w, NULL, &b)))
			from += n;
	}
	return shim_end(s, to, SHIM_GET, from, w, ret, &b);
}

static size_t total(const struct shim_part *list, size_t count)
{
	size_t size = 0;

	for (size_t i = 0; i < count; i++)
		size += list[i].size;
	return size;
}

// shim_put_list writes the ranges of a list. Their memory stays until it is done.
struct shim_result shim_put_list(struct shim_stream *s, struct shim_target to, const struct shim_part *list, size_t count, size_t from, struct shim_wait *w)
{
	struct ranges r = {.count = count, .list = list};

	return put(s, &to, &r, total(list, count), from, w);
}

// shim_get_list reads the ranges of a list.
struct shim_result shim_get_list(struct shim_stream *s, struct shim_target to, const struct shim_part *list, size_t count, size_t from, struct shim_wait *w)
{
	struct ranges r = {.count = count, .list = list};

	return get(s, &to, &r, total(list, count), from, w);
}

static struct ranges even(const struct shim_target *to, const uint8_t *local, const struct shim_strides *st)
{
	return (struct ranges){.count = st->blocks, .even = *st, .local = (uintptr_t)local, .remote = to->at};
}

// shim_put_strided writes blocks.
struct shim_result shim_put_strided(struct shim_stream *s, struct shim_target to, const uint8_t *src, struct shim_strides st, size_t from, struct shim_wait *w)
{
	struct ranges r = even(&to, src, &st);

	return put(s, &to, &r, st.block * st.blocks, from, w);
}

// shim_get_strided reads blocks. Where many lie close together, it reads what is
// between them too, into bounce buffers: fewer bytes would be more messages. If none
// is to be had, and none of its own will come back, it does without.
struct shim_result shim_get_strided(struct shim_stream *s, struct shim_target to, uint8_t *dst, struct shim_strides st, size_t from, struct shim_wait *w)
{
	struct ranges r = even(&to, dst, &st);
	struct shim_domain *d = s->domain;
	struct shim_spin b;
	int64_t ret = 0;

	if (st.remote > SHIM_BOUNCE / (2 * SHIM_IOVS) || st.block > st.remote || st.blocks <= d->iovs || d->config.max_message < SHIM_BOUNCE)
		return get(s, &to, &r, st.block * st.blocks, from, w);
	b = shim_spin_begin(s, st.block * st.blocks);
	if (!w && !(w = shim_wait_new(s)))
		ret = -FI_ENOMEM;
	while (!ret && from < st.blocks) {
		struct shim_message m = {.kind = SHIM_GET, .flags = FI_COMPLETION, .nlocal = 1, .nremote = 1};
		size_t most = (SHIM_BOUNCE - st.block) / st.remote + 1;
		void *bounce;

		m.scatter = st;
		if (st.blocks - from < most)
			most = st.blocks - from;
		m.scatter.blocks = most;
		m.size = (most - 1) * st.remote + st.block;
		while (!(bounce = shim_bounce(s)) && shim_spin_pass(&b))
			;
		if (!bounce && !__atomic_load_n(&w->left, __ATOMIC_ACQUIRE)) {
			shim_spin_end(&b);
			return get(s, &to, &r, st.block * (st.blocks - from), from, w);
		}
		if (!bounce) {
			ret = -FI_EAGAIN;
			break;
		}
		m.local[0] = (struct iovec){.iov_base = bounce, .iov_len = m.size};
		m.remote[0] = (struct fi_rma_iov){.addr = to.at + from * st.remote, .len = m.size, .key = to.key};
		m.dest = dst + from * st.local;
		if (!(ret = shim_post(s, &to, &m, w, bounce, &b)))
			from += most;
	}
	return shim_end(s, &to, SHIM_GET, from, w, ret, &b);
}

// shim_scatter copies what was read to its places, without what is between them.
void shim_scatter(const struct shim_op *op)
{
	const struct shim_strides *st = &op->scatter;

	for (size_t i = 0; i < st->blocks; i++)
		memcpy((uint8_t *)op->dest + i * st->local, (const uint8_t *)op->bounce + i * st->remote, st->block);
}
