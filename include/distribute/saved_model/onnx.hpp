#pragma once
/// Writes models as ONNX files, for onnxruntime and what else reads them.

#include <distribute/base/config.hpp>
#include <distribute/data/element_spec.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/saved_model/inference_graph.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace distribute::saved_model {

struct OnnxOptions {  // of save_onnx()
  /// Of the input, its first axis the batch; unset: what the module was first called with.
  std::optional<data::TensorSpec> input = {};
  std::string input_name = "inputs";
  std::string output_name = "outputs";
  /// Constants of more bytes in all go to a file beside the model; a message holds 2 GiB at most.
  int64_t external_data_above = int64_t{2000} << 20;
};

/// Writes what the module computes outside of training, for batches of any size, in float32
/// whatever its policy, as operations of ONNX's opset 17. Images stay NHWC outside; inside they are
/// transposed once and convolutions get transposed weights. Large models have their constants in
/// FILE.data. The file is replaced as a whole or, after an error, not at all. With several workers
/// every worker calls it, as saved_model::save.
/// Throws  as saved_model::save.
/// Source  github.com/onnx/onnx, docs/IR.md, docs/Operators.md
void export_onnx(nn::Module& module, const std::string& file, const OnnxOptions& options = {});
/// Any function of one tensor; needs `options.input`.
void export_onnx(const InferenceFunction& function, const std::string& file,
                 const OnnxOptions& options);

}  // namespace distribute::saved_model
