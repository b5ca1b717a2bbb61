/*
 * The C interface of engines that ferrio loads.
 *
 *     ferrio --name=a --ioengine=external:./engine.so --filename=/dev/vdb --size=1g
 *
 * A shared object exports one function, ferrio_engine(), which returns a description of the engine: its version, its name and its
 * functions. docs/example_engine.c is a complete engine; build one like it with
 *
 *     cc -shared -fPIC -I docs -o engine.so docs/example_engine.c
 *
 * ferrio opens the files of a job, lays them out, chooses each I/O, keeps buffers, measures and reports. The engine does the I/Os.
 * An engine whose devices are no files of the kernel takes their names from the option external_options, and has its jobs use
 * filename=/dev/null and size=.
 *
 * Threads: each job has a state of its own, made by open() and freed by close(). All calls with one state come from one thread; calls with
 * different states come at the same time.
 *
 * Errors: functions return a positive errno, or a negative one where a number of 0 or more is the answer, as said below. No function may
 * throw, call longjmp or end the program.
 *
 * Each request in flight has a slot number, its unit, from 0 to iodepth - 1.
 *
 * This file may be used, copied and changed under the terms of either the MIT license or the Apache License 2.0, as ferrio itself.
 */
#ifndef FERRIO_ENGINE_H
#define FERRIO_ENGINE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Changes whenever an engine has to be compiled again. */
#define FERRIO_ENGINE_VERSION 1

/* What a request does. */
enum ferrio_op {
	FERRIO_READ = 0,            /* len bytes at offset, into buffer */
	FERRIO_WRITE = 1,           /* len bytes of buffer, to offset */
	FERRIO_TRIM = 2,            /* discards len bytes at offset */
	FERRIO_FSYNC = 3,           /* fsync(2) of the file */
	FERRIO_FDATASYNC = 4,       /* fdatasync(2) of the file */
	FERRIO_SYNC_FILE_RANGE = 5, /* sync_file_range(2) of len bytes at offset, with sync_flags; len 0: up to the end */
};

/* What became of a request that was submitted. */
enum ferrio_submitted {
	FERRIO_DONE = 0,   /* it is complete, *result tells how */
	FERRIO_QUEUED = 1, /* reap() will return it */
	FERRIO_FULL = 2,   /* there is no room: ferrio flushes, reaps at least one other request and submits the refused one again */
};

/* Flags of a job. */
#define FERRIO_DIRECT 1u /* direct=1: files were opened with O_DIRECT, and buffers begin at a page */
#define FERRIO_WRITES 2u /* some requests are writes */
#define FERRIO_TRIMS 4u  /* some requests are trims */

/* The job that an engine is opened for. Valid until open() returns, except the buffers, which live until close() returns. */
struct ferrio_job {
	uint32_t size;          /* bytes of this struct; a later ferrio may append fields */
	uint32_t flags;         /* FERRIO_DIRECT, ... */
	uint32_t iodepth;       /* most requests in flight */
	uint32_t files;         /* number of files */
	const char *name;       /* name of the job */
	const char *options;    /* external_options, "" without them */
	void *buffers;          /* buffer of unit 0; that of unit n begins n * buffer_stride bytes later */
	uint64_t buffer_stride; /* bytes; no request is longer */
};

/* A file of a job. */
struct ferrio_file {
	const char *path; /* as the job names it; valid during the call */
	int32_t fd;       /* open as the job needs it, until the next attach() or close(); do not close it */
	uint32_t reserved;
	uint64_t offset;  /* where the part of the file begins that the job uses */
	uint64_t size;    /* bytes of that part */
};

/* One I/O. Valid during the call; buffer is valid until the request is reaped. */
struct ferrio_request {
	uint32_t op;         /* enum ferrio_op */
	uint32_t unit;       /* slot of this request */
	uint32_t file;       /* index of its file */
	uint32_t len;        /* bytes; an I/O of 4 GiB or more comes in parts, the next one when this one is complete */
	uint64_t offset;     /* bytes from the beginning of the file */
	void *buffer;
	uint32_t sync_flags; /* of FERRIO_SYNC_FILE_RANGE */
	uint32_t priority;   /* I/O priority as in ioprio_set(2), 0 for that of the thread */
};

/*
 * The end of one I/O. A read, write or trim may be short: ferrio submits the rest as another request. The result 0 means the end of the
 * file.
 */
struct ferrio_completion {
	uint32_t unit; /* of the request */
	uint32_t reserved;
	int64_t result; /* bytes read, written or trimmed, 0 for a sync, or a negative errno */
};

/* An engine. Only flush and reap may be NULL, as said there; name too. */
struct ferrio_engine {
	uint32_t version; /* FERRIO_ENGINE_VERSION */
	uint32_t size;    /* sizeof(struct ferrio_engine) */
	const char *name; /* for messages; the path of the object if NULL */

	/* Prepares for a job and stores a state, which all other functions get. Returns 0 or a positive errno. */
	int (*open)(const struct ferrio_job *job, void **state);

	/* The files are open, or were opened again for another pass; nothing is in flight. Returns 0 or a positive errno. */
	int (*attach)(void *state, const struct ferrio_file *files, uint32_t count);

	/*
	 * Starts a request, or completes it at once. Returns enum ferrio_submitted. With FERRIO_DONE, *result is what the result of a completion
	 * would be, so an error is FERRIO_DONE and a negative errno in *result. FERRIO_FULL is an error if no request is in flight.
	 */
	int (*submit)(void *state, const struct ferrio_request *request, int64_t *result);

	/*
	 * Hands queued requests on. Returns how many since the last call, or a negative errno. May be NULL if submit() does that: a batch
	 * (iodepth_batch) has no meaning then.
	 */
	int (*flush)(void *state);

	/*
	 * Waits until at least min requests are complete, and stores the ends of at most max. With min = 0, it does not wait. Returns how many,
	 * or a negative errno, which ends the job; after -EINTR, ferrio calls again. May be NULL if submit() never returns FERRIO_QUEUED.
	 */
	int (*reap)(void *state, uint32_t min, uint32_t max, struct ferrio_completion *done);

	/* Waits for or cancels requests that are still in flight, because ferrio then frees their buffers, and frees the state. */
	void (*close)(void *state);
};

/* What the shared object exports. The description must stay valid while the object is loaded. */
const struct ferrio_engine *ferrio_engine(void);

#ifdef __cplusplus
}
#endif

#endif
