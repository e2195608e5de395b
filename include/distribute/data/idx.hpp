#pragma once
/// IDX files, the format of MNIST: a magic number, sizes, then big-endian elements.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>

#include <string>

namespace distribute::data {

/// The tensor in an IDX file's bytes; unsigned bytes are not copied. `name` is for messages.
/// Holds uint8, int32 or float32, up to eight axes.
/// Throws  DataLossError when the bytes are no IDX file, too few or too many.
/// Source  http://yann.lecun.com/exdb/mnist (file format)
Tensor parse_idx(std::string bytes, const std::string& name);

/// The tensor in an IDX file, or in a gzip file (whatever its name) with one inside.
/// Throws  NotFoundError and the like when it cannot be read; as parse_idx.
Tensor read_idx(const std::string& path);

/// What becomes of the numbers in the files.
struct IdxOptions {
  DType x_dtype = DType::UInt8;   // UInt8 as in the file, or Float32
  double divide_x_by = 1;         // with Float32
  bool add_channel_axis = false;  // [height, width] -> [height, width, 1]
  DType y_dtype = DType::UInt8;   // UInt8 as in the file, Int32 or Int64
  int64_t num_classes = 0;        // labels must lie below it; 0: anything goes
};

/// Examples (x, y) from a file of images and a file of labels. They stay in memory as bytes and
/// are converted when a batch is made.
/// Throws  InvalidArgumentError when numbers of images and labels differ, or a label is too large;
///         as read_idx.
Dataset from_idx_files(const std::string& images_path, const std::string& labels_path,
                       const IdxOptions& options = {});

}  // namespace distribute::data
