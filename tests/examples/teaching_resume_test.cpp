/// resume.cpp: saves in the middle of an epoch, and goes on there.

#include "teaching.hpp"

#include <distribute/checkpoint/checkpoint_manager.hpp>
#include <distribute/data/decode_image.hpp>

#include <tests/data/picture_support.hpp>

#include <csignal>

using namespace mnist_cluster;
namespace data = distribute::data;

namespace {

Words small_run(const TemporaryDirectory& pictures, const TemporaryDirectory& model_dir,
                const Words& more) {
  return Words{"--data_dir=" + pictures.path(), "--model_dir=" + model_dir.path(), "--small",
               "--image_size=16", "--batch_size=8"} +
         more;
}

/// Two classes that differ in what is bright.
void write_pictures(const std::string& directory, int each) {
  for (const bool second : {false, true}) {
    fs::create_directories(directory + (second ? "/b" : "/a"));
    for (int i = 0; i < each; ++i)
      data::write_bytes(
          distribute::str_cat(directory, second ? "/b/" : "/a/", i, ".jpg"),
          data::encode_jpeg(data::gradient_image(20, 24, 3, 0.1 * i + (second ? 3.14 : 0))));
  }
}

}  // namespace

TEST_CASE("resume.cpp goes on in the middle of an epoch with the numbers of an uninterrupted run",
          "[examples][teaching][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50_resume");
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory pictures, directory;
  write_pictures(pictures / "train", 14);  // an epoch is 3.5 batches
  write_pictures(pictures / "val", 4);
  const auto train = [&] {
    return run_program("resnet50_resume",
                       small_run(pictures, directory, {"--save_steps=5", "--steps=16"}),
                       "env -u TF_CONFIG OMP_NUM_THREADS=1");
  };
  const ProgramResult all = train();
  INFO(all.out << all.err);
  REQUIRE(all.status == 0);
  CHECK(numbers_after(all.out, " loss ").size() == 16);
  check_loss_falls(all.out, " loss ");
  CHECK(accuracy_in(all.out, "test accuracy ") > 0.8);
  // As after a crash between step 15, in the middle of the fifth epoch, and the end.
  distribute::train::remove_checkpoint(directory / "ckpt-4");
  fs::remove(directory / "checkpoint");
  const ProgramResult rest = train();
  INFO(rest.out << rest.err);
  REQUIRE(rest.status == 0);
  CHECK_THAT(rest.out, Contains("goes on after step 15\nstep 16 "));
  CHECK_THAT(all.out, Contains(rest.out.substr(rest.out.find("step 16 "))));
}

TEST_CASE("resume.cpp saves on two workers when one is told to go",
          "[examples][teaching][resnet50][multiproc]") {
  SKIP_WITHOUT_PROGRAM("resnet50_resume");
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory pictures, directory;
  write_pictures(pictures / "train", 14);
  ProcessCluster cluster(
      job_of("resnet50_resume", 2, small_run(pictures, directory, {"--steps=1000000"})));
  for (int worker : {0, 1}) cluster.expect_failure({"worker", worker});
  cluster.wait_for_output({"worker", 0}, "step 3 ");
  cluster.kill({"worker", 1}, SIGTERM);
  const auto outcomes = cluster.wait();
  INFO(all_output(outcomes));
  for (const TaskOutcome& outcome : outcomes)
    CHECK(outcome.status.describe() == "exited with status 143");
  CHECK(fs::exists(directory / "checkpoint"));
  check_no_temporary_directories(directory);
}
