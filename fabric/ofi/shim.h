// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

// The shim between Go and libfabric: one call from Go does a whole operation,
// that is, it posts it, makes room while the provider has none, and polls for its
// completion for a bounded time. Nothing here blocks for longer: who has to wait
// longer waits in Go, while the domain's thread drives progress.
//
// Words that several threads use are plain integers, reached by the __atomic
// builtins here and by sync/atomic in Go. There are no globals.

#ifndef GOSHMEM_OFI_SHIM_H
#define GOSHMEM_OFI_SHIM_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "small operands are taken from the low bytes of a word"
#endif

enum {
	SHIM_API = FI_VERSION(1, 17), // the oldest libfabric that was tested
	SHIM_ENDPOINTS = 4,           // libfabric endpoints of a domain, at most
	SHIM_IOVS = 4,                // segments of one message, at most
	SHIM_EPOCHS = 64,             // epochs of a stream that can be open at once
	SHIM_BOUNCE = 16 << 10,       // bytes of a bounce buffer
	SHIM_BOUNCES = 256,           // bounce buffers of a domain, at most
	SHIM_PIECE = 1 << 30,         // bytes of one message, at most
	SHIM_WORDS = 65,              // words of one atomic write, at most
	SHIM_INFLIGHT = 512,          // counted operations of a stream that can be in flight
	SHIM_TEXT = 96,               // bytes of an error's text
	SHIM_FEW = 16,                // PEs of a job whose thread sleeps on sockets, at most
	SHIM_SOCKETS = 64,            // descriptors that it then sleeps on, at most

	SHIM_SMALL = 512,     // bytes of a put in a batch, at most
	SHIM_NAME = 512,      // bytes of an endpoint's address, at most
	SHIM_LETTERS = 16,    // buffers that wait for letters
	SHIM_FLYING = 8,      // batches of a box that nobody has acknowledged, at most, and one more
	SHIM_FLUSH_NS = 30000,  // how long the flusher lets a batch fill
	SHIM_LATE_NS = 1000000, // how long an acknowledgement takes, if nothing is wrong
};

// What a call came to. Negative values are -errno, libfabric's ones included.
enum {
	SHIM_DONE = 0,
	SHIM_PENDING = 1, // posted; it completes while nobody polls
	SHIM_AGAIN = 2,   // the provider has no room: call again with value
};

// How a put treats its source.
enum {
	SHIM_COPY,  // it may be reused when the put is done: sent, copied, or waited for
	SHIM_KEEP,  // it stays as it is until its completion is counted
	SHIM_AWAIT, // the put is done when it is delivered
};

// Kinds of operations.
enum { SHIM_PUT, SHIM_GET, SHIM_ATOMIC, SHIM_BATCH, SHIM_PROBE, SHIM_ACK };

// The ends of a batch.
enum { SHIM_SENT = 1, SHIM_ACKED = 2 };

// What failed, of the first operation that did.
struct shim_error {
	int32_t code; // errno, 0: nothing failed
	int32_t pe;   // its target, -1: not known
	int32_t kind;
	char text[SHIM_TEXT];
};

// What a caller waits for: operations of its own, none of them counted.
struct shim_wait {
	uint32_t left; // operations that have not completed
	struct shim_error error;
	uint64_t result; // of a fetching operation
	struct shim_wait *next;
};

struct shim_strides {
	size_t block, blocks, local, remote; // all but blocks in bytes
};

// One range of a list.
struct shim_part {
	uint64_t local;  // address here; no pointer, because Go's list of them holds none
	uint64_t remote; // address or offset there
	uint64_t size;   // bytes
};

// One message: some ranges here, some there, as many bytes in both.
struct shim_message {
	int kind;
	uint64_t flags;
	size_t nlocal, nremote;
	struct iovec local[SHIM_IOVS];
	struct fi_rma_iov remote[SHIM_IOVS];
	size_t size;                 // bytes, where somebody wants to know
	void *dest;                  // where scatter leads, or NULL
	struct shim_strides scatter; // what to take from the bounce buffer
};

