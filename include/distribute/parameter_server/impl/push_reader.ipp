#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/parameter_server/detail/push_reader.hpp>

#include <algorithm>

namespace distribute::parameter_server {

DISTRIBUTE_INLINE void PushReader::read_update(const UpdateMessage& message) {
  StoredUpdate update{.variable = &store_.at(message.variable), .index = message.index};
  if (update.index >= message_.step.decayed.size())
    throw InvalidArgumentError(str_cat("push: update ", update.index, " of a step of ",
                                       message_.step.decayed.size(), " updates"));
  for (const uint32_t slot : message.slots) update.slots.push_back(&store_.at(slot));
  for (const StoredVariable* slot : update.slots)
    if (slot->shape() != update.variable->shape() || slot->dtype() != DType::Float32)
      throw InvalidArgumentError(str_cat("push: slot '", slot->key(), "' is ",
                                         to_string(slot->shape()), ", its variable ",
                                         to_string(update.variable->shape())));
  if (update.variable->dtype() != DType::Float32)
    throw InvalidArgumentError(
        str_cat("push: variable '", update.variable->key(), "' is not float32"));
  read_gradient(message, update);
  push_.updates.push_back(std::move(update));
}

DISTRIBUTE_INLINE void PushReader::read_gradient(const UpdateMessage& message,
                                                 StoredUpdate& update) {
  const StoredVariable& variable = *update.variable;
  if (!message.rows && message.where == Where::Arena) {
    update.gradient = borrow(message.offset.value_or(-1), variable);
    return;
  }
  if (message.rows) read_rows(*message.rows, update);
  const int64_t width = variable.row_bytes() / int64_t(sizeof(float));
  update.gradient = receive_floats(
      message.rows ? *message.rows * width : variable.shape().num_elements(), message.where);
}

/// Returns a gradient in the memory of the client.
DISTRIBUTE_INLINE const float* PushReader::borrow(int64_t offset, const StoredVariable& variable) {
  if (!client_arena_ || offset < 0 || offset % 64 != 0 ||
      offset > client_arena_->bytes() - variable.bytes())
    throw InvalidArgumentError("push: a gradient outside of the shared memory");
  const auto* gradient = reinterpret_cast<const float*>(client_arena_->at(offset));
  if (!message_.synchronous) {
    push_.memory.push_back(client_arena_);
    return gradient;
  }
  const auto copy = std::make_shared<Buffer>(variable.bytes(), Device{});
  copy_memory(copy->data(), gradient, size_t(variable.bytes()));
  push_.memory.push_back(copy);
  return static_cast<const float*>(copy->data());
}

/// Reads the numbers of the rows of a sparse gradient.
DISTRIBUTE_INLINE void PushReader::read_rows(int64_t rows, StoredUpdate& update) {
  const StoredVariable& variable = *update.variable;
  update.sparse = true;
  if (rows < 0 || uint64_t(rows) > stream_.unread() / sizeof(int64_t))
    throw InvalidArgumentError("push: bad rows");
  const auto numbers = std::make_shared<std::vector<int64_t>>(size_t(rows));
  stream_.receive(std::as_writable_bytes(std::span(*numbers)));
  push_.memory.push_back(numbers);
  update.rows = *numbers;
  for (const int64_t row : *numbers)
    if (row < 0 || row >= variable.rows())
      throw InvalidArgumentError(str_cat("push: variable '", variable.key(), "' has ",
                                         variable.rows(), " rows, a gradient is for row ", row));
}

DISTRIBUTE_INLINE const float* PushReader::receive_floats(int64_t count, Where where) {
  const auto values = std::make_shared<Buffer>(count * int64_t(sizeof(float)), Device{});
  auto* floats = static_cast<float*>(values->data());
  push_.memory.push_back(values);
  if (where == Where::Inline) {
    stream_.receive({static_cast<std::byte*>(values->data()), size_t(values->bytes())});
    return floats;
  }
  if (where != Where::Halved) throw InvalidArgumentError("push: a gradient that is nowhere");
  constexpr int64_t kPart = 65536;
  std::vector<uint16_t> part(size_t(std::min(kPart, count)));
  for (int64_t done = 0; done < count; done += kPart) {
    const int64_t size = std::min(kPart, count - done);
    stream_.receive(std::as_writable_bytes(std::span(part).first(size_t(size))));
    widen(part.data(), floats + done, size);
  }
  return floats;
}

}  // namespace distribute::parameter_server
