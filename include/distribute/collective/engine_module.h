/**
 * The interface between the library and an engine module: a shared library that carries the bytes
 * of collectives over MPI, UCX, ... It is C, so that a module fits programs of any compiler and
 * may be built by itself from one file (src/engines/).
 *
 * A module exports one function, distribute_engine(). What it returns is read field by field up to
 * the module's own `bytes`; `abi` changes when a field changes its meaning.
 *
 * Functions return 0, or a code of absl::StatusCode, with `error` filled. None blocks for other
 * ranks, but for open() and connect(). A group is used by one thread at a time.
 */
#ifndef DISTRIBUTE_COLLECTIVE_ENGINE_MODULE_H
#define DISTRIBUTE_COLLECTIVE_ENGINE_MODULE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DISTRIBUTE_ENGINE_ABI 3u

/** What a module can do, in `abilities`. */
enum {
  DISTRIBUTE_ENGINE_OWN_RANKS = 1,  /* ranks are known once open() returns: no addresses */
  DISTRIBUTE_ENGINE_REDUCES = 2,    /* all_reduce() exists */
  DISTRIBUTE_ENGINE_NEEDS_TURNS = 4 /* other ranks may need progress() of this one at any time */
};

/** Elements and operations of all_reduce(). */
enum {
  DISTRIBUTE_ENGINE_FLOAT32,
  DISTRIBUTE_ENGINE_FLOAT64,
  DISTRIBUTE_ENGINE_INT32,
  DISTRIBUTE_ENGINE_INT64,
  DISTRIBUTE_ENGINE_UINT8,
  DISTRIBUTE_ENGINE_INT8
};
enum {
  DISTRIBUTE_ENGINE_SUM,
  DISTRIBUTE_ENGINE_MIN,
  DISTRIBUTE_ENGINE_MAX,
  DISTRIBUTE_ENGINE_PRODUCT
};

typedef struct distribute_engine_group distribute_engine_group; /* the module's own */

typedef struct distribute_engine_error {
  char text[512];
} distribute_engine_error;

/** An end of what send(), receive() or all_reduce() has begun, or of a peer. */
typedef struct distribute_engine_event {
  uint64_t cookie; /* as given; DISTRIBUTE_ENGINE_PEER_LOST when a peer is gone */
  int32_t code;    /* 0: done */
  int32_t peer;    /* of DISTRIBUTE_ENGINE_PEER_LOST, else -1 */
} distribute_engine_event;
#define DISTRIBUTE_ENGINE_PEER_LOST UINT64_MAX

/** Bits of tags that a module must tell apart. */
#define DISTRIBUTE_ENGINE_TAG_BITS 15

typedef struct distribute_engine_module {
  uint32_t abi;   /* DISTRIBUTE_ENGINE_ABI that the module was built with */
  uint32_t bytes; /* sizeof(distribute_engine_module) then */
  uint32_t abilities;
  uint32_t unused;
  const char* name;             /* "openmpi", "mpich", "ucx" */
  const char* (*library)(void); /* what is loaded, for people: "UCX 1.13.1" */

  int (*open)(distribute_engine_group** group, distribute_engine_error* error);
  /* Writes this rank's address; *bytes says how much room there is, then how much is needed. */
  int (*address)(distribute_engine_group* group, void* out, size_t* bytes,
                 distribute_engine_error* error);
  /* With the addresses of all ranks. Without effect where ranks are the module's own. */
  int (*connect)(distribute_engine_group* group, int rank, int size, const void* const* addresses,
                 const size_t* bytes, distribute_engine_error* error);
  int (*rank)(distribute_engine_group* group);
  int (*size)(distribute_engine_group* group);

  /* Messages between two ranks with the same tag arrive in order. A receive may be longer than
   * the message. Memory must stay until the event. */
  int (*send)(distribute_engine_group* group, int to, uint32_t tag, const void* data, size_t bytes,
              uint64_t cookie, distribute_engine_error* error);
  int (*receive)(distribute_engine_group* group, int from, uint32_t tag, void* data, size_t bytes,
                 uint64_t cookie, distribute_engine_error* error);
  /* Over all ranks, in an order of the library's choice; in place where input is output. */
  int (*all_reduce)(distribute_engine_group* group, const void* input, void* output, size_t count,
                    int dtype, int op, uint64_t cookie, distribute_engine_error* error);
  /* Moves what can move, without waiting: the number of events written, or minus a code. With
   * `most` 0 the events are kept for a later call. `moved` becomes 1 when parts of messages have
   * moved, where the library tells; it may be null. */
  int (*progress)(distribute_engine_group* group, distribute_engine_event* events, int most,
                  int* moved, distribute_engine_error* error);
  /* A descriptor that becomes readable when there is something to do; -1: there is already, as
   * where events are kept; -2: this module has none, look again soon. */
  int (*wait_handle)(distribute_engine_group* group);

  /* `broken`: others may be gone, so nothing is waited for. Else what was sent arrives. */
  void (*close)(distribute_engine_group* group, int broken);
} distribute_engine_module;

/** The only symbol of a module. */
#define DISTRIBUTE_ENGINE_SYMBOL "distribute_engine"
#if defined(__GNUC__)
__attribute__((visibility("default")))
#endif
const distribute_engine_module*
distribute_engine(void);

#ifdef __cplusplus
}
#endif

#endif