// One posted operation: what its completion is traced back by.
struct shim_op {
	struct fi_context2 context; // the provider's, first
	struct shim_stream *stream;
	struct shim_wait *wait; // who is told, or NULL: counted in epoch
	struct shim_wait *also; // who is told besides, of a counted one, or NULL
	bool flying;            // taken and not complete
	uint64_t epoch;
	void *bounce; // buffer to be given back, or NULL
	void *dest;   // where the result goes besides, or NULL
	uint8_t size; // of the result
	uint8_t kind;
	int32_t pe;
	uint64_t operand, comparand, result;
	struct shim_strides scatter; // of a get to dest, by way of bounce
	struct shim_box *box; // of a batch
	uint32_t slot;        // where its acknowledgement finds it
	uint32_t length;      // of its letter, in bytes
	bool posted;          // the provider has it, or had
	bool abandoned;       // its memory is not used again, because a completion may come yet
	uint8_t ends;         // which of its ends have come: it is done when it is sent and acknowledged
	uint64_t born;        // nanoseconds
	struct shim_op *next;
};

// Where an operation goes. Go has checked the range.
struct shim_target {
	fi_addr_t addr;
	uint64_t at; // address or offset, as the provider wants it
	uint64_t key;
	int32_t pe;
};

// What a stream collects for one PE while a batch is open.
struct shim_box {
	// Shared with Go, which appends records.
	uint32_t lock;    // 1 while somebody has it; the flusher only tries
	uint32_t linked;  // 1 from the first record until the flusher has seen it
	uint32_t used;    // bytes of records, under lock
	uint32_t records; // under lock
	uint8_t *buffer;  // of records, or NULL, under lock

	// Set at the start.
	struct shim_stream *stream;
	fi_addr_t addr;
	uint64_t token;             // that letters there carry
	struct shim_target control; // a word there that can be read

	uint32_t flying;        // batches that nobody has acknowledged
	struct shim_box *dirty; // next of the domain's
	struct shim_box *next;  // of the stream

	struct shim_wait probes; // what is read from its PE

	// Under the mail's mutex, in nanoseconds.
	uint64_t refused;  // since when there has been no room for a probe, 0: there is
	uint64_t again;    // not before, the next probe
	uint64_t patience; // with the last one
};

// A letter is a message from one PE's runtime to another's, here at its head: see
// shim_letter.c.
struct shim_head {
	uint64_t token; // the receiver's: what does not have it is not looked at
	uint64_t reply; // the sender's
	uint64_t id;    // of the batch
	uint32_t kind;
	uint32_t from; // PE
	uint32_t name; // bytes of the sender's address, which follows, in units of 8
	uint32_t size; // bytes of the records behind
};

// A buffer that letters come in.
struct shim_letter {
	struct fi_context2 context; // the provider's, first
	bool posted;
	uint8_t *bytes; // SHIM_BOUNCE
};

// Where an acknowledgement finds its batch.
struct shim_slot {
	uint32_t serial; // of its present use
	struct shim_op *op;
};

// An acknowledgement that waits for room.
struct shim_ack {
	struct shim_head head;
	fi_addr_t addr;
	struct shim_ack *next;
};

// What a domain has for batches.
struct shim_mail {
	// Set by shim_mail_open; read-only afterwards.
	bool open;      // letters are received
	bool cpu;       // words may be updated by CPU instructions
	uint64_t token; // that letters to this PE carry
	uint8_t name[SHIM_NAME];
	size_t name_size, lead; // lead: bytes in front of the records
	uint8_t *segment;
	size_t size; // bytes of it
	uint8_t *buffers;
	struct shim_letter letters[SHIM_LETTERS];

	// Of who reads the completion queue.
	uint64_t *origins; // by PE: 1 + its address, 0: not known yet
	struct shim_ack *acks, **last_ack;

