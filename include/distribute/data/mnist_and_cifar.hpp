#pragma once
/// The files of MNIST and CIFAR as datasets.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <vector>

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

enum class Split { Train, Test };  // the two parts of MNIST

struct MnistOptions {  // of load_mnist()
  Split split = Split::Train;
  int64_t num_classes = 10;  // labels must lie below it
  DType label_dtype = DType::Int64;
};

/// Examples x float32 [28, 28, 1] in 0 to 1 and y int64 [] in 0 to 9, in file order, from the
/// files train-images-idx3-ubyte and train-labels-idx1-ubyte (or t10k-*), with or without ".gz".
/// Throws  NotFoundError that names the directory and the file; as from_idx_files.
/// Source  tf.keras.datasets.mnist.load_data
Dataset load_mnist(const std::string& directory, const MnistOptions& options = {});

/// Which set a file is of, and which of CIFAR-100's two labels is meant.
/// Source  tf.keras.datasets.cifar100.load_data(label_mode=...)
enum class CifarLabels { Cifar10, Cifar100Fine, Cifar100Coarse };

/// Gives 10, 100 or 20.
int64_t num_cifar_classes(CifarLabels labels);

struct CifarImages {  // pictures and labels of a set
  Tensor images;      // uint8 [n, 32, 32, 3]
  Tensor labels;      // uint8 [n]
};

/// Reads all pictures of `paths`, file after file.
/// Throws  NotFoundError; DataLossError for a file whose size is not that of whole pictures;
///         InvalidArgumentError for no paths and for a label that the set does not have.
/// Source  tf.keras.datasets.cifar10.load_data, cifar100.load_data; the format: A. Krizhevsky, The
///         CIFAR-10 dataset (binary version)
CifarImages read_cifar(const std::vector<std::string>& paths, CifarLabels labels);

/// data_batch_1.bin to data_batch_5.bin or test_batch.bin (CIFAR-100: train.bin or test.bin) in
/// `directory` or in the folder that the archive unpacks to there; empty where there is none of
/// the set's files.
/// Throws  NotFoundError that names the file when some are there and another is missing;
///         InvalidArgumentError for the Python version of the archive.
std::vector<std::string> find_cifar_files(const std::string& directory, CifarLabels labels,
                                          bool training);

}  // namespace distribute::data
