/// resnet50 on three workers that share TFRecords: one is killed in mid-epoch, the job starts again
/// and ends with the bits of one that ran undisturbed.

#include "mnist_cluster.hpp"
#include "picture_files.hpp"

#include <distribute/checkpoint/bundle.hpp>
#include <distribute/testing/thread_cluster.hpp>

#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace mnist_cluster;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

// 50 pictures in five files and batches of 12: hardly a step ends with an epoch.
const Words kFlags{"--dataset=tfrecord", "--model=resnet8",   "--image_size=16",
                   "--batch_size=12",    "--train_images=50", "--steps=30",
                   "--save_steps=2",     "--ema_decay=0.9",   "--learning_rate=0.05"};

ProcessClusterOptions job(const std::string& data, const TemporaryDirectory& out) {
  auto options =
      cluster_options(3, kFlags + Words{"--data_dir=" + data, "--checkpoint_dir=" + (out / "ckpt"),
                                        "--final_checkpoint=" + (out / "final")});
  options.command.at(3) = distribute::testing::binary_dir() + "/resnet50";
  options.environment["DISTRIBUTE_LOST_AFTER"] = "5";
  return options;
}

double test_loss(const std::string& output) {
  return std::stod(output.substr(output.find("test loss ") + 10));
}

/// The trained weights bit by bit. Moving values of batch normalization are the workers' means in
/// a checkpoint, so theirs differ by rounding.
void check_same_weights(const std::string& one, const std::string& other) {
  distribute::train::BundleReader wanted(one), got(other);
  REQUIRE(wanted.keys() == got.keys());
  int trained = 0;
  for (const std::string& key : wanted.keys()) {
    INFO(key);
    const auto a = wanted.read_values<float>(key), b = got.read_values<float>(key);
    if (key.find("/moving_") == std::string::npos) {
      ++trained;
      CHECK(a == b);
    } else {
      for (size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(a[i]).margin(1e-6));
    }
  }
  CHECK(trained > 20);
}

}  // namespace

TEST_CASE("a worker killed in mid-epoch of augmented TFRecords: after a restart every bit is right",
          "[examples][resnet50][multiproc]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory data, whole, broken;
  picture_files::write_shards(data.path(), "train", 5, 10);
  picture_files::write_shards(data.path(), "validation", 3, 4);
  const std::string wanted = ProcessCluster(job(data.path(), whole)).join()[0].out;
  CHECK_THAT(wanted, Contains("step 30  loss ") && Contains("test accuracy 0."));
  {
    ProcessCluster cluster(job(data.path(), broken));
    for (int w = 0; w < 3; ++w) cluster.expect_failure({"worker", w});
    distribute::testing::wait_until([&] { return fs::exists(broken / "ckpt/ckpt-3.index"); },
                                    "the third checkpoint");
    cluster.kill({"worker", 1});
    const auto outcomes = cluster.wait();
    check_all_say(outcomes, "worker 1 (", "worker 1");
    REQUIRE(!fs::exists(broken / "final.index"));
  }
  const std::string rest = ProcessCluster(job(data.path(), broken)).join()[0].out;
  CHECK_THAT(rest, Contains("restored ") && Contains("at step "));
  check_same_weights(whole / "final", broken / "final");
  CHECK(test_loss(rest) == Approx(test_loss(wanted)).margin(1e-3));
}
