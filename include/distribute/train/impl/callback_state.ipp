#pragma once
#include <distribute/base/error.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/train/detail/callback_state.hpp>

#include <bit>
#include <cstring>
#include <utility>

namespace distribute::train_internal {

/// Appends one number; for an optional one whether it is set, and its bits.
DISTRIBUTE_INLINE void append_bits(std::vector<int64_t>& bits, const KeptNumber& number) {
  if (const auto* best = std::get_if<std::optional<double>*>(&number)) {
    bits.push_back((*best)->has_value());
    bits.push_back(std::bit_cast<int64_t>((*best)->value_or(0)));
  } else if (const auto* count = std::get_if<int64_t*>(&number)) {
    bits.push_back(**count);
  } else {
    bits.push_back(*std::get<bool*>(number));
  }
}

DISTRIBUTE_INLINE void take_bits(const int64_t*& bits, const KeptNumber& number) {
  if (const auto* best = std::get_if<std::optional<double>*>(&number)) {
    const bool has = *bits++ != 0;
    const double value = std::bit_cast<double>(*bits++);
    **best = has ? std::optional(value) : std::nullopt;
  } else if (const auto* count = std::get_if<int64_t*>(&number)) {
    **count = *bits++;
  } else {
    *std::get<bool*>(number) = *bits++ != 0;
  }
}

DISTRIBUTE_INLINE train::TensorState numbers_state(std::vector<KeptNumber> numbers,
                                                   std::function<void()> restored) {
  const auto save = [numbers] {
    std::vector<int64_t> bits;
    for (const KeptNumber& number : numbers) append_bits(bits, number);
    return Tensor(Shape{int64_t(bits.size())}, bits);
  };
  const auto restore = [save, numbers, restored](const Tensor& saved) {
    if (saved.shape() != save().shape())
      throw InvalidArgumentError(str_cat("the state of a callback has ", saved.num_elements(),
                                         " numbers, wanted ", save().num_elements(),
                                         "; it is from another version of the program"));
    const int64_t* bits = saved.data<int64_t>().data();
    for (const KeptNumber& number : numbers) take_bits(bits, number);
    if (restored) restored();
  };
  return {save, restore, false};
}

DISTRIBUTE_INLINE int64_t bytes_of(const std::vector<Variable>& variables) {
  int64_t bytes = 0;
  for (const Variable& variable : variables)
    bytes += variable.shape().num_elements() * size_of(variable.dtype());
  return bytes;
}

DISTRIBUTE_INLINE Tensor packed_values(const std::vector<Variable>& variables) {
  std::vector<uint8_t> bytes;
  bytes.reserve(size_t(bytes_of(variables)));
  for (const Variable& variable : variables) {
    const Tensor value = train::value_to_save(variable).to(Device{}).row_major();
    const auto* data = reinterpret_cast<const uint8_t*>(value.array().bytes());
    bytes.insert(bytes.end(), data, data + value.num_elements() * size_of(value.dtype()));
  }
  return Tensor(Shape{int64_t(bytes.size())}, bytes);
}

DISTRIBUTE_INLINE void restore_packed(const std::vector<Variable>& variables, const Tensor& bytes) {
  if (bytes.num_elements() != bytes_of(variables))
    throw InvalidArgumentError(str_cat("the best weights have ", bytes.num_elements(),
                                       " bytes; the model has ", bytes_of(variables)));
  const uint8_t* next = bytes.data<uint8_t>().data();
  for (const Variable& variable : variables)
    dispatch(variable.dtype(), [&](auto type) {
      Tensor value = Tensor::empty(variable.shape(), variable.dtype(), Device{});
      const auto bytes_of_one = size_t(value.num_elements()) * sizeof(type);
      std::memcpy(static_cast<void*>(value.mutable_data<decltype(type)>()), next, bytes_of_one);
      next += bytes_of_one;
      train::restore_value(variable, value);
    });
}

}  // namespace distribute::train_internal
