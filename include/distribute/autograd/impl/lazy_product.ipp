#pragma once
#include <distribute/autograd/detail/accumulate.hpp>
#include <distribute/autograd/detail/lazy_product.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/backend.hpp>

#include <algorithm>
#include <utility>

namespace distribute::autograd_internal {

/// Holds the second factor; the first is the block itself.
class LazyProduct final : public Layout {
 public:
  LazyProduct(MatmulShape shape, Tensor b) : shape_(shape), b_(std::move(b)) {}

  int64_t bytes() const override { return shape_.inner * shape_.rows * size_of(shape_.dtype); }
  bool equals(const Layout& other) const override { return this == &other; }
  bool dense() const override { return false; }
  bool holds_elements() const override { return false; }
  std::string name() const override { return "lazy_product"; }
  void to_row_major(const void* from, void* to) const override {
    multiply(static_cast<const float*>(from), 0, shape_.rows, static_cast<float*>(to));
  }
  void from_row_major(const void*, void*) const override {
    throw UnimplementedError("a tensor cannot become a product");
  }
  void multiply(const float* a, int64_t begin, int64_t end, float* out) const {
    backend(DeviceType::Cpu).product_rows(shape_, a, b_.data<float>().data(), begin, end, out);
  }
  int64_t columns() const { return shape_.columns; }

 private:
  MatmulShape shape_;
  Tensor b_;
};

DISTRIBUTE_INLINE const LazyProduct* as_lazy_product(const Tensor& tensor) {
  return dynamic_cast<const LazyProduct*>(tensor.layout().get());
}
DISTRIBUTE_INLINE bool is_lazy_product(const Tensor& tensor) { return as_lazy_product(tensor); }

DISTRIBUTE_INLINE Tensor lazy_product(const Tensor& a, const Tensor& b) {
  const MatmulShape shape{DType::Float32, 1, a.shape()[1], b.shape()[1], a.shape()[0], true, false};
  Array factor = a.row_major().array();
  factor.layout = std::make_shared<LazyProduct>(shape, b.row_major());
  return Tensor({shape.rows, shape.columns}, shape.dtype, std::move(factor));
}

DISTRIBUTE_INLINE bool& lazy_products_are_wanted() {
  return base_internal::in_thread_context<base_internal::ContextPlace{3, 4}, bool>();
}

// With more than some dozen rows the product takes longer than copying it to memory and back.
// Without AVX-512
// oneDNN's gemm rounds the last elements of what it multiplies differently, so that a product's
// bits would depend on its slices.
DISTRIBUTE_INLINE bool wants_lazy_product(const Tensor& a, const Tensor& b) {
  constexpr int64_t kLargestBatch = 64, kSmallestProduct = 1 << 18;
  if (!lazy_products_are_wanted() || simd_level() < 2 || a.dtype() != DType::Float32 ||
      b.dtype() != a.dtype() || a.device().type != DeviceType::Cpu ||
      b.device().type != DeviceType::Cpu)
    return false;
  const int64_t inner = a.shape()[0], product = a.shape()[1] * b.shape()[1];
  return inner > 0 && inner <= kLargestBatch && product >= kSmallestProduct &&
         a.num_elements() + b.num_elements() < product / 2;
}

DISTRIBUTE_INLINE LazyProductScope::LazyProductScope(bool wanted)
    : outer_(std::exchange(lazy_products_are_wanted(), wanted)) {}
DISTRIBUTE_INLINE LazyProductScope::~LazyProductScope() { lazy_products_are_wanted() = outer_; }

DISTRIBUTE_INLINE Tensor for_update(const Tensor& gradient, const LayoutPtr& layout) {
  return !layout && is_lazy_product(gradient) ? gradient : in_layout(gradient, layout);
}

DISTRIBUTE_INLINE const float* update_elements(const Tensor& gradient, int64_t begin, int64_t count,
                                               std::vector<float>& scratch) {
  const float* stored = gradient.array().data<float>();
  const LazyProduct* product = as_lazy_product(gradient);
  if (!product) return stored + begin;
  scratch.resize(std::max(scratch.size(), size_t(count)));
  const int64_t columns = product->columns();
  product->multiply(stored, begin / columns, (begin + count) / columns, scratch.data());
  return scratch.data();
}

DISTRIBUTE_INLINE int64_t update_slice(const Tensor& gradient, int64_t limit) {
  const LazyProduct* product = as_lazy_product(gradient);
  if (!product) return limit;
  return std::max<int64_t>(limit / product->columns(), 1) * product->columns();
}

}  // namespace distribute::autograd_internal
