#pragma once
/// Running sums and products.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

namespace distribute {

struct CumulativeOptions {  // of cumsum() and cumprod()
  bool exclusive = false;   // element i leaves itself out
  bool reverse = false;     // from the end to the beginning
};

/// Element i along `axis` is the sum, or the product, of the elements up to i; 16-bit floats add in
/// float32. A gradient through a product that holds a 0 is 0, as in TensorFlow.
/// Shapes  as x.
/// Throws  InvalidArgumentError for an axis that does not exist, and bool.
/// Source  tf.math.cumsum, cumprod
Tensor cumsum(const Tensor& x, int axis = 0, CumulativeOptions options = {});
Tensor cumprod(const Tensor& x, int axis = 0, CumulativeOptions options = {});

}  // namespace distribute
