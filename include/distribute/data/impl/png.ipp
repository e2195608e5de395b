#pragma once
#if DISTRIBUTE_HAS_PNG
#include <distribute/base/error.hpp>
#include <distribute/data/decode_image.hpp>

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <png.h>

namespace distribute::data {

namespace data_internal {

/// One picture that is decompressed from memory which the caller keeps alive. Used by one thread.
class PngReader {
 public:
  PngReader(std::string_view bytes, const char* op) : op_(op), rest_(bytes) {
    refuse_animation(bytes);
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, auto) {});
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    try {
      if (!info_) throw ResourceExhaustedError(str_cat(op_, ": libpng has no memory"));
      png_set_read_fn(png_, this, take);
      guarded([this] { png_read_info(png_, info_); });
    } catch (...) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw;
    }
  }
  PngReader(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  ImageSize size() const {
    return {int64_t(png_get_image_height(png_, info_)), int64_t(png_get_image_width(png_, info_))};
  }

  /// Chooses colours; returns the number of channels.
  int64_t start(const PngOptions& options) {
    check(options);
    const int64_t channels = options.channels == 0 ? own_channels() : options.channels;
    guarded([&] {
      set_alpha(channels % 2 == 0);
      png_set_strip_16(png_);
      png_set_packing(png_);
      png_set_interlace_handling(png_);
      set_colours(channels < 3);
      png_read_update_info(png_, info_);
    });
    if (png_get_rowbytes(png_, info_) != size_t(size().width * channels))
      throw InternalError(str_cat(op_, ": libpng's rows are not as wide as expected"));
    return channels;
  }

  /// Writes the rows without gaps. Call it once.
  void read(uint8_t* out) {
    const size_t stride = png_get_rowbytes(png_, info_);
    std::vector<png_bytep> rows(size_t(size().height));
    for (size_t y = 0; y < rows.size(); ++y) rows[y] = out + y * stride;
    guarded([&] {
      png_read_image(png_, rows.data());
      png_read_end(png_, nullptr);
    });
  }

 private:
  /// Calls `body`, which must not hold objects with destructors: an exception must not pass through
  /// the frames of the C library, so errors jump back to here.
  template <typename Body>
  __attribute__((noinline)) void guarded(Body&& body) {
    if (setjmp(jump_)) throw InvalidArgumentError(std::string(op_) + ": " + message_);
    body();
  }
  [[noreturn]] static void fail(png_structp png, const char* message) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self->message_, sizeof self->message_, "%s", message);
    std::longjmp(self->jump_, 1);
  }
  static void take(png_structp png, png_bytep out, size_t count) {
    auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self->rest_.size()) fail(png, "the PNG file ends early");
    std::memcpy(out, self->rest_.data(), count);
    self->rest_.remove_prefix(count);
  }

  /// Refuses animations, whose first picture need not be the wanted one.
  void refuse_animation(std::string_view bytes) const {
    constexpr size_t kSignature = 8, kAroundData = 12;
    for (size_t at = kSignature; at + kAroundData <= bytes.size();) {
      const std::string_view type = bytes.substr(at + 4, 4);
      if (type == "IDAT") return;
      if (type == "acTL")
        throw InvalidArgumentError(
            str_cat(op_, ": the file is an animated PNG (APNG) of several pictures; save the one ",
                    "that is meant as a plain PNG"));
      at += kAroundData + png_get_uint_32(reinterpret_cast<png_const_bytep>(bytes.data() + at));
    }
  }
  void check(const PngOptions& options) const {
    if (options.channels != 0 && options.channels != 1 && options.channels != 3 &&
        options.channels != 4)
      throw InvalidArgumentError(
          str_cat(op_, ": channels must be 0, 1, 3 or 4, got ", options.channels));
    const auto [height, width] = size();
    if (height * width > options.max_pixels)
      throw InvalidArgumentError(str_cat(op_, ": the picture has ", height, " x ", width,
                                         " pixels, more than max_pixels = ", options.max_pixels));
  }

  bool is_of_type(int flag) const { return png_get_color_type(png_, info_) & flag; }
  bool has_transparent_colour() const { return png_get_valid(png_, info_, PNG_INFO_tRNS) != 0; }
  int64_t own_channels() const {
    if (!is_of_type(PNG_COLOR_MASK_PALETTE)) return png_get_channels(png_, info_);
    return has_transparent_colour() ? 4 : 3;
  }
  void set_alpha(bool wanted) {
    const bool has = is_of_type(PNG_COLOR_MASK_ALPHA);
    if (!wanted) {
      if (has || has_transparent_colour()) png_set_strip_alpha(png_);
    } else if (!has && has_transparent_colour()) {
      png_set_tRNS_to_alpha(png_);
    } else if (!has) {
      png_set_add_alpha(png_, (1u << png_get_bit_depth(png_, info_)) - 1, PNG_FILLER_AFTER);
    }
  }
  void set_colours(bool grey_wanted) {
    if (is_of_type(PNG_COLOR_MASK_PALETTE)) png_set_palette_to_rgb(png_);
    const bool is_grey = !is_of_type(PNG_COLOR_MASK_COLOR);
    if (is_grey && png_get_bit_depth(png_, info_) < 8) png_set_expand_gray_1_2_4_to_8(png_);
    if (is_grey && !grey_wanted) png_set_gray_to_rgb(png_);
    if (!is_grey && grey_wanted) set_grey_weights();
  }
  /// Sets the grey weights of ITU-R BT.601, as in TensorFlow; libpng's own are BT.709's.
  void set_grey_weights() {
    constexpr double kRed = 0.299, kGreen = 0.587;
    png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, kRed, kGreen);
  }

  const char* op_;
  std::string_view rest_;
  std::jmp_buf jump_;
  char message_[256] = "";
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

}  // namespace data_internal

DISTRIBUTE_INLINE bool has_png() { return true; }

DISTRIBUTE_INLINE ImageSize png_size(std::string_view bytes) {
  return data_internal::PngReader(bytes, "png_size").size();
}

DISTRIBUTE_INLINE Tensor decode_png(std::string_view bytes, const PngOptions& options) {
  data_internal::PngReader reader(bytes, "decode_png");
  const int64_t channels = reader.start(options);
  const auto [height, width] = reader.size();
  Tensor image = Tensor::empty(Shape{height, width, channels}, DType::UInt8, Device{});
  reader.read(image.mutable_data<uint8_t>());
  return image;
}

}  // namespace distribute::data
#endif
