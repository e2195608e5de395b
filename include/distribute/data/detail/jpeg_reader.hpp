#pragma once
/// Wraps libjpeg's C interface: errors become exceptions, and handles free themselves.

#include <distribute/base/error.hpp>
#include <distribute/data/decode_image.hpp>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <string>
#include <vector>

#include <jerror.h>
#include <jpeglib.h>

namespace distribute::data::data_internal {

/// Catches errors of the C library. An exception must not pass through the library's frames, so
/// errors jump back to guarded(), which throws.
class JpegErrors {
 public:
  explicit JpegErrors(const char* op) : op_(op) {}
  jpeg_error_mgr* install() {
    jpeg_std_error(&state_.base);
    state_.base.error_exit = [](j_common_ptr info) { fail(info); };
    state_.base.emit_message = [](j_common_ptr info, int level) {
      const int code = info->err->msg_code;
      const bool early = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER;
      if (level < 0 && early && !of(info).accept_truncated) fail(info);
    };
    state_.base.output_message = [](j_common_ptr) {};
    return &state_.base;
  }
  void accept_truncated() { state_.accept_truncated = true; }

  /// Calls `body`, which must not hold objects with destructors.
  /// Throws  InvalidArgumentError with the library's message.
  template <typename Body>
  __attribute__((noinline)) void guarded(Body&& body) {
    if (setjmp(state_.jump)) throw InvalidArgumentError(std::string(op_) + ": " + state_.message);
    body();
  }
  const char* op() const { return op_; }
  /// Callbacks of the library call it to end decoding with a message.
  [[noreturn]] static void fail(j_common_ptr info, const char* message) {
    std::snprintf(of(info).message, sizeof of(info).message, "%s", message);
    std::longjmp(of(info).jump, 1);
  }

 private:
  struct State {
    jpeg_error_mgr base{};  // the first member, as the library hands its address back
    std::jmp_buf jump;
    bool accept_truncated = false;
    char message[JMSG_LENGTH_MAX] = "";
  };
  static State& of(j_common_ptr info) { return *reinterpret_cast<State*>(info->err); }
  [[noreturn]] static void fail(j_common_ptr info) {
    info->err->format_message(info, of(info).message);
    std::longjmp(of(info).jump, 1);
  }

  const char* op_;
  State state_;
};

/// One picture that is decompressed from memory which the caller keeps alive. Used by one thread.
class JpegReader {
 public:
  JpegReader(std::string_view bytes, const char* op) : errors_(op) {
    info_.err = errors_.install();
    try {
      errors_.guarded([&] {
        jpeg_create_decompress(&info_);
        jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()),
                     static_cast<unsigned long>(bytes.size()));
        jpeg_read_header(&info_, TRUE);
      });
    } catch (...) {
      jpeg_destroy_decompress(&info_);
      throw;
    }
  }
  JpegReader(const JpegReader&) = delete;
  ~JpegReader() { jpeg_destroy_decompress(&info_); }

  ImageSize file_size() const { return {int64_t(info_.image_height), int64_t(info_.image_width)}; }
  int64_t channels() const { return channels_; }

  /// Chooses colours and scale; returns the size that the whole picture then has.
  ImageSize start(const JpegOptions& options) {
    check(options);
    const int64_t own = std::min(info_.num_components, 3);
    channels_ = options.channels == 0 ? own : options.channels;
    if (options.try_recover_truncated) errors_.accept_truncated();
    from_cmyk_ = info_.num_components == 4 && channels_ == 3;
    info_.out_color_space = from_cmyk_ ? JCS_CMYK : channels_ == 1 ? JCS_GRAYSCALE : JCS_RGB;
    info_.scale_num = 1;
    info_.scale_denom = unsigned(options.ratio);
    info_.dct_method = options.dct_method == DctMethod::IntegerFast ? JDCT_IFAST : JDCT_ISLOW;
    info_.do_fancy_upsampling = boolean(options.fancy_upscaling);
    errors_.guarded([&] { jpeg_calc_output_dimensions(&info_); });
    return {int64_t(info_.output_height), int64_t(info_.output_width)};
  }

  /// Writes the window's rows without gaps. Call it once.
  void read(const ImageWindow& window, uint8_t* out) {
    JDIMENSION first = JDIMENSION(window.x), width = JDIMENSION(window.width);
    watch_scans();
    errors_.guarded([&] {
      jpeg_start_decompress(&info_);
      if (width < info_.output_width) jpeg_crop_scanline(&info_, &first, &width);
      if (window.y > 0) jpeg_skip_scanlines(&info_, JDIMENSION(window.y));
    });
    const size_t before = size_t(window.x) - first;  // cropping begins at the border of a block
    const size_t wanted = size_t(window.width * channels_);
    const bool direct = before == 0 && width == JDIMENSION(window.width) && !from_cmyk_;
    row_.resize(direct ? 0 : size_t(info_.output_width) * size_t(info_.output_components));
    for (int64_t y = 0; y < window.height; ++y, out += wanted) {
      JSAMPROW row = direct ? out : row_.data();
      errors_.guarded([&] { jpeg_read_scanlines(&info_, &row, 1); });
      if (from_cmyk_)
        cmyk_to_rgb(row_.data() + before * 4, window.width, out);
      else if (!direct)
        std::copy_n(row_.data() + before * size_t(channels_), wanted, out);
    }
  }

 private:
  void check(const JpegOptions& options) const {
    const auto refuse = [&](const auto&... why) {
      throw InvalidArgumentError(str_cat(errors_.op(), ": ", why...));
    };
    if (options.channels != 0 && options.channels != 1 && options.channels != 3)
      refuse("channels must be 0, 1 or 3, got ", options.channels);
    if (options.ratio != 1 && options.ratio != 2 && options.ratio != 4 && options.ratio != 8)
      refuse("ratio must be 1, 2, 4 or 8, got ", options.ratio);
    const auto [height, width] = file_size();
    if (height * width > options.max_pixels)
      refuse("the picture has ", height, " x ", width,
             " pixels, more than max_pixels = ", options.max_pixels);
  }
  /// Limits the number of scans, as a small progressive file can hold thousands of scans over a
  /// large picture.
  void watch_scans() {
    progress_.progress_monitor = [](j_common_ptr info) {
      constexpr int kMaxScans = 500;
      if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
      JpegErrors::fail(info, "the picture has more than 500 scans");
    };
    info_.progress = &progress_;
  }
  /// Converts CMYK to RGB. Adobe writes inverted values, and almost all such files are Adobe's.
  void cmyk_to_rgb(const uint8_t* cmyk, int64_t count, uint8_t* rgb) const {
    const uint8_t flip = info_.saw_Adobe_marker ? 0 : 255;
    for (int64_t i = 0; i < count; ++i, cmyk += 4, rgb += 3)
      for (int c = 0; c < 3; ++c) rgb[c] = uint8_t((cmyk[3] ^ flip) * (cmyk[c] ^ flip) / 255);
  }

  JpegErrors errors_;
  jpeg_decompress_struct info_{};
  jpeg_progress_mgr progress_{};
  int64_t channels_ = 3;
  bool from_cmyk_ = false;
  std::vector<uint8_t> row_;
};

}  // namespace distribute::data::data_internal
