#pragma once
/// Functions over the slices of the first axis, one after the other.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <functional>
#include <vector>

namespace distribute {

/// fn of each slice, stacked.
/// Shapes  elems [n, ...] -> [n, shape of fn's result].
/// Throws  InvalidArgumentError for no slices.
/// Source  tf.map_fn
Tensor map_fn(const std::function<Tensor(const Tensor& slice)>& fn, const Tensor& elems);
/// The same over tensors whose first axes are equal.
Tensor map_fn(const std::function<Tensor(const std::vector<Tensor>& slices)>& fn,
              const std::vector<Tensor>& elems);

/// state = fn(state, slice) for one slice after the other: all states, stacked. Without an
/// initializer the first slice is the first state.
/// Throws  InvalidArgumentError for no slices.
/// Source  tf.scan
Tensor scan(const std::function<Tensor(const Tensor& state, const Tensor& slice)>& fn,
            const Tensor& elems, const Tensor& initializer = {});

}  // namespace distribute
