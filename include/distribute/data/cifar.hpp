#pragma once
/// CIFAR-10 and CIFAR-100 in the binary form of their own page.

#include <distribute/base/config.hpp>
#include <distribute/tensor/tensor.hpp>

#include <string>
#include <vector>

namespace distribute::data {

/// Which set a file is of, and which of CIFAR-100's two labels is meant.
/// Source  tf.keras.datasets.cifar100.load_data(label_mode=...)
enum class CifarLabels { Cifar10, Cifar100Fine, Cifar100Coarse };

/// 10, 100 or 20.
int64_t num_cifar_classes(CifarLabels labels);

struct CifarImages {  // pictures and labels of a set
  Tensor images;      // uint8 [n, 32, 32, 3]
  Tensor labels;      // uint8 [n]
};

/// All pictures of `paths`, file after file.
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