	pthread_mutex_t mutex;                // for what follows
	struct shim_slot slots[SHIM_BOUNCES]; // a batch has a bounce buffer, so there is one for each
	uint32_t free[SHIM_BOUNCES], nfree;
	struct shim_op *unsent, **last_unsent;

	uint32_t waiting;       // nonzero: something above waits for room
	uint32_t malformed;     // 1 + a PE that sent nonsense, 0: none
	struct shim_box *dirty; // boxes with records

	pthread_mutex_t flush_mutex; // who takes boxes from dirty
	pthread_t flusher;
	bool flushing;
	uint32_t asleep; // nonzero while the flusher sleeps on bell
	uint32_t bell;   // futex
};

// A stream of operations with its own quiet: what Go calls an Endpoint.
struct shim_stream {
	struct shim_domain *domain;
	struct fid_ep *ep;
	bool leaks;     // operations of it are abandoned: it is never freed
	bool late;      // works while the job is ending
	uint32_t limit; // of inflight: a longer queue only delays who waits for its end

	// Read by Go.
	uint32_t inflight; // counted operations that have not completed
	uint32_t failed;   // nonzero while error holds one
	uint64_t oldest;   // epochs before it are complete

	pthread_mutex_t mutex; // for what follows
	uint64_t epoch;        // of what is posted now
	uint32_t open[SHIM_EPOCHS];
	struct shim_error error;
	struct shim_op *ops;     // free
	struct shim_wait *waits; // free
	struct shim_chunk *chunks;

	uint32_t bounces; // buffers that it has, under the domain's bounce_mutex

	struct shim_box *boxes; // under mutex
};

// The page of a domain that peers may write.
struct shim_control {
	uint64_t aborted; // 1 + the PE that ended the job, 0: none did
};

struct shim_counters {
	uint64_t writes, reads, atomics, fetches, compares; // posts that the provider took
	uint64_t injected, bounced;                         // writes among them
	uint64_t notes;                                     // injected words that nobody answers
	uint64_t batches, records, acks;                    // records: puts and atomics in batches
};

struct shim_config {
	uint64_t spin_ns;     // how long a call polls
	uint64_t standby_ns;  // how long the thread leaves progress to callers that poll, at first
	uint32_t pauses;      // how often it polls before it yields its core now and then
	uint32_t yields;      // every how many polls it does so then
	uint32_t spinners;    // calls that may poll at once
	uint32_t pe, npes;
	uint64_t max_message; // bytes
	uint64_t connect_ns;  // how long a batch waits for the first answer of a PE
	bool in_order;        // an atomic on several ranges is done in their order
	bool sockets;         // sleep on the provider's sockets
};

// What the thread sleeps on where the completion queue has no descriptor: see
// shim_sockets.c.
struct shim_sockets {
	bool used;
	bool stale;  // there are more or fewer than were found
	int room_fd; // an epoll set that tells when a socket that was full has room

	pthread_mutex_t mutex; // for what follows
	struct sockaddr_storage peers[SHIM_FEW];
	uint32_t npeers;

	// Of the thread.
	struct pollfd fds[SHIM_SOCKETS]; // the first two are others: stop_fd and room_fd
	bool listens[SHIM_SOCKETS];
	nfds_t n;
	bool partial;     // some were not found
	int nap;          // milliseconds, at most
	uint32_t at_once; // polls in a row that did not sleep
};

struct shim_domain {
	struct shim_config config;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *eps[SHIM_ENDPOINTS];
	uint32_t neps;
	struct fid_mr *segment_mr, *control_mr;
	struct shim_control *control;
	uint8_t *heard; // by PE: an operation to it has completed
	size_t iovs;    // segments of one message
	size_t words;   // of one atomic write
	size_t fused;   // bytes that can go out together with their signal
	int wait_fd;    // readable when there is progress to make, -1: no such thing
	struct shim_sockets sockets;
	int stop_fd;
	pthread_t thread;
	bool threaded;

