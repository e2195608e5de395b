#pragma once
/// States of callbacks as parts of a checkpoint.

#include <distribute/autograd/variable.hpp>
#include <distribute/base/config.hpp>
#include <distribute/checkpoint/checkpoint.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

namespace distribute::train_internal {

/// A number that a callback keeps.
using KeptNumber = std::variant<int64_t*, bool*, std::optional<double>*>;

/// Stores the numbers as one tensor, bit by bit; they outlive the state. `restored` is called after
/// a restoration.
/// Throws  InvalidArgumentError, at the restoration, for another number of them.
train::TensorState numbers_state(std::vector<KeptNumber> numbers,
                                 std::function<void()> restored = {});

/// Joins the bytes of whole values; unpacking takes types and shapes of the variables.
/// Throws  InvalidArgumentError for bytes of another size.
Tensor packed_values(const std::vector<Variable>& variables);
void restore_packed(const std::vector<Variable>& variables, const Tensor& bytes);

}  // namespace distribute::train_internal
