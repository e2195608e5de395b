#pragma once
/// Encodes 8-bit images as PNG files in memory.

#include <distribute/base/config.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace distribute::summary {

/// Takes `pixels` [height, width, channels]; channels 1 is grey, 2 grey and alpha, 3 RGB, 4 RGBA.
/// Throws  InvalidArgumentError for other channels, empty images and a wrong number of bytes.
std::string encode_png(std::span<const uint8_t> pixels, int64_t height, int64_t width,
                       int64_t channels);

}  // namespace distribute::summary
