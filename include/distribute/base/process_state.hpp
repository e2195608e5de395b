#pragma once
/// Values of the whole process, found by their types, and values of one thread. Threads that work
/// for another one can begin with copies of its values.

#include <distribute/base/config.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace distribute {

/// Returns the process's one T, which lives from its first use to the end of the process. Every
/// folder keeps such objects in its own types; no other object in a header is global. Making it is
/// thread-safe.
template <typename T>
T& in_process() {
  static T* const made = new T;
  return *made;
}

}  // namespace distribute

namespace distribute::base_internal {

/// Identifies one value of the context. tools/check_floors.py checks that places differ, and that
/// `floor` is the floor of the folder; annexes are above all floors.
struct ContextPlace {
  int floor;
  int number;
  /// Whether threads that work for the calling one, such as the replicas of a run, begin with a
  /// copy.
  bool goes_along = false;
};

inline constexpr int kFloors = 16, kPlacesPerFloor = 6;

/// A value of the context, of a type that only its folder knows.
class ContextPart {
 public:
  virtual ~ContextPart() = default;
  /// Returns the value for a thread that works for the calling one; null: that thread has none.
  virtual std::unique_ptr<ContextPart> for_other_thread() const = 0;
};

template <ContextPlace place, typename T>
struct ContextValue final : ContextPart {
  std::unique_ptr<ContextPart> for_other_thread() const override {
    if constexpr (place.goes_along) return std::make_unique<ContextValue>(*this);
    return nullptr;
  }
  T value{};
};

/// All values of one thread, without those that were not used yet. It owns the parts.
struct ContextParts {
  ContextPart* at[kFloors * kPlacesPerFloor];
};

/// Returns the context of the calling thread. It has no constructor or destructor, so that reading
/// costs no more than for any variable of a thread.
inline ContextParts& context_parts() {
  static_assert(std::is_trivially_destructible_v<ContextParts>);
  constinit thread_local ContextParts parts{};
  return parts;
}

/// Puts a part into the calling thread's context, which deletes it when the thread ends.
void add_context_part(int index, std::unique_ptr<ContextPart> part);

/// Returns the calling thread's value at `place`, T{} at first.
template <ContextPlace place, typename T>
T& in_thread_context() {
  static_assert(place.floor < kFloors && place.number < kPlacesPerFloor);
  constexpr int index = place.floor * kPlacesPerFloor + place.number;
  using Part = ContextValue<place, T>;
  ContextPart*& part = context_parts().at[index];
  if (!part) [[unlikely]]
    add_context_part(index, std::make_unique<Part>());
  return static_cast<Part*>(part)->value;
}

/// A context that no thread uses at the moment. It can be moved.
class ThreadContext {
 public:
  /// Returns the initial context of a thread that works for the calling one.
  static ThreadContext for_other_thread();

  ThreadContext() = default;
  ThreadContext(ThreadContext&& other) noexcept { swap(other.parts_); }
  ThreadContext& operator=(ThreadContext&&) = delete;
  ~ThreadContext();

  /// Exchanges the values with the calling thread's.
  void exchange() noexcept { swap(context_parts()); }

 private:
  void swap(ContextParts& other) noexcept { std::swap(parts_.at, other.at); }
  ContextParts parts_{};
};

/// Saves the calling thread's context and replaces it by `context`; the destructor restores it.
class [[nodiscard]] ThreadContextScope {
 public:
  explicit ThreadContextScope(ThreadContext context) : other_(std::move(context)) {
    other_.exchange();
  }
  ~ThreadContextScope() { other_.exchange(); }
  ThreadContextScope(const ThreadContextScope&) = delete;
  ThreadContextScope& operator=(const ThreadContextScope&) = delete;

 private:
  ThreadContext other_;
};

}  // namespace distribute::base_internal
