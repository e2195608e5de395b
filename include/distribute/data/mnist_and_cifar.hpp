#pragma once
/// Datasets from the files of MNIST and CIFAR.

#include <distribute/base/config.hpp>
#include <distribute/data/dataset.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace distribute::data {

/// Gives the tensor in an IDX file's bytes: uint8, int32 or float32, with up to eight axes.
/// Unsigned bytes are not copied. `name` is for messages.
/// Throws  DataLossError when the bytes are not an IDX file, or are too few or too many.
/// Source  http://yann.lecun.com/exdb/mnist (file format)
Tensor parse_idx(std::string bytes, const std::string& name);

/// Reads the tensor in an IDX file, or in a gzip file (whatever its name) that contains one.
/// Throws  NotFoundError and the like when the file cannot be read; what parse_idx() throws.
Tensor read_idx(const std::string& path);

/// How the numbers in the files are converted.
struct IdxOptions {
  DType x_dtype = DType::UInt8;   // UInt8 is the type in the file; or Float32
  double divide_x_by = 1;         // with Float32
  bool add_channel_axis = false;  // [height, width] -> [height, width, 1]
  DType y_dtype = DType::UInt8;   // UInt8 is the type in the file; or Int32 or Int64
  int64_t num_classes = 0;        // labels must lie below it; 0: no check
};

/// Makes examples (x, y) from a file of images and a file of labels. They stay in memory as bytes
/// and are converted when a batch is made.
/// Throws  InvalidArgumentError when the numbers of images and labels differ, or a label is too
///         large; what read_idx() throws.
Dataset from_idx_files(const std::string& images_path, const std::string& labels_path,
                       const IdxOptions& options = {});

enum class Split { Train, Test };  // the two parts of MNIST

/// A part of a set, which may be given by TensorFlow Datasets' names "train" and "test".
class SplitName {
 public:
  SplitName(Split split) : split_(split) {}
  /// Throws  InvalidArgumentError for another name.
  SplitName(const char* name);
  SplitName(const std::string& name) : SplitName(name.c_str()) {}
  operator Split() const { return split_; }

 private:
  Split split_;
};

struct MnistOptions {  // of load_mnist()
  SplitName split = Split::Train;
  int64_t num_classes = 10;  // labels must lie below it
  DType label_dtype = DType::Int64;
};

/// Gives examples x float32 [28, 28, 1] in 0 to 1 and y int64 [] in 0 to 9, in file order. The
/// files are train-images-idx3-ubyte and train-labels-idx1-ubyte (or t10k-*), with or without
/// ".gz".
/// Throws  NotFoundError that names the directory and the file; what from_idx_files() throws.
/// Source  tf.keras.datasets.mnist.load_data
Dataset load_mnist(const std::string& directory, const MnistOptions& options = {});

/// Says which set a file belongs to, and which of CIFAR-100's two labels is wanted.
/// Source  tf.keras.datasets.cifar100.load_data(label_mode=...)
enum class CifarLabels { Cifar10, Cifar100Fine, Cifar100Coarse };

/// Returns the number of classes: 10, 100 or 20.
int64_t num_cifar_classes(CifarLabels labels);

struct CifarImages {  // the pictures and labels of a set
  Tensor images;      // uint8 [n, 32, 32, 3]
  Tensor labels;      // uint8 [n]
};

/// Reads all pictures of `paths`, file after file.
/// Throws  NotFoundError; DataLossError for a file that ends within a picture; InvalidArgumentError
///         for no paths and for a label that the set does not have.
/// Source  tf.keras.datasets.cifar10.load_data, cifar100.load_data; the format: A. Krizhevsky, The
///         CIFAR-10 dataset (binary version)
CifarImages read_cifar(const std::vector<std::string>& paths, CifarLabels labels);

/// Finds data_batch_1.bin to data_batch_5.bin or test_batch.bin (CIFAR-100: train.bin or test.bin)
/// in `directory` or in the folder that the archive unpacks to there. The result is empty when the
/// set has no file there.
/// Throws  NotFoundError that names the file when only some of the files are there;
///         InvalidArgumentError for the Python version of the archive.
std::vector<std::string> find_cifar_files(const std::string& directory, CifarLabels labels,
                                          bool training);

namespace data_internal {
/// Returns the names of the binary files: "data_batch_1.bin, data_batch_2.bin, ...".
std::string cifar_files_text(CifarLabels labels, bool training);
}  // namespace data_internal

}  // namespace distribute::data
