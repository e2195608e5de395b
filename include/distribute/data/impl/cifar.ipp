#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/mnist_and_cifar.hpp>
#include <distribute/io/file_system.hpp>

namespace distribute::data {

namespace data_internal {

inline constexpr int64_t kCifarPixels = 32 * 32, kCifarChannels = 3;

/// The number of bytes before the pixels: CIFAR-100 has the coarse label before the fine one.
DISTRIBUTE_INLINE int64_t num_label_bytes(CifarLabels labels) {
  return labels == CifarLabels::Cifar10 ? 1 : 2;
}

/// Reorders pixels: a file has the red plane, then green, then blue.
DISTRIBUTE_INLINE void interleave_planes(const char* planes, uint8_t* pixels) {
  for (int64_t i = 0; i < kCifarPixels; ++i)
    for (int64_t c = 0; c < kCifarChannels; ++c) *pixels++ = uint8_t(planes[c * kCifarPixels + i]);
}

DISTRIBUTE_INLINE int64_t count_cifar_images(const std::string& bytes, int64_t image_bytes,
                                             const std::string& path) {
  const int64_t size = int64_t(bytes.size());
  if (size > 0 && size % image_bytes == 0) return size / image_bytes;
  throw DataLossError(str_cat(path, ": has ", size, " bytes, expected a multiple of ", image_bytes,
                              ": cut off, or not a binary file of CIFAR"));
}

struct CifarNames {
  const char* folder;  // folder in the archive
  const char* python_folder;
  const char* python_file;
  std::vector<std::string> training, test;
};

DISTRIBUTE_INLINE CifarNames cifar_names(CifarLabels labels) {
  if (labels != CifarLabels::Cifar10)
    return {"cifar-100-binary", "cifar-100-python", "train", {"train.bin"}, {"test.bin"}};
  return {"cifar-10-batches-bin",
          "cifar-10-batches-py",
          "data_batch_1",
          {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin",
           "data_batch_5.bin"},
          {"test_batch.bin"}};
}

DISTRIBUTE_INLINE std::string cifar_files_text(CifarLabels labels, bool training) {
  const CifarNames names = cifar_names(labels);
  std::string text;
  for (const std::string& name : training ? names.training : names.test)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

DISTRIBUTE_INLINE void refuse_python_files(io::FileSystem& files, const std::string& directory,
                                           const CifarNames& names) {
  const std::string folder = io::join_path(directory, names.python_folder);
  const std::string file = io::join_path(directory, names.python_file);
  const bool has_folder = value_or_throw(files.exists(folder));
  const bool has_file =
      value_or_throw(files.exists(file)) && !value_or_throw(files.is_directory(file));
  if (has_folder || has_file)
    throw InvalidArgumentError(str_cat(has_folder ? folder : file, ": the Python version of the ",
                                       "set is not read; take the binary version (", names.folder,
                                       ")"));
}

/// Gives the paths of `wanted`; empty when `directory` has none of `all`.
DISTRIBUTE_INLINE std::vector<std::string> present_files(io::FileSystem& files,
                                                         const std::string& directory,
                                                         const std::vector<std::string>& wanted,
                                                         const CifarNames& all) {
  bool any = false;
  for (const auto* names : {&all.training, &all.test})
    for (const std::string& name : *names)
      any = any || value_or_throw(files.exists(io::join_path(directory, name)));
  std::vector<std::string> paths;
  for (const std::string& name : wanted) {
    if (!any) break;
    paths.push_back(io::join_path(directory, name));
    if (!value_or_throw(files.exists(paths.back())))
      throw NotFoundError(paths.back() + " is missing beside the set's other binary files");
  }
  return paths;
}

}  // namespace data_internal

DISTRIBUTE_INLINE int64_t num_cifar_classes(CifarLabels labels) {
  return labels == CifarLabels::Cifar10 ? 10 : labels == CifarLabels::Cifar100Fine ? 100 : 20;
}

DISTRIBUTE_INLINE CifarImages read_cifar(const std::vector<std::string>& paths,
                                         CifarLabels labels) {
  using namespace data_internal;
  if (paths.empty()) throw InvalidArgumentError("read_cifar: no paths");
  const int64_t label_bytes = num_label_bytes(labels);
  const int64_t pixel_bytes = kCifarPixels * kCifarChannels;
  std::vector<uint8_t> classes, pixels;
  for (const std::string& path : paths) {
    const std::string bytes = value_or_throw(io::read_file(path));
    const int64_t count = count_cifar_images(bytes, label_bytes + pixel_bytes, path);
    pixels.resize(pixels.size() + size_t(count * pixel_bytes));
    for (int64_t i = 0; i < count; ++i) {
      const char* image = bytes.data() + i * (label_bytes + pixel_bytes);
      classes.push_back(uint8_t(image[labels == CifarLabels::Cifar100Fine]));
      if (classes.back() >= num_cifar_classes(labels))
        throw InvalidArgumentError(str_cat(path, ": label ", i, " is ", int(classes.back()),
                                           ", expected 0 to ", num_cifar_classes(labels) - 1));
      interleave_planes(image + label_bytes,
                        pixels.data() + pixels.size() - size_t((count - i) * pixel_bytes));
    }
  }
  const int64_t count = int64_t(classes.size());
  return {Tensor(Shape{count, 32, 32, kCifarChannels}, pixels), Tensor(Shape{count}, classes)};
}

DISTRIBUTE_INLINE std::vector<std::string> find_cifar_files(const std::string& directory,
                                                            CifarLabels labels, bool training) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(directory));
  const data_internal::CifarNames names = data_internal::cifar_names(labels);
  const std::vector<std::string>& wanted = training ? names.training : names.test;
  for (const std::string& place : {directory, io::join_path(directory, names.folder)}) {
    std::vector<std::string> paths = data_internal::present_files(files, place, wanted, names);
    if (!paths.empty()) return paths;
  }
  data_internal::refuse_python_files(files, directory, names);
  return {};
}

}  // namespace distribute::data
