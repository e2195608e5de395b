#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/process_state.hpp>

#include <cstring>
#include <string>

#include <link.h>

#if defined(__x86_64__) || defined(__aarch64__)
/// A note in every program and shared object with a copy of the library says how far it is from
/// there to this, with which the copy says that it is used. Other copies find notes, whatever is
/// exported.
extern "C" {
__attribute__((visibility("hidden"), used)) inline char distribute_copy_is_used{};
}
__asm__(
    ".pushsection .note.distribute,\"a\",%note\n.balign 4\n.long 11, 8, 1\n"
    ".asciz \"distribute\"\n.balign 4\n.quad distribute_copy_is_used - .\n.popsection\n");
#endif

namespace distribute::base_internal {

#if defined(__x86_64__) || defined(__aarch64__)
/// The object with another copy of the library that is used; for dl_iterate_phdr.
DISTRIBUTE_INLINE int find_other_copy(dl_phdr_info* object, size_t, void* found) {
  constexpr size_t kHead = 12;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_NOTE) continue;
    const char* at =
        reinterpret_cast<const char*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    for (const char* const end = at + object->dlpi_phdr[i].p_memsz; at + kHead < end;) {
      uint32_t name_size, content_size;
      std::memcpy(&name_size, at, 4);
      std::memcpy(&content_size, at + 4, 4);
      const char* const name = at + kHead;
      const char* const content = name + (name_size + 3) / 4 * 4;
      at = content + (content_size + 3) / 4 * 4;
      if (name_size != 11 || std::memcmp(name, "distribute", 11) != 0) continue;
      int64_t offset;
      std::memcpy(&offset, content, 8);
      if (content + offset == &distribute_copy_is_used || content[offset] == 0) continue;
      *static_cast<std::string*>(found) = *object->dlpi_name ? object->dlpi_name : "the program";
      return 1;
    }
  }
  return 0;
}

/// Scopes, policies and tapes of one copy are not there for another.
DISTRIBUTE_INLINE void use_this_copy() {
  if (__atomic_load_n(&distribute_copy_is_used, __ATOMIC_RELAXED)) return;
  if (std::string other; ::dl_iterate_phdr(find_other_copy, &other))
    throw FailedPreconditionError(
        str_cat("this process has a second copy of distribute, and ", other,
                " uses the first: scopes, policies and gradient tapes would not be shared. Link "
                "the program and its plugins to one shared object that has the library, or leave "
                "it out of the plugins and link the program with -rdynamic"));
  __atomic_store_n(&distribute_copy_is_used, char{1}, __ATOMIC_RELAXED);
}
#else
DISTRIBUTE_INLINE void use_this_copy() {}
#endif

DISTRIBUTE_INLINE void add_context_part(int index, std::unique_ptr<ContextPart> part) {
  use_this_copy();
  struct Cleaner {
    ~Cleaner() { ThreadContext().exchange(); }  // and its end deletes the thread's parts
  };
  thread_local const Cleaner cleaner;  // the first part of a thread
  context_parts().at[index] = part.release();
}

DISTRIBUTE_INLINE ThreadContext::~ThreadContext() {
  for (ContextPart* part : parts_.at) delete part;
}

DISTRIBUTE_INLINE ThreadContext ThreadContext::for_other_thread() {
  ThreadContext context;
  for (int i = 0; i < kFloors * kPlacesPerFloor; ++i)
    if (const ContextPart* part = context_parts().at[i])
      context.parts_.at[i] = part->for_other_thread().release();
  return context;
}

}  // namespace distribute::base_internal
