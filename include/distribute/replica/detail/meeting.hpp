#pragma once
/// What the replicas of one process bring when they meet, with its type.

#include <cstddef>
#include <functional>
#include <span>
#include <type_traits>

namespace distribute::replica_internal {

/// What one replica does for all of them, with the address of each replica's object, in replica
/// order. The form without types, which virtual functions and bodies take.
using MeetingLead = std::function<void(std::span<void* const>)>;

/// The objects that all local replicas have brought, in replica order; for the time of the meeting.
template <typename T>
class Meeting {
 public:
  explicit Meeting(std::span<void* const> objects) : objects_(objects) {}
  size_t size() const { return objects_.size(); }
  T& operator[](size_t replica) const { return *static_cast<T*>(objects_[replica]); }
  /// Calls fn(object) for each replica, in replica order.
  template <typename Fn>
  void for_each(Fn&& fn) const {
    for (void* object : objects_) fn(*static_cast<T*>(object));
  }

 private:
  std::span<void* const> objects_;
};

/// `fn`, which takes a Meeting<T>, in the form without types. Refers to `fn`.
template <typename T, typename Fn>
auto untyped_lead(Fn& fn) {
  return [&fn](std::span<void* const> objects) { fn(Meeting<T>(objects)); };
}

/// The address of an object as a meeting takes it.
template <typename T>
void* untyped(T& object) {
  return const_cast<std::remove_const_t<T>*>(&object);
}

}  // namespace distribute::replica_internal
