#pragma once
#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/datasets/detail/directory_files.hpp>
#include <distribute/io/file_system.hpp>

namespace distribute::data {

namespace data_internal {

DISTRIBUTE_INLINE DirectoryRequest text_request(const std::string& directory,
                                                const TextDirectoryOptions& options) {
  DirectoryRequest request = directory_request(directory, options);
  request.function = "text_dataset_from_directory";
  request.contents = "text files (.txt)";
  request.endings = {".txt"};
  if (options.max_length && *options.max_length < 0)
    throw InvalidArgumentError(str_cat("text_dataset_from_directory: max_length is ",
                                       *options.max_length, "; it must be at least 0"));
  request.load = [length = options.max_length](const std::string& path) {
    std::string text = value_or_throw(io::read_file(path));
    if (length && text.size() > size_t(*length)) text.resize(size_t(*length));
    return bytes_tensor(std::move(text));
  };
  request.spec = {{-1}, DType::UInt8};
  return request;
}

}  // namespace data_internal

DISTRIBUTE_INLINE DirectoryDataset
text_dataset_from_directory(const std::string& directory, const TextDirectoryOptions& options) {
  return data_internal::directory_dataset(data_internal::text_request(directory, options));
}

DISTRIBUTE_INLINE std::pair<DirectoryDataset, DirectoryDataset> text_datasets_from_directory(
    const std::string& directory, const TextDirectoryOptions& options) {
  return data_internal::directory_datasets(data_internal::text_request(directory, options));
}

}  // namespace distribute::data
