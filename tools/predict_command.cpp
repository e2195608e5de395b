#include "commands.hpp"

#include "predict_network.hpp"
#include "predict_pictures.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/ordered_json.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/data/decode_image.hpp>
#include <distribute/data/image.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/nn/module.hpp>
#include <distribute/ops/activation.hpp>
#include <distribute/ops/arrangement.hpp>
#include <distribute/ops/array.hpp>
#include <distribute/ops/math.hpp>
#include <distribute/train/checkpoint_files.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

namespace distribute_tools {

using namespace distribute;
using Json = nlohmann::ordered_json;

/// The flags of the command, which its table explains.
struct PredictOptions {
  std::string model = "book", checkpoint, labels;
  int64_t image_size = 0, top = 5;
  bool json = false;
};

/// [28, 28, 1] in 0 to 1, white on black, as the training images.
Tensor digit(const Picture& picture) {
  if (!picture.idx) {
    const Tensor grey = data::decode_image(picture.encoded, {.channels = 1});
    return image::resize(grey, {28, 28}) / 255.0f;
  }
  if (picture.idx.shape() != Shape{28, 28})
    throw InvalidArgumentError(
        str_cat("an image of ", to_string(picture.idx.shape()), "; the network takes 28 x 28"));
  return reshape(cast(picture.idx, DType::Float32), {28, 28, 1}) / 255.0f;
}

/// As pictures are evaluated in training.
Tensor photograph(const Picture& picture, const PredictOptions& o) {
  if (picture.idx)
    throw InvalidArgumentError("images of IDX files are for --model=book and --model=tutorial");
  data::PictureTransform transform;
  const int64_t size = o.image_size > 0 ? o.image_size : o.model == "resnet50" ? 224 : 32;
  if (size == 32 && o.model != "resnet50") transform = data::cifar10_transform();
  transform.image_size = size;
  return data::evaluation_picture(picture.encoded, transform);
}

std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels;
  std::string bytes = value_or_throw(io::read_file(path));
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.erase(0, 3);  // a byte order mark, as Windows writes
  std::istringstream text(std::move(bytes));
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

/// The likeliest classes of one picture, given its logits [classes].
Json classify(const Tensor& logits, const std::vector<std::string>& labels, int64_t top) {
  const int count = int(std::min(top, logits.shape()[-1]));
  const TopK best = top_k(nn::softmax(cast(logits, DType::Float32)), count);
  Json list = Json::array();
  for (int64_t i = 0; i < best.indices.num_elements(); ++i) {
    const int32_t number = best.indices.data<int32_t>()[size_t(i)];
    Json one{{"class", number}, {"probability", best.values.data<float>()[size_t(i)]}};
    if (!labels.empty()) one["label"] = labels[size_t(number)];
    list.push_back(one);
  }
  return list;
}

void print_classes(const std::string& picture, const Json& list) {
  std::printf("%s\n", picture.c_str());
  for (const Json& one : list)
    std::printf("  %6.2f %%  %5d  %s\n", one["probability"].get<double>() * 100,
                one["class"].get<int>(), one.value("label", std::string()).c_str());
}

/// Shows pictures to the network, several at once, and tells what it sees in their order.
class Predictor {
 public:
  Predictor(nn::Module& network, int64_t classes, const PredictOptions& o)
      : network_(network), options_(o) {
    if (o.labels.empty()) return;
    labels_ = read_labels(o.labels);
    if (int64_t(labels_.size()) != classes)
      throw InvalidArgumentError(
          str_cat("--labels has ", labels_.size(), " lines, the network ", classes, " classes"));
  }

  void add(const Picture& picture) {
    try {
      images_.push_back(is_digits_model(options_.model) ? digit(picture)
                                                        : photograph(picture, options_));
    } catch (const Error& error) {
      return fail(picture.name + ": " + error.what());
    }
    names_.push_back(picture.name);
    if (images_.size() == kAtOnce) run();
  }
  void fail(const std::string& problem) {
    run();  // what was read before is told before
    std::fflush(stdout);
    std::fprintf(stderr, "distribute predict: %s\n", problem.c_str());
    status_ = 1;
  }
  int finish() {
    run();
    if (options_.json) std::printf("%s\n", distribute::json_text(all_, 2).c_str());
    return status_;
  }

 private:
  static constexpr size_t kAtOnce = 16;

  void run() {
    if (images_.empty()) return;
    const Tensor logits = network_(stack(images_));
    for (size_t i = 0; i < names_.size(); ++i) {
      const Json list = classify(logits.rows(int64_t(i), int64_t(i) + 1), labels_, options_.top);
      if (options_.json)
        all_.push_back({{"picture", names_[i]}, {"classes", list}});
      else
        print_classes(names_[i], list);
    }
    images_.clear();
    names_.clear();
  }

  nn::Module& network_;
  const PredictOptions& options_;
  std::vector<std::string> labels_;
  std::vector<Tensor> images_;
  std::vector<std::string> names_;
  Json all_ = Json::array();
  int status_ = 0;
};

int predict(const std::vector<std::string>& words, const PredictOptions& o) {
  const std::string prefix = train::find_checkpoint(o.checkpoint);
  const auto network = make_predict_network(o.model, prefix);
  // Makes the weights; those of residual networks are the same for all sizes of pictures.
  const Tensor logits =
      (*network)(is_digits_model(o.model) ? zeros({1, 28, 28, 1}) : zeros({1, 32, 32, 3}));
  try {
    train::load_weights(prefix, network->variables());
  } catch (const Error& error) {
    throw FailedPreconditionError(
        str_cat("this is no checkpoint of --model=", o.model, ": ", error.what()));
  }
  Predictor predictor(*network, logits.shape()[-1], o);
  visit_pictures(
      words, {[&](const Picture& picture) { predictor.add(picture); },
              [&](const std::string&, const std::string& problem) { predictor.fail(problem); }});
  return predictor.finish();
}

Command predict_command() {
  using O = PredictOptions;
  return make_command<O>(
      "predict", "PICTURE...",
      "the likeliest classes of pictures: JPEG and PNG files, folders of them, TFRecords, for book "
      "and tutorial also IDX files; FILE:INDEX is one picture of a file with many; - reads names "
      "from the standard input",
      {{"model=M", &O::model, FlagRule{.known = predict_models()}, "network of the checkpoint"},
       {"checkpoint=PREFIX|DIR", &O::checkpoint, "of a directory the newest one"},
       {"labels=FILE", &O::labels, "file with the name of one class on each line"},
       {"top=N", &O::top, at_least(1), "how many classes to show"},
       {"image_size=N", &O::image_size, at_least(0).at_most(4096),
        "of residual networks; 0: 32, resnet50 224"},
       {"json", &O::json, "print JSON instead of lines"}},
      [](const O& options, const CommandLine& line) {
        if (options.checkpoint.empty()) throw UsageProblem("--checkpoint=PREFIX is needed");
        return predict(line.words, options);
      });
}

}  // namespace distribute_tools
