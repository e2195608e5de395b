#pragma once
#include <distribute/ops/detail/channel_block.hpp>

namespace distribute::ops_internal {

DISTRIBUTE_INLINE Tensor with_channel_block(const Tensor& x) {
  const bool known = x.layout() && x.shape().rank() == 4 && x.shape()[0] > 0 &&
                     !x.layout()->image_block().empty() && x.layout()->image_block()[3] <= kLanes;
  return known ? x : x.row_major();
}

DISTRIBUTE_INLINE ChannelBlock channel_block(const Tensor& x) {
  ChannelBlock b;
  if (x.layout()) {
    const auto block = x.layout()->image_block();
    b.images = x.shape()[0];
    b.groups = block[0] / b.images;
    b.pixels = block[1] * block[2];
    b.width = b.pixel_step = block[3];
    b.channels = b.groups * b.width;
    b.group_step = b.pixels * b.width;
    b.image_step = b.groups * b.group_step;
  } else {
    b.channels = b.pixel_step = x.shape()[-1];
    b.width = b.group_step = kLanes;
    b.groups = (b.channels + kLanes - 1) / kLanes;
    b.images = 1;
    b.pixels = b.channels ? x.num_elements() / b.channels : 0;
  }
  return b;
}

}  // namespace distribute::ops_internal
