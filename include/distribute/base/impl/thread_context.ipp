#pragma once
#include <distribute/base/thread_context.hpp>

#include <utility>

namespace distribute::base_internal {

DISTRIBUTE_INLINE void add_context_part(int index, std::unique_ptr<ContextPart> part) {
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
