#pragma once
#if DISTRIBUTE_HAS_ONEDNN
#include <distribute/base/error.hpp>
#include <distribute/base/limits.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/base/process_state.hpp>
#include <distribute/device/detail/cpu_onednn_layout.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <tuple>

#include <sys/mman.h>
#include <sys/resource.h>

namespace distribute::onednn_internal {

DISTRIBUTE_INLINE Blocking blocking_of(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return {desc.get_dims(), desc.get_padded_dims(), desc.get_strides(), desc.get_inner_blks(),
          desc.get_inner_idxs()};
#else
  const auto& raw = desc.data;
  const auto& format = raw.format_desc.blocking;
  return {Dims(raw.dims, raw.dims + raw.ndims), Dims(raw.padded_dims, raw.padded_dims + raw.ndims),
          Dims(format.strides, format.strides + raw.ndims),
          Dims(format.inner_blks, format.inner_blks + format.inner_nblks),
          Dims(format.inner_idxs, format.inner_idxs + format.inner_nblks)};
#endif
}

DISTRIBUTE_INLINE Memory::data_type data_type_of(const Desc& desc) {
#if DNNL_VERSION_MAJOR >= 3
  return desc.get_data_type();
#else
  return desc.data_type();
#endif
}

DISTRIBUTE_INLINE Memory::data_type data_type_of(DType dtype) {
  if (dtype == DType::BFloat16) return Memory::data_type::bf16;
  return dtype == DType::Float16 ? Memory::data_type::f16 : Memory::data_type::f32;
}

DISTRIBUTE_INLINE int64_t product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

DISTRIBUTE_INLINE bool same_placement(const Desc& a, const Desc& b) {
  if (a == b) return true;
  if (data_type_of(a) != data_type_of(b)) return false;
  const Blocking x = blocking_of(a), y = blocking_of(b);
  if (x.dims != y.dims || x.padded != y.padded || x.blocks != y.blocks ||
      x.block_axes != y.block_axes)
    return false;
  for (size_t axis = 0; axis < x.dims.size(); ++axis)
    if (x.dims[axis] > 1 && x.strides[axis] != y.strides[axis]) return false;
  return true;
}

/// Returns [outer, height, width, inner] for nChw16c and similar layouts, else an empty list.
DISTRIBUTE_INLINE std::vector<int64_t> image_block_of(const Blocking& b) {
  if (b.dims.size() != 4 || b.blocks.size() != 1 || b.block_axes[0] != 1) return {};
  const int64_t inner = b.blocks[0], width = b.dims[3], height = b.dims[2];
  const int64_t channel_step = height * width * inner;
  const bool regular = b.strides[3] == inner && b.strides[2] == width * inner &&
                       b.strides[1] == channel_step &&
                       b.strides[0] == b.padded[1] / inner * channel_step;
  if (!regular) return {};
  return {b.dims[0] * (b.padded[1] / inner), height, width, inner};
}

DISTRIBUTE_INLINE OneDnnLayout::OneDnnLayout(Desc desc, Desc plain)
    : desc_(std::move(desc)), plain_(std::move(plain)) {
  const Blocking blocking = blocking_of(desc_);
  const int64_t element = int64_t(Memory::data_type_size(data_type_of(desc_)));
  dense_ = product(blocking.dims) * element == int64_t(desc_.get_size());
  image_block_ = image_block_of(blocking);
}

DISTRIBUTE_INLINE LayoutPtr OneDnnLayout::resized_image(int64_t height, int64_t width) const {
  if (image_block_.empty()) return nullptr;
  const Dims dims = blocking_of(desc_).dims;
  return image_layout({dims[0], dims[1], height, width}, image_block_[3], data_type_of(desc_));
}

DISTRIBUTE_INLINE LayoutPtr OneDnnLayout::retyped(DType dtype) const {
  if (image_block_.empty() || !dense_) return nullptr;
  if (dtype != DType::Float32 && dtype != DType::BFloat16) return nullptr;
  return image_layout(blocking_of(desc_).dims, image_block_[3], data_type_of(dtype));
}

DISTRIBUTE_INLINE bool OneDnnLayout::equals(const Layout& other) const {
  const auto* that = dynamic_cast<const OneDnnLayout*>(&other);
  return that && desc_ == that->desc_ && plain_ == that->plain_;
}

DISTRIBUTE_INLINE std::string OneDnnLayout::name() const {
  const Blocking blocking = blocking_of(desc_);
  std::string text = "onednn[";
  for (size_t i = 0; i < blocking.blocks.size(); ++i)
    text += std::to_string(blocking.blocks[i]) + char('a' + blocking.block_axes[i]);
  return text + "]";
}

struct ImageLayouts {
  std::mutex mutex;  // guards layouts
  std::map<std::tuple<Dims, int64_t, Memory::data_type>, LayoutPtr> layouts;
};

DISTRIBUTE_INLINE LayoutPtr image_layout(const Dims& dims, int64_t inner, Memory::data_type type) {
  auto& known = in_process<ImageLayouts>();
  std::lock_guard lock(known.mutex);
  LayoutPtr& entry = known.layouts[{dims, inner, type}];
  if (!entry) {
    const Tag tag = inner == 16 ? Tag::nChw16c : inner == 8 ? Tag::nChw8c : Tag::nChw4c;
    entry = std::make_shared<OneDnnLayout>(Desc(dims, type, tag), Desc(dims, type, Tag::nhwc));
  }
  return entry;
}

DISTRIBUTE_INLINE void require_room_for_code() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return;
  constexpr size_t kBytes = 16 << 20;  // 6 MB of code, what a product packs, a stack
  void* const room = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED)
    throw ResourceExhaustedError(str_cat("out of host memory: ", memory_text(int64_t(kBytes)),
                                         " wanted for the code of an operation; ",
                                         memory_text(address_room().value_or(MemoryRoom{}))));
  ::munmap(room, kBytes);
}