	uint32_t aborted;  // by this PE
	uint32_t broken;   // errno of a completion queue that cannot be read
	uint32_t reading;  // a lock: somebody reads the completion queue
	uint32_t spinners; // calls that poll now
	uint32_t activity; // calls that have polled
	uint32_t sleepers; // nonzero while the PE's goroutines sleep on doorbell
	uint32_t doorbell; // futex
	uint32_t stopping; // nonzero when the thread is to end
	uint32_t standing; // nonzero while the thread leaves progress to spinners
	uint32_t handback; // futex that ends this
	uint32_t *other_sleepers, *other_doorbell; // of another fabric's waits, or NULL
	struct shim_counters counters;

	pthread_mutex_t bounce_mutex;
	void *bounces; // free, linked by their first word
	uint32_t nbounces;
	uint32_t lent;

	struct shim_mail mail;
};

struct shim_result {
	int64_t status;
	uint64_t value;         // the fetched word; for SHIM_AGAIN what to go on with
	struct shim_wait *wait; // to be given to the next call, or to shim_finish
};

struct shim_opened {
	struct shim_domain *domain;
	int64_t status;
	const char *step; // what failed
};

struct shim_cond {
	const void *word;
	uint64_t value;
	uint8_t size, is_signed, cmp; // cmp as package fabric numbers them
};

// Life.
struct shim_opened shim_open(struct fi_info *info, struct shim_config config);
int64_t shim_endpoint(struct shim_domain *d);
int64_t shim_register(struct shim_domain *d, void *mem, size_t size, uint64_t key, struct fid_mr **mr);
int64_t shim_start(struct shim_domain *d);
int64_t shim_insert(struct shim_domain *d, const void *name, size_t size, fi_addr_t *addr);
void shim_close(struct shim_domain *d);
void shim_free(struct shim_domain *d);
struct shim_stream *shim_stream_open(struct shim_domain *d, uint32_t ep, bool late);
void shim_stream_close(struct shim_stream *s);
int shim_atomic_valid(struct shim_domain *d, int op, int datatype, uint64_t flags);

// Operations.
struct shim_result shim_put(struct shim_stream *s, struct shim_target to, const uint8_t *src, size_t size, size_t from, int how, struct shim_wait *w);
struct shim_result shim_get(struct shim_stream *s, struct shim_target to, uint8_t *dst, size_t size, size_t from, bool counted, struct shim_wait *w);
struct shim_result shim_put_strided(struct shim_stream *s, struct shim_target to, const uint8_t *src, struct shim_strides st, size_t from, struct shim_wait *w);
struct shim_result shim_get_strided(struct shim_stream *s, struct shim_target to, uint8_t *dst, struct shim_strides st, size_t from, struct shim_wait *w);
struct shim_result shim_put_list(struct shim_stream *s, struct shim_target to, const struct shim_part *list, size_t count, size_t from, struct shim_wait *w);
struct shim_result shim_get_list(struct shim_stream *s, struct shim_target to, const struct shim_part *list, size_t count, size_t from, struct shim_wait *w);
struct shim_result shim_put_signal(struct shim_stream *s, struct shim_target to, const uint8_t *src, size_t size, struct shim_target signal, int op, uint64_t v, size_t from, struct shim_wait *w);
bool shim_fuses(struct shim_domain *d, struct shim_target to, size_t size, int op);
struct shim_result shim_put_fused(struct shim_stream *s, struct shim_target to, const uint8_t *src, size_t size, struct shim_target signal, uint64_t v, void *bounce);
struct shim_result shim_notify(struct shim_stream *s, struct shim_target to, const uint64_t *words, size_t count);
struct shim_result shim_put_words(struct shim_stream *s, struct shim_target to, const uint64_t *words, size_t count, size_t from);
struct shim_result shim_atomic(struct shim_stream *s, struct shim_target to, int op, int datatype, uint64_t v);
struct shim_result shim_fetch(struct shim_stream *s, struct shim_target to, int op, int datatype, bool compare, uint64_t v, uint64_t cmp);
struct shim_result shim_fetch_counted(struct shim_stream *s, struct shim_target to, int op, int datatype, bool compare, uint64_t v, uint64_t cmp, uint8_t *dest, uint8_t size);

