#pragma once
/// Loops of batch normalization: per-channel sums, then an elementwise pass, on any image layout.

#include <distribute/base/config.hpp>
#include <distribute/base/parallel.hpp>
#include <distribute/tensor/tensor.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace distribute::ops_internal {

/// largest number of channels that a loop handles together
inline constexpr int64_t kLanes = 64;
/// number of rows that are summed in float before the sum goes to double
inline constexpr int64_t kPieceRows = 2048;
inline constexpr int64_t kNormGrain = 32768;  // smallest number of elements for a thread

/// Describes where the channels of a tensor [..., channels] are: in groups of neighbouring channels
/// ("lanes"), and rows in which a group repeats. Steps are in elements.
struct ChannelBlock {
  int64_t channels = 0, groups = 0, width = 0;  // channels includes a blocked layout's padding
  int64_t images = 0, pixels = 0, group_step = 0, image_step = 0, pixel_step = 0;

  int64_t rows() const { return images * pixels; }
  int64_t pieces() const { return (rows() + kPieceRows - 1) / kPieceRows; }
  int64_t lanes(int64_t group) const { return std::min(width, channels - group * width); }
};

/// Describes x as it is stored; x must be row-major or in a layout with an image_block().
ChannelBlock channel_block(const Tensor& x);
/// Gives x itself, or a row-major copy when channel_block() does not support its layout.
Tensor with_channel_block(const Tensor& x);

/// Calls fn(offset, rows) for every run of evenly spaced rows of a piece of a group.
template <typename Fn>
void for_runs(const ChannelBlock& b, int64_t group, int64_t piece, const Fn& fn) {
  const int64_t end = std::min(b.rows(), (piece + 1) * kPieceRows);
  for (int64_t row = piece * kPieceRows; row < end;) {
    const int64_t image = row / b.pixels, pixel = row % b.pixels;
    const int64_t count = std::min(b.pixels - pixel, end - row);
    fn(group * b.group_step + image * b.image_step + pixel * b.pixel_step, count);
    row += count;
  }
}

/// Sums of one piece; added up, those of one group.
template <typename T>
struct LaneSums {
  T first[kLanes] = {}, second[kLanes] = {};
};

/// Calls sum(group, piece, LaneSums<float>&) for every piece, finish(group, LaneSums<double>) once
/// a group's pieces are summed, then apply(group, piece). Pieces and the order of their sums depend
/// on the shape alone, so the result does not depend on the number of threads.
template <typename Sum, typename Finish, typename Apply>
void sum_then_apply(const ChannelBlock& b, const Sum& sum, const Finish& finish,
                    const Apply& apply) {
  const int64_t pieces = b.pieces(), units = b.groups * pieces;
  std::vector<LaneSums<float>> partial(static_cast<size_t>(units));
  const auto sum_units = [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) sum(u / pieces, u % pieces, partial[size_t(u)]);
  };
  const auto apply_units = [&](int64_t begin, int64_t end) {
    for (int64_t u = begin; u < end; ++u) apply(u / pieces, u % pieces);
  };
  const auto finish_group = [&](int64_t group) {
    LaneSums<double> total;
    for (int64_t u = group * pieces; u < (group + 1) * pieces; ++u)
      for (int64_t i = 0; i < kLanes; ++i) {
        total.first[i] += double(partial[size_t(u)].first[i]);
        total.second[i] += double(partial[size_t(u)].second[i]);
      }
    finish(group, total);
  };
  const int64_t threads = intra_op_threads();
  /// one group at a time stays in the cache
  if (b.groups % threads == 0 || b.groups >= 4 * threads) {
    const int64_t grain = 1 + kNormGrain / (1 + b.rows() * b.width);
    parallel_for(b.groups, grain, [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        sum_units(group * pieces, (group + 1) * pieces);
        finish_group(group);
        apply_units(group * pieces, (group + 1) * pieces);
      }
    });
    return;
  }
  const int64_t grain = 1 + kNormGrain / (kPieceRows * b.width);
  parallel_for(units, grain, sum_units);
  for (int64_t group = 0; group < b.groups; ++group) finish_group(group);
  parallel_for(units, grain, apply_units);
}

}  // namespace distribute::ops_internal
