#pragma once
/// oneDNN's memory descriptors as a Layout; only cpu_onednn*.ipp may include this.

#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/layout.hpp>

#include <string>
#include <vector>

#include <dnnl.hpp>

namespace distribute::onednn_internal {

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Memory = dnnl::memory;
using Tag = dnnl::memory::format_tag;

struct CpuEngine {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
};

inline dnnl::engine& engine() { return in_process<CpuEngine>().engine; }

inline dnnl::stream& stream() {
  thread_local dnnl::stream instance(engine());
  return instance;
}

/// The parts of a blocked descriptor, for either API generation.
struct Blocking {
  Dims dims, padded, strides, blocks, block_axes;
};

Blocking blocking_of(const Desc& desc);
Memory::data_type data_type_of(const Desc& desc);
Memory::data_type data_type_of(DType dtype);

/// Whether both place every element at the same position, in the same type; strides of axes of size
/// one do not count.
bool same_placement(const Desc& a, const Desc& b);

/// A blocked arrangement and the row-major descriptor of the same tensor.
class OneDnnLayout final : public Layout {
 public:
  OneDnnLayout(Desc desc, Desc plain);
  const Desc& desc() const { return desc_; }
  const Desc& plain() const { return plain_; }

  int64_t bytes() const override { return int64_t(desc_.get_size()); }
  DISTRIBUTE_INLINE bool equals(const Layout& other) const override;
  bool dense() const override { return dense_; }
  std::span<const int64_t> image_block() const override { return image_block_; }
  DISTRIBUTE_INLINE LayoutPtr resized_image(int64_t height, int64_t width) const override;
  DISTRIBUTE_INLINE LayoutPtr retyped(DType dtype) const override;
  DISTRIBUTE_INLINE std::string name() const override;
  DISTRIBUTE_INLINE void to_row_major(const void* from, void* to) const override;
  DISTRIBUTE_INLINE void from_row_major(const void* from, void* to) const override;

 private:
  void copy(const void* from, void* to, bool to_row_major) const;

  Desc desc_, plain_;
  bool dense_;
  std::vector<int64_t> image_block_;
};

/// Returns the layout of images [batch, channels, height, width] of a type in groups of `inner`
/// channels; the same object every time, since plans are found by the addresses of layouts.
LayoutPtr image_layout(const Dims& dims, int64_t inner, Memory::data_type type);

/// Checks that there is memory for the code that oneDNN makes: oneDNN 2.6 does not check it, and
/// crashes. It is called before every primitive is made.
/// Throws  ResourceExhaustedError under `ulimit -v` when a few megabytes are not available.
void require_room_for_code();

/// Copies a block from one arrangement to another.
void reorder(const Desc& from, const void* source, const Desc& to, void* target);

}  // namespace distribute::onednn_internal
