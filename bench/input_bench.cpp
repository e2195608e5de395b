// Pictures a second of CPU time on one core: plain libjpeg-turbo (whole pictures, scaled), this
// library's training picture (window, resize, mirror, normalize), and its whole dataset.
// g++ -std=c++20 -O2 -Iinclude -I/usr/include/eigen3 -fopenmp -DDISTRIBUTE_HAS_JPEG=1
//     bench/input_bench.cpp -o input_bench -ljpeg -lz -labsl_...
// ./input_bench <folder of JPEG files> [repetitions] [image size]
// bench/peers/input_peer.py runs it beside tf.data.
#include <distribute/base/status.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/file_system.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <jpeglib.h>

#include "cpu_seconds.hpp"

using namespace distribute;

namespace {

/// The library alone: no checks, one buffer for all pictures.
void plain_decode(const std::string& bytes, int64_t side, std::vector<uint8_t>& pixels) {
  jpeg_decompress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_read_header(&info, TRUE);
  info.dct_method = JDCT_IFAST;
  info.out_color_space = JCS_RGB;
  info.scale_num = info.scale_denom = 1;
  while (info.scale_denom < 8 &&
         std::min(info.image_height, info.image_width) / (2 * info.scale_denom) >= unsigned(side))
    info.scale_denom *= 2;
  jpeg_start_decompress(&info);
  const size_t stride = size_t(info.output_width) * 3;
  if (pixels.size() < stride * info.output_height) pixels.resize(stride * info.output_height);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels.data() + stride * info.output_scanline;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}

std::vector<std::string> read_all(const std::string& folder) {
  io::FileSystem* files = value_or_throw(io::file_system_for(folder));
  std::vector<std::string> pictures;
  for (const std::string& name : value_or_throw(files->list_directory(folder)))
    if (name.ends_with(".JPEG") || name.ends_with(".jpg"))
      pictures.push_back(value_or_throw(io::read_file(folder + "/" + name)));
  return pictures;
}

/// The same pictures as a folder of one class, in memory's place: what a dataset reads.
data::Dataset dataset_of(const std::vector<std::string>& pictures, int64_t side) {
  data::PictureTransform transform;
  transform.image_size = side;
  const auto load = [pictures, transform](const data::Batch& element) {
    const int64_t number = element.x.item<int64_t>();
    return data::Batch{
        data::training_picture(pictures[size_t(number)], transform, uint64_t(number)), number};
  };
  return data::Dataset::range(int64_t(pictures.size()))
      .shuffle(int64_t(pictures.size()))
      .map(load)
      .batch(32);
}

/// Median pictures a second over the repetitions.
double rate(size_t count, int repetitions, const std::function<void(int)>& pass) {
  pass(0);
  std::vector<double> rates;
  for (int i = 1; i <= repetitions; ++i) {
    const double start = cpu_seconds();
    pass(i);
    rates.push_back(double(count) / (cpu_seconds() - start));
  }
  std::nth_element(rates.begin(), rates.begin() + repetitions / 2, rates.end());
  return rates[size_t(repetitions / 2)];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: input_bench FOLDER [REPETITIONS] [SIZE]\n"), 2;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 9;
  const int64_t side = argc > 3 ? std::atoi(argv[3]) : 224;
  const auto pictures = read_all(argv[1]);
  std::vector<uint8_t> pixels;
  data::PictureTransform transform;
  transform.image_size = side;
  const double plain = rate(pictures.size(), repetitions, [&](int) {
    for (const std::string& picture : pictures) plain_decode(picture, side, pixels);
  });
  const double training = rate(pictures.size(), repetitions, [&](int pass) {
    for (size_t i = 0; i < pictures.size(); ++i)
      data::training_picture(pictures[i], transform, uint64_t(pass) * 1000 + i);
  });
  const data::Dataset dataset = dataset_of(pictures, side);
  const double whole = rate(pictures.size(), repetitions, [&](int) {
    for (const data::Batch& batch : dataset) (void)batch;
  });
  const double evaluation = rate(pictures.size(), repetitions, [&](int) {
    for (const std::string& picture : pictures) data::evaluation_picture(picture, transform);
  });
  std::printf(
      "{\"pictures\": %zu, \"libjpeg\": %.1f, \"training\": %.1f, \"dataset\": %.1f, "
      "\"evaluation\": %.1f}\n",
      pictures.size(), plain, training, whole, evaluation);
}
