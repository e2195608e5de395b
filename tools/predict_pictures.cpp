#include "predict_pictures.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/example.hpp>
#include <distribute/data/mnist_and_cifar.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include <array>
#include <charconv>
#include <iostream>
#include <optional>
#include <string_view>

namespace distribute_tools {

using namespace distribute;

namespace {

enum class Kind { Picture, Idx, Gzip, Other };

/// By its first bytes.
Kind kind_of(io::FileSystem& files, const std::string& path) {
  const auto file = value_or_throw(files.open(path));
  std::array<char, 8> bytes{};
  const int64_t count = value_or_throw(file->read_some(0, bytes));
  const std::string_view head(bytes.data(), size_t(count));
  const data::ImageFormat format = data::image_format(head);
  // "BM", as a BMP file begins, may also be the length of a record.
  if (format != data::ImageFormat::Unknown && format != data::ImageFormat::Bmp)
    return Kind::Picture;
  if (head.starts_with("\x1F\x8B")) return Kind::Gzip;
  // Two zeros, the type of bytes, three axes.
  if (head.starts_with(std::string_view("\0\0\x08\x03", 4))) return Kind::Idx;
  return Kind::Other;
}

struct Place {
  std::string file;
  std::optional<int64_t> index = {};
};

/// "FILE:INDEX", unless a file has that very name.
Place place_of(const std::string& word) {
  const size_t colon = word.rfind(':');
  if (colon == std::string::npos || colon + 1 == word.size()) return {word};
  int64_t index = -1;
  const char* const last = word.data() + word.size();
  const auto read = std::from_chars(word.data() + colon + 1, last, index);
  if (read.ec != std::errc() || read.ptr != last || index < 0) return {word};
  if (value_or_throw(value_or_throw(io::file_system_for(word))->exists(word))) return {word};
  return {word.substr(0, colon), index};
}

class Search {
 public:
  explicit Search(const PictureVisitor& visitor) : visitor_(visitor) {}

  void word(const std::string& word) {
    try {
      if (word == "-")
        standard_input();
      else
        visit(place_of(word), word);
    } catch (const Error& error) {
      problem(word, error.what());
    }
  }

 private:
  void problem(const std::string& name, const std::string& what) {
    const bool named = what.starts_with(name);
    visitor_.problem(name, named ? what : name + ": " + what);
  }

  void standard_input() {
    for (std::string line; std::getline(std::cin, line);) {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (!line.empty() && line != "-") word(line);
    }
  }

  void visit(const Place& place, const std::string& word) {
    io::FileSystem& files = *value_or_throw(io::file_system_for(place.file));
    if (value_or_throw(files.is_directory(place.file))) {
      if (folder(files, place.file) == 0)
        problem(place.file, "the folder has no .jpg, .jpeg or .png files");
      return;
    }
    const Kind kind = kind_of(files, place.file);
    if (kind == Kind::Picture) {
      if (place.index) throw InvalidArgumentError(word + ": the file is one picture");
      return visitor_.picture({word, value_or_throw(io::read_file(place.file))});
    }
    if (kind == Kind::Idx || (kind == Kind::Gzip && is_gzipped_idx(place.file))) return idx(place);
    records(place);
  }

  /// How many pictures were in it.
  int64_t folder(io::FileSystem& files, const std::string& directory) {
    int64_t count = 0;
    for (const std::string& name : value_or_throw(files.list_directory(directory))) {
      if (name.starts_with('.')) continue;
      const std::string path = io::join_path(directory, name);
      if (data::is_picture_name(name)) {
        ++count;
        word(path);
      } else if (value_or_throw(files.is_directory(path))) {
        count += folder(files, path);
      }
    }
    return count;
  }

  /// Records begin with a length and its checksum: no sane one looks like the head of images.
  static bool is_gzipped_idx(const std::string& file) {
    auto reader = value_or_throw(io::RecordReader::open(file, io::Compression::Gzip));
    std::string record;
    return !reader.next(record).ok();
  }

  void idx(const Place& place) {
    const Tensor images = data::read_idx(place.file);
    if (images.shape().rank() != 3)
      throw InvalidArgumentError(
          str_cat(place.file, ": holds ", to_string(images.shape()), ", not images"));
    const int64_t count = images.shape()[0];
    if (place.index && *place.index >= count)
      throw OutOfRangeError(
          str_cat(place.file, ":", *place.index, ": the file has images 0 to ", count - 1));
    const int64_t first = place.index.value_or(0);
    for (int64_t i = first; i < (place.index ? first + 1 : count); ++i)
      visitor_.picture({str_cat(place.file, ":", i), "",
                        images.rows(i, i + 1).view({images.shape()[1], images.shape()[2]})});
  }

  void records(const Place& place) {
    auto reader = value_or_throw(io::RecordReader::open(place.file, io::Compression::Auto));
    if (place.index) value_or_throw(reader.skip(*place.index));
    const int64_t first = place.index.value_or(0);
    std::string bytes;
    int64_t number = first;
    for (; !place.index || number == first; ++number) {
      const auto more = reader.next(bytes);
      if (!more.ok() && number == 0)
        throw InvalidArgumentError(str_cat(
            place.file, ": is no JPEG, PNG, IDX or TFRecord file: ", more.status().message()));
      if (!value_or_throw(more)) break;
      record(str_cat(place.file, ":", number), bytes);
    }
    if (number == first && place.index)
      throw OutOfRangeError(str_cat(place.file, ":", first, ": the file has fewer records"));
    if (number == 0) throw InvalidArgumentError(place.file + ": the file is empty");
  }

  void record(const std::string& name, const std::string& bytes) {
    try {
      const auto example = data::parse_single_example(
          bytes, {{"image/encoded", data::fixed_len_feature(data::FeatureKind::Bytes)}}, name);
      visitor_.picture({name, std::string(example.at("image/encoded").bytes.at(0))});
    } catch (const Error& error) {
      problem(name, error.what());
    }
  }

  const PictureVisitor& visitor_;
};

}  // namespace

void visit_pictures(const std::vector<std::string>& words, const PictureVisitor& visitor) {
  Search search(visitor);
  for (const std::string& word : words) search.word(word);
}

}  // namespace distribute_tools
