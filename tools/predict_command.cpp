#include "predict_command.hpp"

#include "../examples/mnist_cnn/model.hpp"

#include <distribute/base/error.hpp>
#include <distribute/base/status.hpp>
#include <distribute/checkpoint/bundle_reader.hpp>
#include <distribute/checkpoint/checkpoint_state.hpp>
#include <distribute/checkpoint/named_weights.hpp>
#include <distribute/data/idx.hpp>
#include <distribute/data/image_resize.hpp>
#include <distribute/data/jpeg.hpp>
#include <distribute/data/picture.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/path.hpp>
#include <distribute/nn/resnet.hpp>
#include <distribute/nn/sequential.hpp>
#include <distribute/ops/cast.hpp>
#include <distribute/ops/elementwise.hpp>
#include <distribute/ops/reshape.hpp>
#include <distribute/ops/search.hpp>
#include <distribute/ops/softmax.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

namespace distribute_tools {

using namespace distribute;
using Json = nlohmann::ordered_json;

int predict_usage(const std::string& message) {
  std::fprintf(stderr, "distribute predict: %s (see distribute --help)\n", message.c_str());
  return 2;
}

bool is_digits_model(const std::string& model) { return model == "book" || model == "tutorial"; }

/// A directory stands for its newest checkpoint.
std::string checkpoint_prefix(const std::string& path) {
  io::FileSystem& files = *value_or_throw(io::file_system_for(path));
  if (!value_or_throw(files.is_directory(path))) return path;
  const auto newest = train::latest_checkpoint(path);
  if (!newest) throw NotFoundError(path + ": the directory has no checkpoint");
  return *newest;
}

/// As many classes as the file's last layer has; the usual number where it has none, so that
/// loading says what is missing.
int64_t classes_in(train::BundleReader& reader, const std::string& bias, int64_t usual) {
  const auto keys = train::weight_keys(reader);
  const auto found = keys.find(bias);
  if (found == keys.end()) return usual;
  const auto& dims = reader.entry(found->second[0]).dims;
  return dims.size() == 1 ? dims[0] : usual;
}

std::unique_ptr<nn::Module> make_network(const PredictCommandOptions& o,
                                         const std::string& prefix) {
  train::BundleReader reader(prefix);
  if (o.model == "book") return std::make_unique<nn::Sequential>(mnist_cnn::book_model());
  if (o.model == "tutorial") return std::make_unique<nn::Sequential>(mnist_cnn::tutorial_model());
  if (o.model == "resnet50") {
    nn::applications::ResNetOptions options{.classes =
                                                classes_in(reader, "predictions/bias", 1000)};
    // Keras's own network has biases in its convolutions.
    options.version_1 = train::weight_keys(reader).contains("conv1_conv/bias");
    return std::make_unique<nn::applications::ResNet>(options);
  }
  return std::make_unique<nn::applications::SmallResNet>(
      nn::applications::SmallResNetOptions{.classes = classes_in(reader, "fc/bias", 10)});
}

/// "FILE:INDEX" of an IDX file; nothing for other names.
struct IdxPlace {
  std::string file;
  int64_t index = -1;
};
IdxPlace idx_place(const std::string& picture) {
  const size_t colon = picture.rfind(':');
  IdxPlace place;
  if (colon == std::string::npos || colon + 1 == picture.size()) return place;
  const char *first = picture.data() + colon + 1, *last = picture.data() + picture.size();
  const auto read = std::from_chars(first, last, place.index);
  if (read.ec != std::errc() || read.ptr != last) place.index = -1;
  if (place.index >= 0) place.file = picture.substr(0, colon);
  return place;
}

/// [28, 28, 1] in 0 to 1, white on black, as the training images.
Tensor digit(const std::string& picture) {
  const IdxPlace place = idx_place(picture);
  if (place.file.empty()) {
    const Tensor grey = data::decode_jpeg(value_or_throw(io::read_file(picture)), {.channels = 1});
    return image::resize(grey, {28, 28}) / 255.0f;
  }
  const Tensor images = data::read_idx(place.file);
  if (images.shape().rank() != 3 || images.shape()[1] != 28 || images.shape()[2] != 28)
    throw InvalidArgumentError(
        concat(place.file, ": holds ", to_string(images.shape()), ", not images of 28 x 28"));
  if (place.index >= images.shape()[0])
    throw OutOfRangeError(concat(picture, ": the file has images 0 to ", images.shape()[0] - 1));
  return reshape(cast(images.rows(place.index, place.index + 1), DType::Float32), {28, 28, 1}) /
         255.0f;
}

/// As pictures are evaluated in training.
Tensor photograph(const std::string& picture, const PredictCommandOptions& o) {
  const std::string bytes = value_or_throw(io::read_file(picture));
  data::PictureTransform transform;
  if (o.model == "resnet8") transform = data::cifar10_transform();
  if (o.image_size > 0) transform.image_size = transform.shorter_side = o.image_size;
  if (o.model != "resnet8") transform.shorter_side = 0;  // the 256 of 224
  return data::evaluation_picture(bytes, transform);
}

std::vector<std::string> read_labels(const std::string& path) {
  std::vector<std::string> labels;
  std::istringstream text(value_or_throw(io::read_file(path)));
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    labels.push_back(line);
  }
  return labels;
}

