#pragma once
#include <distribute/device/cpu_onednn_layout.hpp>
#include <distribute/device/cpu_winograd.hpp>

#include <algorithm>
#include <functional>
#include <numeric>

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

/// [outer, height, width, inner] for nChw16c and its kin, else empty.
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
  std::lock_guard lock(mutex_);
  LayoutPtr& entry = resized_[{height, width}];
  if (!entry) {
    const Blocking blocking = blocking_of(desc_);
    const Dims dims{blocking.dims[0], blocking.dims[1], height, width};
    using Tag = Memory::format_tag;
    const int64_t inner = image_block_[3];
    const Tag tag = inner == 16 ? Tag::nChw16c : inner == 8 ? Tag::nChw8c : Tag::nChw4c;
    const auto type = data_type_of(desc_);
    entry = std::make_shared<OneDnnLayout>(Desc(dims, type, tag), Desc(dims, type, Tag::nhwc));
  }
  return entry;
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

DISTRIBUTE_INLINE LayoutPtr image_layout(const Dims& dims) {
  static auto* mutex = new std::mutex;  // guards layouts
  static auto* layouts = new std::map<Dims, LayoutPtr>;
  std::lock_guard lock(*mutex);
  LayoutPtr& entry = (*layouts)[dims];
  if (!entry) {
    const auto tag =
        winograd_block() == 16 ? Memory::format_tag::nChw16c : Memory::format_tag::nChw8c;
    const Desc grouped(dims, Memory::data_type::f32, tag);
    const Desc plain(dims, Memory::data_type::f32, Memory::format_tag::nhwc);
    entry = std::make_shared<OneDnnLayout>(grouped, plain);
  }
  return entry;
}

DISTRIBUTE_INLINE void reorder(const Desc& from, const void* source, const Desc& to, void* target) {
  Memory input(from, engine(), const_cast<void*>(source)), output(to, engine(), target);
  dnnl::reorder(input, output).execute(stream(), input, output);
  stream().wait();
}

DISTRIBUTE_INLINE void OneDnnLayout::to_row_major(const void* from, void* to) const {
  reorder(desc_, from, plain_, to);
}

DISTRIBUTE_INLINE void OneDnnLayout::from_row_major(const void* from, void* to) const {
  reorder(plain_, from, desc_, to);
}

}  // namespace distribute::onednn_internal
