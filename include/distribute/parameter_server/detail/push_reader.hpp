#pragma once
/// Reads the gradients of a push from the connection.

#include <distribute/base/config.hpp>
#include <distribute/parameter_server/detail/link_stream.hpp>
#include <distribute/parameter_server/detail/push_message.hpp>
#include <distribute/parameter_server/detail/shared_arena.hpp>
#include <distribute/parameter_server/detail/staged_push.hpp>
#include <distribute/parameter_server/detail/store.hpp>

#include <cstdint>
#include <memory>

namespace distribute::parameter_server {

/// Reads one push; borrows all its arguments. The thread of a session uses it.
class PushReader {
 public:
  /// `client_arena` may be null. Gradients of a synchronous push are copied, as the client does not
  /// know how long they wait for the others.
  PushReader(LinkStream& stream, const Store& store,
             const std::shared_ptr<SharedArena>& client_arena, const PushMessage& message,
             StagedPush& push)
      : stream_(stream),
        store_(store),
        client_arena_(client_arena),
        message_(message),
        push_(push) {}

  /// Adds one variable's update to the push.
  /// Throws  InvalidArgumentError when it fits no variable of the store.
  void read_update(const UpdateMessage& message);

 private:
  void read_gradient(const UpdateMessage& message, StoredUpdate& update);
  const float* borrow(int64_t offset, const StoredVariable& variable);
  void read_rows(int64_t rows, StoredUpdate& update);
  const float* receive_floats(int64_t count, Where where);

  LinkStream& stream_;
  const Store& store_;
  const std::shared_ptr<SharedArena>& client_arena_;
  const PushMessage& message_;
  StagedPush& push_;
};

}  // namespace distribute::parameter_server
