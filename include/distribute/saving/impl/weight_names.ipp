#pragma once
#include <distribute/base/error.hpp>
#include <distribute/saving/weight_names.hpp>

#include <cstdio>
#include <utility>

namespace distribute::saving_internal {

using Rules = std::vector<saving::WeightRule>;

/// Weight and name of each pair, without another arrangement.
DISTRIBUTE_INLINE void add_plain(
    Rules& rules, const std::string& layer,
    std::initializer_list<std::pair<const char*, const char*>> weights) {
  for (const auto& [weight, name] : weights) rules.push_back({layer, weight, {name}});
}

DISTRIBUTE_INLINE void add_products(Rules& rules) {
  using namespace saving::layouts;
  rules.push_back({"dense", "kernel", {"weight"}, linear()});
  rules.push_back({"einsum_dense", "kernel", {"weight"}, linear()});
  rules.push_back({"einsum_dense", "bias", {"bias"}, flat()});
  for (const char* layer : {"conv1d", "conv2d", "conv2d_transpose"})
    rules.push_back({layer, "kernel", {"weight"}, convolution()});
  rules.push_back({"depthwise_conv2d", "kernel", {"weight"}, depthwise()});
  for (const char* layer : {"dense", "conv1d", "conv2d", "conv2d_transpose", "depthwise_conv2d"})
    rules.push_back({layer, "bias", {"bias"}});
}

DISTRIBUTE_INLINE void add_tables(Rules& rules) {
  add_plain(rules, "embedding", {{"embeddings", "weight"}});
  rules.push_back({"p_re_lu", "alpha", {"weight"}, saving::layouts::flat()});
  add_plain(rules, "batch_normalization",
            {{"gamma", "weight"},
             {"beta", "bias"},
             {"moving_mean", "running_mean"},
             {"moving_variance", "running_var"}});
  for (const char* layer : {"layer_normalization", "group_normalization"})
    add_plain(rules, layer, {{"gamma", "weight"}, {"beta", "bias"}});
  add_plain(rules, "rms_normalization", {{"scale", "weight"}});
}

/// A recurrent layer, or one direction of a pair: names end in `end`.
DISTRIBUTE_INLINE void add_recurrent(Rules& rules, const std::string& layer,
                                     const std::string& cell, const std::string& end, bool gru) {
  using namespace saving::layouts;
  const auto arranged = [&](const saving::WeightLayout& layout) {
    return gru ? first_two_exchanged(layout, 3) : layout;  // r, z, n in PyTorch, z, r, h here
  };
  rules.push_back({layer, cell + "/kernel", {"weight_ih_l0" + end}, arranged(linear())});
  rules.push_back({layer, cell + "/recurrent_kernel", {"weight_hh_l0" + end}, arranged(linear())});
  rules.push_back({layer,
                   cell + "/bias",
                   {"bias_ih_l0" + end, "bias_hh_l0" + end},
                   arranged(same()),
                   /*stacked=*/gru});
}

DISTRIBUTE_INLINE void add_attention(Rules& rules) {
  using namespace saving::layouts;
  constexpr const char* kLayer = "multi_head_attention";
  int part = 0;
  for (const std::string name : {"query", "key", "value"}) {
    const std::string letter = name.substr(0, 1);
    rules.push_back({kLayer, name + "/kernel", {"in_proj_weight"}, linear(), false, part, 3});
    rules.push_back({kLayer, name + "/kernel", {letter + "_proj_weight"}, linear()});
    rules.push_back({kLayer, name + "/kernel", {letter + "_proj.weight"}, linear()});
    rules.push_back({kLayer, name + "/bias", {"in_proj_bias"}, flat(), false, part++, 3});
    rules.push_back({kLayer, name + "/bias", {letter + "_proj.bias"}, flat()});
  }
  for (const std::string name : {"out_proj", "o_proj"}) {
    rules.push_back({kLayer, "attention_output/kernel", {name + ".weight"}, linear(2)});
    rules.push_back({kLayer, "attention_output/bias", {name + ".bias"}});
  }
}

/// "conv2_block1_0_bn.weight" -> "layer1.0.downsample.1.weight".
DISTRIBUTE_INLINE std::string torchvision_name(const std::string& name) {
  const size_t dot = name.find('.');
  const std::string layer = name.substr(0, dot), rest = name.substr(dot);
  if (layer == "predictions") return "fc" + rest;
  if (layer == "conv1_conv") return "conv1" + rest;
  if (layer == "conv1_bn") return "bn1" + rest;
  int stage = 0, block = 0, number = 0;
  char kind[8] = {};
  if (std::sscanf(layer.c_str(), "conv%d_block%d_%d_%7s", &stage, &block, &number, kind) != 4)
    return name;
  const bool norm = std::string(kind) == "bn";
  const std::string part =
      number == 0 ? str_cat("downsample.", int(norm)) : str_cat(norm ? "bn" : "conv", number);
  return str_cat("layer", stage - 1, ".", block - 1, ".", part, rest);
}

}  // namespace distribute::saving_internal

namespace distribute::saving {

DISTRIBUTE_INLINE NameRules torch_names() {
  using namespace saving_internal;
  NameRules rules;
  rules.ignored = {"num_batches_tracked"};
  add_products(rules.weights);
  add_tables(rules.weights);
  add_attention(rules.weights);
  for (const std::string layer : {"simple_rnn", "lstm", "gru"}) {
    const std::string cell = layer + "_cell";
    const bool gru = layer == "gru";
    add_recurrent(rules.weights, "bidirectional", "forward_layer/" + cell, "", gru);
    add_recurrent(rules.weights, "bidirectional", "backward_layer/" + cell, "_reverse", gru);
    add_recurrent(rules.weights, layer, cell, "", gru);
  }
  return rules;
}

DISTRIBUTE_INLINE NameRules torchvision_resnet_names() {
  NameRules rules = torch_names();
  rules.rename = saving_internal::torchvision_name;
  return rules;
}

}  // namespace distribute::saving
