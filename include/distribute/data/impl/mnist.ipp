#pragma once
#include <distribute/base/status.hpp>
#include <distribute/data/mnist_and_cifar.hpp>
#include <distribute/io/file_system.hpp>

namespace distribute::data {

DISTRIBUTE_INLINE SplitName::SplitName(const char* name) {
  const std::string_view text = name ? name : "";
  if (text != "train" && text != "test")
    throw InvalidArgumentError(str_cat("split '", text, "': wanted 'train' or 'test'"));
  split_ = text == "train" ? Split::Train : Split::Test;
}

namespace data_internal {

/// Finds the file, compressed or not.
DISTRIBUTE_INLINE std::string find_mnist_file(const std::string& directory,
                                              const std::string& name) {
  const std::string path = io::join_path(directory, name);
  io::FileSystem* files = value_or_throw(io::file_system_for(path));
  for (const std::string& candidate : {path, path + ".gz"})
    if (value_or_throw(files->exists(candidate))) return candidate;
  throw NotFoundError(
      str_cat("MNIST: directory \"", directory, "\" has no file ", name, " or ", name, ".gz"));
}

}  // namespace data_internal

DISTRIBUTE_INLINE Dataset load_mnist(const std::string& directory, const MnistOptions& options) {
  const std::string prefix = options.split == Split::Train ? "train" : "t10k";
  const auto find = [&](const char* name) {
    return data_internal::find_mnist_file(directory, prefix + name);
  };
  const std::string images = find("-images-idx3-ubyte"), labels = find("-labels-idx1-ubyte");
  Dataset digits = from_idx_files(images, labels,
                                  {.x_dtype = DType::Float32,
                                   .divide_x_by = 255,
                                   .add_channel_axis = true,
                                   .y_dtype = options.label_dtype,
                                   .num_classes = options.num_classes});
  if (digits.cardinality() == 0) throw InvalidArgumentError(images + ": the file has no images");
  return digits;
}

}  // namespace distribute::data