/// The likeliest classes of one picture.
Json classify(nn::Module& network, const Tensor& image, const std::vector<std::string>& labels,
              int64_t top) {
  const Tensor logits = network(expand_dims(image, 0));
  const int64_t classes = logits.shape()[-1];
  if (!labels.empty() && int64_t(labels.size()) != classes)
    throw InvalidArgumentError(
        concat("--labels has ", labels.size(), " lines, the network ", classes, " classes"));
  const TopK best = top_k(nn::softmax(cast(logits, DType::Float32)), int(std::min(top, classes)));
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

int predict(const std::vector<std::string>& pictures, const PredictCommandOptions& o) {
  const std::string prefix = checkpoint_prefix(o.checkpoint);
  const auto network = make_network(o, prefix);
  // Makes the weights; those of residual networks are the same for all sizes of pictures.
  (*network)(is_digits_model(o.model) ? zeros({1, 28, 28, 1}) : zeros({1, 32, 32, 3}));
  try {
    train::load_weights(prefix, network->variables());
  } catch (const Error& error) {
    throw FailedPreconditionError(
        concat("this is no checkpoint of --model=", o.model, ": ", error.what()));
  }
  const auto labels = o.labels.empty() ? std::vector<std::string>{} : read_labels(o.labels);
  Json all = Json::array();
  int status = 0;
  for (const std::string& picture : pictures) {
    Tensor image;
    try {
      image = is_digits_model(o.model) ? digit(picture) : photograph(picture, o);
    } catch (const Error& error) {
      const std::string problem = error.what();
      const bool named = problem.find(picture) != std::string::npos;
      std::fprintf(stderr, "distribute predict: %s%s%s\n", named ? "" : picture.c_str(),
                   named ? "" : ": ", problem.c_str());
      status = 1;
      continue;
    }
    all.push_back({{"picture", picture}, {"classes", classify(*network, image, labels, o.top)}});
    if (!o.json) print_classes(picture, all.back()["classes"]);
  }
  if (o.json) std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  return status;
}

int predict_command(const std::vector<std::string>& pictures, const PredictCommandOptions& o) {
  const std::vector<std::string> known{"book", "tutorial", "resnet50", "resnet8"};
  if (std::find(known.begin(), known.end(), o.model) == known.end())
    return predict_usage("--model=" + o.model + "; it takes book, tutorial, resnet50, resnet8");
  if (o.checkpoint.empty()) return predict_usage("--checkpoint=PREFIX is needed");
  if (pictures.empty()) return predict_usage("name one picture or more");
  if (o.image_size < 0 || o.image_size > 4096) return predict_usage("--image_size is 0 to 4096");
  if (o.top < 1) return predict_usage("--top must be at least 1");
  try {
    return predict(pictures, o);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "distribute predict: %s\n", error.what());
    return 1;
  }
}

}  // namespace distribute_tools
