#pragma once
/// A blocked image layout that needs no oneDNN: channels in groups of `inner`, as nChw16c.

#include <distribute/device/detail/layout.hpp>
#include <distribute/tensor/tensor.hpp>

#include <cstring>
#include <vector>

class BlockedLayout final : public distribute::Layout {
 public:
  BlockedLayout(const distribute::Shape& shape, int64_t inner)
      : shape_(shape),
        groups_((shape[3] + inner - 1) / inner),
        block_{shape[0] * groups_, shape[1], shape[2], inner} {}
  int64_t bytes() const override { return block_[0] * block_[1] * block_[2] * block_[3] * 4; }
  bool equals(const Layout& other) const override {
    const auto* that = dynamic_cast<const BlockedLayout*>(&other);
    return that && that->shape_ == shape_ && that->block_ == block_;
  }
  bool dense() const override { return shape_[3] % block_[3] == 0; }
  std::span<const int64_t> image_block() const override { return block_; }
  std::string name() const override { return "blocked"; }
  void to_row_major(const void* from, void* to) const override {
    for (int64_t i = 0; i < shape_.num_elements(); ++i)
      static_cast<float*>(to)[i] = static_cast<const float*>(from)[place(i)];
  }
  void from_row_major(const void* from, void* to) const override {
    std::memset(to, 0, size_t(bytes()));
    for (int64_t i = 0; i < shape_.num_elements(); ++i)
      static_cast<float*>(to)[place(i)] = static_cast<const float*>(from)[i];
  }

 private:
  int64_t place(int64_t flat) const {
    const int64_t c = flat % shape_[3], pixel = flat / shape_[3] % (shape_[1] * shape_[2]);
    const int64_t n = flat / shape_[3] / (shape_[1] * shape_[2]), inner = block_[3];
    return ((n * groups_ + c / inner) * shape_[1] * shape_[2] + pixel) * inner + c % inner;
  }

  distribute::Shape shape_;
  int64_t groups_;
  std::vector<int64_t> block_;
};
