/// Trains on TFRecords that a function of the program parses in map(), as with
/// tf.io.parse_single_example and tf.io.decode_raw. With --write it first makes the records of
/// MNIST.
///
///   mnist_cnn_tfrecords --write --records=/tmp/mnist

#include <distribute/distribute.hpp>

#include <absl/flags/flag.h>
#include <absl/flags/parse.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace dist = distribute;
namespace data = dist::data;
namespace nn = dist::nn;
namespace train = dist::train;

ABSL_FLAG(std::string, data_dir, "examples/mnist_cnn/data", "folder with MNIST's four files");
ABSL_FLAG(std::string, records, "mnist_records", "folder of train-0-of-2.tfrecord and the other");
ABSL_FLAG(bool, write, false, "make the records first");
ABSL_FLAG(int, epochs, 2, "passes over the records");

/// Two files, each with every second image: its bytes as image_raw, its class as label.
void write_records(const std::string& folder) {
  dist::throw_if_error(dist::io::local_file_system().make_dirs(folder));
  std::vector<dist::io::RecordWriter> writers;
  for (const char* name : {"train-0-of-2.tfrecord", "train-1-of-2.tfrecord"})
    writers.push_back(
        dist::value_or_throw(dist::io::RecordWriter::create(dist::io::join_path(folder, name))));
  size_t number = 0;
  for (const auto& example : data::load_mnist(absl::GetFlag(FLAGS_data_dir))) {
    std::string bytes;
    for (const float value : example.x.to_vector()) bytes += char(value * 255 + 0.5f);
    const auto record =
        data::encode_example({{"image_raw", data::BytesList{bytes}},
                              {"label", data::Int64List{example.y.item<int64_t>()}}});
    dist::throw_if_error(writers[number++ % 2].write(record));
  }
  for (auto& writer : writers) dist::throw_if_error(writer.close());
}

/// A record as bytes becomes an image [28, 28, 1] of numbers from 0 to 1, and its class.
data::Batch parse(const data::Batch& record) {
  const auto features =
      data::parse_single_example(data::bytes_of(record.x),
                                 {{"image_raw", data::fixed_len_feature(data::FeatureKind::Bytes)},
                                  {"label", data::fixed_len_feature(data::FeatureKind::Int64)}},
                                 "a record of MNIST");
  // image = tf.cast(tf.io.decode_raw(features["image_raw"], tf.uint8), tf.float32) / 255
  std::vector<float> pixels;
  for (const char byte : features.at("image_raw").bytes.at(0))
    pixels.push_back(float(static_cast<unsigned char>(byte)) / 255);
  return {dist::Tensor(dist::Shape{28, 28, 1}, pixels), features.at("label").values};
}

void run() {
  if (absl::GetFlag(FLAGS_epochs) < 1) throw dist::UsageError("--epochs must be at least 1");
  const std::string folder = absl::GetFlag(FLAGS_records);
  if (absl::GetFlag(FLAGS_write)) write_records(folder);
  const auto files = data::match_files(dist::io::join_path(folder, "train-*-of-2.tfrecord"));
  const auto images = data::tfrecord_dataset(files).map(parse, {.num_parallel_calls = 2});

  nn::Sequential network(nn::Flatten(), nn::Dense({.units = 100, .activation = nn::relu}),
                         nn::Dense({.units = 10}));
  dist::optim::Adam optimizer({.learning_rate = 1e-2f});
  train::Model model(network);
  model.compile({.optimizer = optimizer,
                 .loss = nn::SparseCategoricalCrossentropy({.from_logits = true}),
                 .metrics = {nn::metrics::SparseCategoricalAccuracy("accuracy")}});
  model.fit(images.shuffle(9'000, {.seed = 1}).batch(100),
            {.epochs = absl::GetFlag(FLAGS_epochs), .verbose = train::Verbose::Epochs});
  const auto test = data::load_mnist(absl::GetFlag(FLAGS_data_dir), {.split = data::Split::Test});
  std::printf("test accuracy %.4f\n", model.evaluate(test.batch(500)).at("accuracy"));
}

int main(int argc, char** argv) { return dist::run_main(argc, argv, absl::ParseCommandLine, run); }
