#pragma once
/// Datasets of WebDataset's tar files, in which files of one name and several endings are a sample.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace distribute::data {

/// Options of web_dataset().
struct WebDatasetOptions {
  /// Makes int64 scalars of the files that hold a number: .cls, .cls2, .class, .count, .index,
  /// .inx and .id. Other files are bytes, as all are without it.
  bool decode = true;
  int64_t num_parallel_reads = 1;  // archives that are open at a time and read in turn
  /// Reads the archives in a new order in each pass; `seed` is used as in ShuffleOptions.
  bool shuffle_files = false;
  std::optional<uint64_t> seed = {};
};

/// Gives the samples of the tar archives `paths`, which may be compressed. A sample is the files
/// that follow each other and have the same name up to the first dot; component i is the file with
/// ending fields[i], such as "jpg", or with the first of several that is there, "jpg;jpeg;png". The
/// field "__key__" is the name. A component is named after the first ending of its field.
/// AutoShardPolicy::File gives each worker other archives. A saved position is the number of
/// samples in each open archive, whose files are passed over when it is restored.
/// Throws  InvalidArgumentError for no paths or fields; while reading, with archive and name, for a
///         sample that lacks a field or a number that is none. DataLossError for what is no
///         archive, or cut; NotFoundError, PermissionDeniedError; UnimplementedError in a build
///         without libarchive-dev.
/// Source  webdataset.WebDataset(urls).to_tuple(*fields), of PyTorch's users
Dataset web_dataset(std::vector<std::string> paths, std::vector<std::string> fields,
                    const WebDatasetOptions& options = {});

}  // namespace distribute::data
