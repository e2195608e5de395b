#pragma once
/// The MNIST digits, ready to train on.

#include <distribute/base/config.hpp>
#include <distribute/data/idx.hpp>

#include <string>

namespace distribute::data {

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

}  // namespace distribute::data
