/*
 * An engine for ferrio in C: pread(2) and pwrite(2), with a queue that flush() works off, to show each function of the interface.
 *
 *     cc -shared -fPIC -I docs -o engine.so docs/example_engine.c
 *     ferrio --name=a --ioengine=external:./engine.so --iodepth=8 --rw=randread --size=64m --external_options=say=hello
 *
 * It may be copied and changed under the terms of either the MIT license or the Apache License 2.0.
 */
#define _GNU_SOURCE
#include "ferrio_engine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct state {
	int *fds;
	uint32_t room;                       /* requests that fit the queue */
	uint32_t queued, flushed;            /* requests in the queue, and how many of them flush() has seen */
	struct ferrio_request *queue;
	uint32_t ended;                      /* completions that wait for reap() */
	struct ferrio_completion *completed;
};

static void example_close(void *state)
{
	struct state *s = state;

	free(s->fds);
	free(s->queue);
	free(s->completed);
	free(s);
}

static int example_open(const struct ferrio_job *job, void **state)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return ENOMEM;
	s->room = job->iodepth;
	s->fds = calloc(job->files, sizeof(*s->fds));
	s->queue = calloc(s->room, sizeof(*s->queue));
	s->completed = calloc(s->room, sizeof(*s->completed));
	if ((job->files && !s->fds) || !s->queue || !s->completed) {
		example_close(s);
		return ENOMEM;
	}
	/* An engine reads its own options here. This one knows `say=TEXT` and refuses the others. */
	if (!strncmp(job->options, "say=", 4)) {
		fprintf(stderr, "%s: %s\n", job->name, job->options + 4);
	} else if (*job->options) {
		example_close(s);
		return EINVAL;
	}
	*state = s;
	return 0;
}

static int example_attach(void *state, const struct ferrio_file *files, uint32_t count)
{
	struct state *s = state;

	for (uint32_t i = 0; i < count; i++)
		s->fds[i] = files[i].fd;
	return 0;
}

static int64_t perform(const struct state *s, const struct ferrio_request *r)
{
	int fd = s->fds[r->file];
	int64_t result = -1;

	switch (r->op) {
	case FERRIO_READ:
		result = pread(fd, r->buffer, r->len, r->offset);
		break;
	case FERRIO_WRITE:
		result = pwrite(fd, r->buffer, r->len, r->offset);
		break;
	case FERRIO_TRIM:
		result = fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, r->offset, r->len);
		if (!result)
			result = r->len;
		break;
	case FERRIO_FSYNC:
		result = fsync(fd);
		break;
	case FERRIO_FDATASYNC:
		result = fdatasync(fd);
		break;
	case FERRIO_SYNC_FILE_RANGE:
		result = sync_file_range(fd, r->offset, r->len, r->sync_flags);
		break;
	default:
		return -EOPNOTSUPP;
	}
	return result < 0 ? -errno : result;
}

static int example_submit(void *state, const struct ferrio_request *request, int64_t *result)
{
	struct state *s = state;

	/* Syncs and trims are complete in the call, and so is everything at depth 1. */
	if (s->room == 1 || request->op > FERRIO_WRITE) {
		*result = perform(s, request);
		return FERRIO_DONE;
	}
	if (s->queued + s->ended == s->room)
		return FERRIO_FULL;
	s->queue[s->queued++] = *request;
	return FERRIO_QUEUED;
}

static int example_flush(void *state)
{
	struct state *s = state;
	int count = (int)(s->queued - s->flushed);

	s->flushed = s->queued;
	return count;
}

static int example_reap(void *state, uint32_t min, uint32_t max, struct ferrio_completion *done)
{
	struct state *s = state;
	uint32_t count;

	(void)min; /* everything that is queued completes here, so there is always enough */
	for (uint32_t i = 0; i < s->queued; i++) {
		s->completed[s->ended].unit = s->queue[i].unit;
		s->completed[s->ended++].result = perform(s, &s->queue[i]);
	}
	s->queued = s->flushed = 0;
	count = s->ended < max ? s->ended : max;
	memcpy(done, s->completed, count * sizeof(*done));
	memmove(s->completed, s->completed + count, (s->ended - count) * sizeof(*done));
	s->ended -= count;
	return (int)count;
}

static const struct ferrio_engine engine = {
	.version = FERRIO_ENGINE_VERSION,
	.size = sizeof(struct ferrio_engine),
	.name = "example",
	.open = example_open,
	.attach = example_attach,
	.submit = example_submit,
	.flush = example_flush,
	.reap = example_reap,
	.close = example_close,
};

const struct ferrio_engine *ferrio_engine(void)
{
	return &engine;
}
