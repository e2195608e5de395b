#pragma once
/// What layer_cases.py does for a layer: two sums of its output, of the gradients of its inputs and
/// weights, and of the values of weights that are not trained.

#include "cases.hpp"

#include <distribute/nn/module.hpp>

#include <distribute/nn/merging.hpp>
#include <distribute/nn/policy.hpp>
#include <distribute/nn/regularizers.hpp>
#include <distribute/ops/math.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace comparison {

namespace nn = dist::nn;
using dist::Shape;
using dist::str_cat;

/// Numbers in [-1, 1) from a hash of position and seed, exact in float32.
Tensor uniform(const Shape& shape, uint64_t seed);
/// "w[2][3] 0.25 1.5".
std::string sums(const std::string& name, const Tensor& tensor);
/// The name of a weight without the layer's, and without the numbers of automatic names.
std::string weight_name(const dist::Variable& weight);

/// An input: uniform numbers that have a gradient, or a tensor that has none.
struct LayerInput {
  LayerInput(const Shape& s) : shape(s) {}
  LayerInput(std::initializer_list<int64_t> sizes) : shape(sizes) {}
  LayerInput(const Tensor& t) : tensor(t) {}
  Shape shape = {};
  Tensor tensor = {};
};

struct LayerCase {                 // how a layer is called
  std::vector<Tensor> masks = {};  // of the inputs
  bool training = false, frozen = false;
  int calls = 1;
};

using LayerCall = std::function<std::vector<Tensor>(const std::vector<Tensor>& inputs)>;

/// The line of a layer that `call` calls.
std::string describe(nn::Module& layer, const std::vector<LayerInput>& inputs, const LayerCase& how,
                     const LayerCall& call);

/// Calls the layer that `make` gives.
template <typename Make>
void check(const std::string& name, Make make, const std::vector<LayerInput>& inputs,
           const LayerCase& how = {}) {
  run_case("layers/" + name, [&] {
    auto layer = make();
    return describe(layer, inputs, how, [&](const std::vector<Tensor>& in) -> std::vector<Tensor> {
      if constexpr (std::is_base_of_v<nn::MultiInputModule, decltype(layer)>)
        return {layer(in, {.training = how.training})};
      else
        return {layer(in.at(0), nn::CallOptions{.training = how.training})};
    });
  });
}

/// Calls it as `call(layer, inputs)` does, which gives a list of tensors.
template <typename Make, typename Call>
void check_call(const std::string& name, Make make, const std::vector<LayerInput>& inputs,
                Call call, const LayerCase& how = {}) {
  run_case("layers/" + name, [&] {
    auto layer = make();
    return describe(layer, inputs, how,
                    [&](const std::vector<Tensor>& in) { return call(layer, in); });
  });
}

inline std::vector<Tensor> one(const Tensor& result) { return {result}; }

/// True or False, as Python writes them.
inline std::string text(bool value) { return value ? "True" : "False"; }

inline Shape steps() { return {2, 5, 3}; }
inline Shape image() { return {2, 5, 6, 4}; }

/// Calls the layer with policy "mixed_bfloat16".
template <typename Make>
void check_half(const std::string& name, Make make, const Shape& input = steps()) {
  run_case("layers/" + name, [&] {
    nn::set_global_policy("mixed_bfloat16");
    auto layer = make();
    nn::set_global_policy("float32");
    const Tensor x = uniform(input, 500);
    layer(x);
    std::string line;
    uint64_t seed = 0;
    for (const dist::Variable& weight : layer.variables()) {
      weight.assign(uniform(weight.shape(), ++seed) * 0.75f);
      line += str_cat(name_of(weight.value().dtype()), " ");
    }
    const Tensor y = layer(x);
    return str_cat(line, name_of(y.dtype()), " ", sums("out", y));
  });
}

Tensor bools(const Shape& shape, const std::vector<int>& values);
/// Steps that count: with gaps, and with one example that is all padding.
Tensor gaps();
Tensor padding();
/// int32 [2, 5].
Tensor ids(int32_t factor = 1, int32_t offset = 0);
/// int32 [1, 4, 3, 2]: 0, 1, 2, ...
Tensor counts();

void dense_cases();
void convolution_cases();
void pooling_cases();
void normalization_cases();
void renorm_cases();
void rank_cases();
void recurrent_cases();
void direction_cases();
void attention_cases();
void heads_cases();
void activation_cases();
void shape_cases();
void merging_cases();
void dropout_cases();
void preprocessing_cases();
void policy_cases();
void part_cases();
void first_weight_cases();
void size_layer_cases();
void wrapper_layer_cases();
void resizing_layer_cases();
void cell_cases();
void conv_lstm_cases();
void layer_cases();

}  // namespace comparison
