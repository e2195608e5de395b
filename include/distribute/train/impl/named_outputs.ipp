#pragma once
#include <distribute/base/error.hpp>
#include <distribute/nn/loss.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/train/detail/class_weights.hpp>
#include <distribute/train/detail/named_outputs.hpp>
#include <distribute/train/model.hpp>

#include <algorithm>
#include <memory>
#include <optional>

namespace distribute::train_internal {

DISTRIBUTE_INLINE Tensor NamedBatch::weight_of(const std::string& output) const {
  const auto own = weights.find(output), all = weights.find("");
  return own != weights.end() ? own->second : all != weights.end() ? all->second : Tensor();
}

DISTRIBUTE_INLINE bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

DISTRIBUTE_INLINE void put_component(NamedBatch& parts, const nn::NamedModule& module,
                                     const std::string& name, const Tensor& component) {
  if (is_among(module.input_names(), name)) {
    parts.inputs[name] = component;
    return;
  }
  if (is_among(module.output_names(), name)) {
    parts.targets[name] = component;
    return;
  }
  if (name == "sample_weight") {
    parts.weights[""] = component;
    return;
  }
  for (const std::string& output : module.output_names())
    if (name == output + "_weight") {
      parts.weights[output] = component;
      return;
    }
  throw InvalidArgumentError(
      str_cat("the data has a component '", name, "'; the model has the inputs ",
              nn::nn_internal::quoted_list(module.input_names()), " and the outputs ",
              nn::nn_internal::quoted_list(module.output_names()),
              ", whose weights are called 'sample_weight', or as the output with '_weight'"));
}

DISTRIBUTE_INLINE NamedBatch named_batch(const nn::NamedModule& module, const data::Batch& batch) {
  NamedBatch parts;
  if (batch.names) {
    for (size_t i = 0; i < batch.size(); ++i)
      put_component(parts, module, batch.names->at(i), batch[i]);
    return parts;
  }
  const std::vector<std::string>&inputs = module.input_names(), &outputs = module.output_names();
  const size_t with_targets = inputs.size() + outputs.size(), size = batch.size();
  if (size != inputs.size() && size != with_targets && size != with_targets + 1 &&
      size != with_targets + outputs.size())
    throw InvalidArgumentError(str_cat(
        "the data has ", size, " components without names; the model takes ", inputs.size(),
        " inputs, ", outputs.size(), " targets and weights for all outputs ", "or for each"));
  for (size_t i = 0; i < size; ++i) {
    if (i < inputs.size())
      parts.inputs[inputs[i]] = batch[i];
    else if (i < with_targets)
      parts.targets[outputs[i - inputs.size()]] = batch[i];
    else
      parts.weights[size == with_targets + 1 ? "" : outputs[i - with_targets]] = batch[i];
  }
  return parts;
}

DISTRIBUTE_INLINE data::Batch by_position(const nn::Module& module, const data::Batch& batch) {
  const auto* named = dynamic_cast<const nn::NamedModule*>(&module);
  if (!named || !batch.names || named->input_names().size() != 1 ||
      named->output_names().size() != 1)
    return batch;
  const NamedBatch parts = named_batch(*named, batch);
  const auto input = parts.inputs.find(named->input_names()[0]);
  if (input == parts.inputs.end())
    throw InvalidArgumentError(
        str_cat("the data has no component '", named->input_names()[0], "', the model's input"));
  std::vector<Tensor> ordered{input->second};
  for (const auto& [name, target] : parts.targets) ordered.push_back(target);
  const std::string& output = named->output_names()[0];
  if (const Tensor weight = parts.weight_of(output)) ordered.push_back(weight);
  return data::Batch::from_components(std::move(ordered));
}

/// Throws InvalidArgumentError for a name that is no output's.
template <typename Map>
void check_output_names(const nn::NamedModule& module, const char* option, const Map& by_output) {
  for (const auto& [name, value] : by_output)
    if (!is_among(module.output_names(), name))
      throw InvalidArgumentError(str_cat("compile: ", option, " names '", name,
                                         "'; the outputs of the model are ",
                                         nn::nn_internal::quoted_list(module.output_names())));
}

}  // namespace distribute::train_internal

