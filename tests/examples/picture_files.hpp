#pragma once
/// Small data sets for resnet50: ImageNet's TFRecords and picture folders made of synthetic JPEGs.

#include <distribute/data/example.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/data/picture_support.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace picture_files {

namespace data = distribute::data;

inline std::string jpeg(int64_t number) {
  return data::encode_jpeg(
      data::gradient_image(18 + number % 5, 24 + number % 7, 3, double(number)));
}

/// A JPEG file whose header claims another size.
inline std::string jpeg_of_size(int height, int width) {
  std::string bytes = jpeg(0);
  const size_t frame = bytes.find("\xff\xc0");
  for (int i = 0; i < 2; ++i) {
    bytes[frame + 5 + size_t(i)] = char(height >> (8 - 8 * i));
    bytes[frame + 7 + size_t(i)] = char(width >> (8 - 8 * i));
  }
  return bytes;
}

/// ImageNet's labels begin at 1.
inline std::string record(const std::string& picture, int64_t label) {
  return distribute::io::frame_record(
      data::encode_example({{"image/encoded", data::BytesList{picture}},
                            {"image/class/label", data::Int64List{label}}}));
}

/// `files` files <directory>/<split>-i-of-files with `each` pictures each.
inline std::vector<std::string> write_shards(const std::string& directory, const std::string& split,
                                             int files, int each) {
  std::vector<std::string> paths;
  for (int file = 0; file < files; ++file) {
    std::string records;
    for (int i = 0; i < each; ++i) {
      const int64_t number = file * each + i;
      records += record(jpeg(number), 1 + number % 7);
    }
    paths.push_back(directory + "/" + split + "-" + std::to_string(file) + "-of-" +
                    std::to_string(files));
    data::write_bytes(paths.back(), records);
  }
  return paths;
}

/// <directory>/a/*.jpg and <directory>/b/*.jpg.
inline void write_folder(const std::string& directory, int each) {
  for (const char* name : {"a", "b"}) {
    std::filesystem::create_directories(directory + "/" + name);
    for (int i = 0; i < each; ++i)
      data::write_bytes(directory + "/" + name + "/" + std::to_string(i) + ".jpg",
                        jpeg(i + (name[0] - 'a') * each));
  }
}

}  // namespace picture_files