DISTRIBUTE_INLINE void reorder(const Desc& from, const void* source, const Desc& to, void* target) {
  require_room_for_code();
  Memory input(from, engine(), const_cast<void*>(source)), output(to, engine(), target);
  dnnl::reorder(input, output).execute(stream(), input, output);
  stream().wait();
}

/// Copies images of 16-bit elements, `block` as Layout::image_block, from groups of channels to
/// row-major order or back, as oneDNN has reorders of bfloat16 only for AVX-512.
DISTRIBUTE_INLINE void copy_groups(std::span<const int64_t> block, int64_t batch,
                                   const uint16_t* from, uint16_t* to, bool to_row_major) {
  const int64_t groups = block[0] / batch, pixels = block[1] * block[2], inner = block[3];
  parallel_for(batch * pixels, 256, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at)
      for (int64_t group = 0; group < groups; ++group) {
        const int64_t plain = (at * groups + group) * inner;
        const int64_t grouped = ((at / pixels * groups + group) * pixels + at % pixels) * inner;
        std::copy_n(from + (to_row_major ? grouped : plain), inner,
                    to + (to_row_major ? plain : grouped));
      }
  });
}

DISTRIBUTE_INLINE void OneDnnLayout::copy(const void* from, void* to, bool to_row_major) const {
  const bool half = Memory::data_type_size(data_type_of(desc_)) == sizeof(uint16_t);
  if (half && dense_ && !image_block_.empty())
    return copy_groups(image_block_, blocking_of(desc_).dims[0], static_cast<const uint16_t*>(from),
                       static_cast<uint16_t*>(to), to_row_major);
  reorder(to_row_major ? desc_ : plain_, from, to_row_major ? plain_ : desc_, to);
}

DISTRIBUTE_INLINE void OneDnnLayout::to_row_major(const void* from, void* to) const {
  copy(from, to, true);
}

DISTRIBUTE_INLINE void OneDnnLayout::from_row_major(const void* from, void* to) const {
  copy(from, to, false);
}

}  // namespace distribute::onednn_internal
#endif