namespace distribute::train {

DISTRIBUTE_INLINE void Model::check_outputs(const CompileOptions& options) const {
  const bool by_output = !options.losses.empty() || !options.loss_weights.empty() ||
                         !options.output_metrics.empty() ||
                         !options.weighted_output_metrics.empty();
  if (!named_) {
    if (by_output)
      throw InvalidArgumentError(
          "compile: losses, loss_weights, output_metrics and weighted_output_metrics are for an "
          "nn::NamedModule of several inputs or outputs; take loss and metrics");
    return;
  }
  if (options.loss && !options.losses.empty())
    throw InvalidArgumentError("compile: give either loss, for all outputs, or losses");
  if (named_->output_names().size() > 1 &&
      (!options.metrics.empty() || !options.weighted_metrics.empty()))
    throw InvalidArgumentError(
        "compile: the model has several outputs; give output_metrics in place of metrics");
  train_internal::check_output_names(*named_, "losses", options.losses);
  train_internal::check_output_names(*named_, "loss_weights", options.loss_weights);
  train_internal::check_output_names(*named_, "output_metrics", options.output_metrics);
  train_internal::check_output_names(*named_, "weighted_output_metrics",
                                     options.weighted_output_metrics);
  for (const auto& [name, weight] : options.loss_weights)
    if (!options.loss && !options.losses.contains(name))
      throw InvalidArgumentError(
          str_cat("compile: output '", name, "' has a loss weight and no loss"));
}

DISTRIBUTE_INLINE const LossFunction* Model::loss_of(const std::string& output) const {
  if (!train_internal::is_among(named_->output_names(), output)) return nullptr;
  const auto own = compiled_->losses.find(output);
  const LossFunction& loss = own == compiled_->losses.end() ? compiled_->loss : own->second;
  return loss ? &loss : nullptr;
}

DISTRIBUTE_INLINE void Model::add_figures_of(const std::string& given_output,
                                             const std::vector<CompiledMetric>& metrics,
                                             bool weighted, const CompileOptions& options) {
  const auto is_taken = [&](const std::string& name) {
    for (const auto& [known, loss] : options.losses)
      if (options.losses.size() > 1 && name == known + "_loss") return true;
    for (const Figure& figure : figures_)
      if (figure.name == name) return true;
    return name == "loss";
  };
  // The figures of a single output have no prefix, as in Keras.
  const bool several = named_ && named_->output_names().size() > 1;
  const std::string output = named_ && !several ? named_->output_names()[0] : given_output;
  const std::string prefix = several ? output + "_" : "";
  for (const CompiledMetric& metric : metrics) {
    std::string name = prefix + metric->name();
    if (weighted && is_taken(name)) name = prefix + "weighted_" + metric->name();
    if (is_taken(name))
      throw InvalidArgumentError("compile: two figures are called '" + name + "'");
    figures_.push_back({name, output, metric, weighted});
  }
}

DISTRIBUTE_INLINE void Model::build_named(const data::ElementSpec& spec) {
  if (module_.built()) return;
  std::vector<Tensor> components;
  std::vector<std::string> names;
  for (const auto& component : spec) {
    std::vector<int64_t> shape = component.shape;
    if (shape.empty()) return;
    shape[0] = 1;
    if (std::find(shape.begin(), shape.end(), -1) != shape.end()) return;
    components.push_back(cast(zeros(Shape(shape)), component.dtype));
    names.push_back(component.name);
  }
  const bool named = std::any_of(names.begin(), names.end(),
                                 [](const std::string& name) { return !name.empty(); });
  (*named_)(train_internal::named_batch(
                *named_, data::Batch::from_components(
                             components, named ? std::make_shared<const std::vector<std::string>>(
                                                     std::move(names))
                                               : nullptr))
                .inputs);
}

DISTRIBUTE_INLINE StepLogs Model::named_losses(const train_internal::NamedBatch& batch,
                                               const std::map<std::string, Tensor>& outputs) {
  StepLogs logs;
  Tensor sum;
  for (const std::string& output : named_->output_names()) {
    const LossFunction* loss = loss_of(output);
    if (!loss) continue;
    const auto target = batch.targets.find(output);
    if (target == batch.targets.end())
      throw InvalidArgumentError(str_cat("fit: the data has no targets for output '", output,
                                         "', and its loss needs them"));
    Tensor share =
        loss->share(target->second, outputs.at(output), global_batch_, batch.weight_of(output));
    logs.emplace_back(output + "_loss", share);
    if (const auto weight = compiled_->loss_weights.find(output);
        weight != compiled_->loss_weights.end())
      share = share * weight->second;
    sum = sum ? sum + share : share;
  }
  if (logs.size() == 1) logs.clear();  // the one loss is "loss", as in Keras
  sum = with_regularization(sum);
  if (!sum) throw FailedPreconditionError("compile: there is no loss, and the module adds none");
  logs.emplace(logs.begin(), "loss", sum);
  return logs;
}

DISTRIBUTE_INLINE void Model::update_named_metrics(const train_internal::NamedBatch& batch,
                                                   const std::map<std::string, Tensor>& outputs) {
  for (const Figure& figure : figures_) {
    const auto target = batch.targets.find(figure.output);
    figure.metric.update_state(target == batch.targets.end() ? Tensor() : target->second,
                               outputs.at(figure.output),
                               figure.weighted ? batch.weight_of(figure.output) : Tensor());
  }
}

/// Gives the one output's examples the weights of their classes.
DISTRIBUTE_INLINE void Model::weigh_classes(train_internal::NamedBatch& batch,
                                            const std::map<std::string, Tensor>& outputs) {
  const auto& [output, prediction] = *outputs.begin();
  data::Batch targets{.x = prediction, .y = batch.targets[output]};
  if (const Tensor weight = batch.weight_of(output)) targets.more = {weight};
  batch.weights[output] =
      train_internal::with_weights(targets, class_weight_, prediction.shape()).more[0];
}

DISTRIBUTE_INLINE StepLogs Model::named_step(const data::Batch& batch, bool training) {
  train_internal::NamedBatch parts = train_internal::named_batch(*named_, batch);
  std::optional<GradientTape> tape;
  if (training) tape.emplace();
  const auto outputs = (*named_)(parts.inputs, {.training = training});
  if (training && !class_weight_.empty()) weigh_classes(parts, outputs);
  StepLogs logs = named_losses(parts, outputs);
  if (training) minimize(logs[0].second, *tape);
  update_named_metrics(parts, outputs);
  return logs;
}

DISTRIBUTE_INLINE std::map<std::string, Tensor> Model::predict_outputs(
    const data::Dataset& data, const PredictOptions& options) {
  if (!named_)
    throw InvalidArgumentError("predict_outputs: the model has one output; take predict");
  const std::vector<Tensor> all = predict_all(data, options, true);
  std::map<std::string, Tensor> results;
  for (size_t i = 0; i < all.size(); ++i) results[named_->output_names()[i]] = all[i];
  return results;
}

}  // namespace distribute::train