// Batches.
int64_t shim_mail_open(struct shim_domain *d, void *segment, size_t size, bool cpu, uint64_t token, const uint8_t *name, size_t name_size);
int64_t shim_flusher_start(struct shim_domain *d);
struct shim_box *shim_box_new(struct shim_stream *s, fi_addr_t addr, uint64_t token, struct shim_target control);
int64_t shim_box_open(struct shim_box *b);
int64_t shim_box_close(struct shim_box *b);
int64_t shim_box_wait(struct shim_box *b);
void shim_boxes_end(struct shim_stream *s);
void shim_flush(struct shim_domain *d);
int64_t shim_records(struct shim_domain *d, const uint8_t *records, size_t size);

// Waiting.
struct shim_result shim_quiet(struct shim_stream *s, bool take);
struct shim_result shim_quieted(struct shim_stream *s, uint64_t epoch, bool take);
struct shim_result shim_quiet_pes(struct shim_stream *s, const int32_t *pes, size_t n);
struct shim_result shim_finish(struct shim_stream *s, struct shim_wait *w);
void shim_release(struct shim_stream *s, struct shim_wait *w);
int64_t shim_wait_word(struct shim_domain *d, struct shim_cond c, uint64_t spin_ns);
int shim_progress(struct shim_domain *d);

// Shared by the shim's own files.
struct shim_spin {
	struct shim_domain *domain;
	uint64_t start, length;
	uint32_t passes, rings;
	bool late; // the end of the job does not end it
};
struct shim_spin shim_spin_begin(struct shim_stream *s, uint64_t extra_ns);
bool shim_spin_pass(struct shim_spin *b);
void shim_spin_end(struct shim_spin *b);
bool shim_lock(struct shim_domain *d);
void shim_unlock(struct shim_domain *d);
int shim_poll(struct shim_domain *d);
int shim_pass(struct shim_domain *d);
int64_t shim_sockets_open(struct shim_domain *d);
int shim_sockets_sleep(struct shim_domain *d);
void shim_sockets_close(struct shim_domain *d);
void shim_ring(struct shim_domain *d);
void shim_handback(struct shim_domain *d);
bool shim_aborted(struct shim_domain *d);
bool shim_full(struct shim_stream *s, struct shim_wait *w);
struct shim_op *shim_take(struct shim_stream *s, struct shim_wait *w, int kind, int32_t pe);
void shim_untake(struct shim_op *op);
struct shim_wait *shim_wait_new(struct shim_stream *s);
struct shim_result shim_settle(struct shim_stream *s, struct shim_wait *w, struct shim_spin *b);
int64_t shim_post(struct shim_stream *s, const struct shim_target *to, const struct shim_message *m, struct shim_wait *w, void *bounce, struct shim_spin *b);
struct shim_result shim_end(struct shim_stream *s, const struct shim_target *to, int kind, uint64_t from, struct shim_wait *w, int64_t ret, struct shim_spin *b);
void shim_scatter(const struct shim_op *op);
uint64_t shim_now(void);
void shim_completed(struct shim_op *op, const struct shim_error *error);
struct shim_error shim_error_of(int64_t ret);
bool shim_batch_ends(struct shim_op *op, int end, const struct shim_error *error);
struct shim_op *shim_batch_acked(struct shim_domain *d, uint64_t id, uint32_t from);
void shim_probed(struct shim_op *op, const struct shim_error *error);
void shim_resend(struct shim_domain *d);
void shim_mail_close(struct shim_domain *d);
void shim_mail_free(struct shim_domain *d);
void shim_received(struct shim_domain *d, struct shim_letter *l, size_t size);
void shim_repost(struct shim_domain *d);
void shim_flusher_wake(struct shim_domain *d);
void shim_futex(uint32_t *word, int op, uint32_t val, const struct timespec *timeout);
void *shim_bounce(struct shim_stream *s);
void shim_unbounce(struct shim_stream *s, void *buffer);

#endif
