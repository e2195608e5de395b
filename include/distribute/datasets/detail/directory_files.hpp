#pragma once
/// The files of a directory in Keras's order, and datasets of them.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/datasets/tables.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace distribute::data::data_internal {

/// What a dataset of a directory's files is asked for, whatever the files hold.
struct DirectoryRequest {
  const char* function;                   // named in errors
  const char* contents;                   // "images" or "text files", for errors
  std::vector<std::string_view> endings;  // of files that are read, in small letters
  std::string directory;
  DirectoryLabels labels;
  std::optional<std::string> label_mode;
  std::vector<std::string> class_names;
  std::optional<int64_t> batch_size;
  bool shuffle;
  std::optional<uint64_t> seed;
  double validation_split;  // 0: none
  std::optional<std::string> subset;
  bool follow_links, verbose;
  std::function<Tensor(const std::string& path)> load = {};  // makes an element of a file
  TensorSpec spec = {};                                      // of what `load` gives
};

template <typename Options>
DirectoryRequest directory_request(const std::string& directory, const Options& o) {
  return {.function = "",
          .contents = "",
          .endings = {},
          .directory = directory,
          .labels = o.labels,
          .label_mode = o.label_mode,
          .class_names = o.class_names,
          .batch_size = o.batch_size,
          .shuffle = o.shuffle,
          .seed = o.seed,
          .validation_split = o.validation_split.value_or(0),
          .subset = o.subset,
          .follow_links = o.follow_links,
          .verbose = o.verbose};
}

/// Gives the dataset of the request's subset.
/// Throws  what image_dataset_from_directory() throws.
DirectoryDataset directory_dataset(DirectoryRequest request);
/// Gives the parts for training and validation.
std::pair<DirectoryDataset, DirectoryDataset> directory_datasets(DirectoryRequest request);

}  // namespace distribute::data::data_internal
