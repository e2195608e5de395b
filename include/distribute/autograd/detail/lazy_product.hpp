#pragma once
/// Gradients of dense kernels that are multiplied out where the optimizer needs them, not before.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstdint>
#include <vector>

namespace distribute::autograd_internal {

/// Gives a^T b of row-major float32 `a` [inner, rows] and `b` [inner, columns] on the CPU. The
/// result [rows, columns] keeps the two factors; the product is computed when its elements are
/// read.
Tensor lazy_product(const Tensor& a, const Tensor& b);
bool is_lazy_product(const Tensor& tensor);

/// True inside a LazyProductScope for a product far larger than its factors.
bool wants_lazy_product(const Tensor& a, const Tensor& b);

/// While it lives, gradients of variables may be lazy products on the calling thread, since the
/// update reads each element once.
class [[nodiscard]] LazyProductScope {
 public:
  explicit LazyProductScope(bool wanted);
  ~LazyProductScope();
  LazyProductScope(const LazyProductScope&) = delete;
  LazyProductScope& operator=(const LazyProductScope&) = delete;

 private:
  bool outer_;
};

/// Arranges `gradient` in `layout`; a lazy product stays lazy where row-major order is asked for.
Tensor for_update(const Tensor& gradient, const LayoutPtr& layout);

/// Gives elements [begin, begin + count) of a gradient that for_update() gave. They are read where
/// they stand; of a lazy product, whole rows are multiplied into `scratch`.
const float* update_elements(const Tensor& gradient, int64_t begin, int64_t count,
                             std::vector<float>& scratch);

/// The largest number of elements, at most `limit` but at least one row, that update_elements()
/// gives at once.
int64_t update_slice(const Tensor& gradient, int64_t limit);

}  // namespace distribute::autograd_internal
