/// resnet50 and `distribute data tfrecord` with pictures, records and disks that are not as they
/// should be: one clear line, and nothing lost.

#include "picture_files.hpp"

#include <distribute/data/decode_image.hpp>

#include <tests/data/cifar_files.hpp>
#include <tests/data/png_files.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/file_size_limit.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/source_dir.hpp>
#include <tests/support/temporary_directory.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <unistd.h>
#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

#define SKIP_WITHOUT(name)                                   \
  if (!has_program(name)) SKIP("the program was not built"); \
  if (!distribute::data::has_jpeg()) SKIP("no libjpeg")

Words operator+(Words first, const Words& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

ProgramResult train(const Words& more, const std::string& before = "") {
  return run_program("resnet50",
                     Words{"--model=resnet8", "--image_size=16", "--batch_size=6", "--steps=4",
                           "--learning_rate=0.01"} +
                         more,
                     "OMP_NUM_THREADS=1 " + before);
}

void check_one_line(const ProgramResult& run, int status, const std::string& text) {
  INFO(run.out << run.err);
  CHECK(run.status == status);
  CHECK_THAT(run.err, Contains(text));
  CHECK(std::count(run.err.begin(), run.err.end(), '\n') == 1);
}

/// TFRecords of which one is `text` instead of a good one.
struct Records {
  TemporaryDirectory root;
  explicit Records(const std::string& text) {
    for (const char* split : {"train", "validation"})
      picture_files::write_shards(root.path(), split, 1, 12);
    std::ofstream(root / "train-0-of-1", std::ios::app | std::ios::binary) << text;
  }
  Words flags() const {
    return {"--dataset=tfrecord", "--data_dir=" + root.path(), "--train_images=12"};
  }
};

}  // namespace

TEST_CASE("resnet50 leaves pictures of impossible sizes out with their names, or refuses them",
          "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  const TemporaryDirectory root;
  picture_files::write_folder(root.path(), 6);
  distribute::data::write_bytes(root / "a/huge.jpg", picture_files::jpeg_of_size(20'000, 20'000));
  distribute::data::write_bytes(root / "b/none.jpg", picture_files::jpeg_of_size(0, 16));
  const Words flags{"--dataset=folder", "--data_dir=" + root.path(), "--num_classes=7"};
  const ProgramResult run = train(flags);
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.err, Contains("pictures could not be decoded and were left out") &&
                          Contains("a/huge.jpg: ") && Contains("20000 x 20000 pixels") &&
                          Contains("b/none.jpg: "));
  const ProgramResult strict = train(flags + Words{"--strict", "--shuffle=false"});
  check_one_line(strict, 1, "a/huge.jpg: ");
  CHECK_THAT(strict.err, Contains("more than max_pixels"));
}

TEST_CASE("resnet50 names file and record that cannot be used", "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  const std::string good = picture_files::record(picture_files::jpeg(1), 1);
  std::string wrong_bits = good;
  wrong_bits[30] = char(wrong_bits[30] ^ 1);
  const auto complaint = [](const std::string& text, const std::string& words) {
    const Records records(text);
    const ProgramResult run = train(records.flags());
    check_one_line(run, 1, words);
    CHECK_THAT(run.err, Contains("train-0-of-1"));
  };
  complaint(wrong_bits, "record 12 at offset");
  complaint(good.substr(0, good.size() / 2), "is cut off");
  complaint(picture_files::record(picture_files::jpeg(1), 1001),
            "record 12: the label is 1000, expected 0 to 999");
  complaint(picture_files::record(picture_files::jpeg(1), 0), "record 12: the label is -1");
  complaint(distribute::io::frame_record(distribute::data::encode_example(
                {{"image/encoded", distribute::data::BytesList{picture_files::jpeg(1)}}})),
            "record 12: feature \"image/class/label\": wanted int64 []");
}

TEST_CASE("resnet50 names data that it must not read", "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  const Records records("");
  fs::permissions(records.root.path(), fs::perms(0755));
  fs::permissions(records.root / "train-0-of-1", fs::perms::none);
  // Root may read everything, so the program gives that up.
  const std::string as_other_user =
      geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  if (train({"--help"}, as_other_user).status > 125) SKIP("the program cannot run as another user");
  const ProgramResult run = train(records.flags(), as_other_user);
  check_one_line(run, 1, "train-0-of-1");
  CHECK_THAT(run.err, Contains("Permission denied"));
}

TEST_CASE("a checkpoint of another model is refused with the first variable that differs",
          "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  const TemporaryDirectory out;
  REQUIRE(train({"--num_classes=7", "--final_checkpoint=" + (out / "flat"),
                 "--checkpoint_dir=" + (out / "ckpt")})
              .status == 0);
  const auto files = names_in(out / "ckpt");
  check_one_line(train({"--num_classes=5", "--init_checkpoint=" + (out / "flat")}), 1,
                 "'fc/kernel' is [64, 7] float32, variable 'fc/kernel' is [64, 5]");
  check_one_line(
      train({"--num_classes=7", "--model=resnet20", "--init_checkpoint=" + (out / "flat")}), 1,
      "block_a2");
  check_one_line(train({"--num_classes=5", "--checkpoint_dir=" + (out / "ckpt")}), 1, "fc");
  check_one_line(
      train({"--num_classes=7", "--model=resnet20", "--checkpoint_dir=" + (out / "ckpt")}), 1,
      "block_a2");
  CHECK(names_in(out / "ckpt") == files);
}

TEST_CASE("a full disk while resnet50 saves ends it, and the last checkpoint is whole",
          "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  const TemporaryDirectory out;
  const Words flags{"--num_classes=7", "--checkpoint_dir=" + (out / "ckpt"),
                    "--final_checkpoint=" + (out / "final")};
  REQUIRE(train(flags).status == 0);
  const auto files = names_in(out / "ckpt");
  const std::string weights = file_text(out / "final.data-00000-of-00001");
  {
    const FileSizeLimit limit(100'000);  // the weights and their momentum take more
    const ProgramResult run = train(flags + Words{"--steps=6"});
    INFO(run.err);
    CHECK(run.status != 0);
    CHECK_THAT(run.err, Contains("File too large") && Contains("ckpt"));
  }
  CHECK(names_in(out / "ckpt") == files);
  CHECK(file_text(out / "final.data-00000-of-00001") == weights);
  const ProgramResult rest = train(flags + Words{"--steps=6"});
  CHECK(rest.status == 0);
  CHECK_THAT(rest.out, Contains("at step 4"));
}

TEST_CASE("a full disk while shards are written leaves none of them", "[tools][data_command]") {
  SKIP_WITHOUT("distribute");
  const TemporaryDirectory root;
  picture_files::write_folder(root / "in", 20);
  const Words words{"data", "tfrecord", "--input_dir=" + (root / "in"),
                    "--output_dir=" + (root / "out"), "--shards=2"};
  {
    const FileSizeLimit limit(8'000);
    const ProgramResult run = run_program("distribute", words);
    check_one_line(run, 1, "File too large");
    CHECK_THAT(run.err, Contains("train-0000"));
  }
  CHECK(names_in(root / "out").empty());
  CHECK(run_program("distribute", words).status == 0);
  CHECK(names_in(root / "out").size() == 3);
}

TEST_CASE("resnet50 tells how fast its input is, and how long the steps waited for it",
          "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  const Records records("");
  const TemporaryDirectory out;
  const ProgramResult run =
      train(records.flags() + Words{"--logdir=" + (out / "logs"), "--json=" + (out / "run.json")});
  INFO(run.err);
  REQUIRE(run.status == 0);
  for (const char* stage : {"\nread  ", "\ndecode  ", "\nstep                 4 elements"})
    CHECK_THAT(run.out, Contains(stage));
  const auto json = nlohmann::json::parse(file_text(out / "run.json"));
  CHECK(json["input_wait_share"] > 0.0);
  CHECK(json["input_wait_share"] <= 1.0);
  const ProgramResult events = run_program("distribute", {"events", "ls", out / "logs", "--json"});
  REQUIRE(events.status == 0);
  std::vector<std::string> tags;
  for (const auto& entry : nlohmann::json::parse(events.out)) tags.push_back(entry["tag"]);
  for (const char* tag : {"input/read/elements_per_second", "input/decode/elements_per_second",
                          "input/step/wait_share"})
    CHECK(std::count(tags.begin(), tags.end(), tag) == 1);
  const ProgramResult synthetic = train({"--num_classes=7"});
  CHECK_THAT(synthetic.out, !Contains("waited"));
}

TEST_CASE("resnet50 finds CIFAR's binary files", "[examples][resnet50]") {
  SKIP_WITHOUT_PROGRAM("resnet50");
  const TemporaryDirectory root;
  cifar_files::write_cifar10(root / "ten", 4);
  fs::create_directories(root / "hundred");
  for (const char* name : {"hundred/train.bin", "hundred/test.bin"})
    cifar_files::write(root / name, 4, true);
  const auto on = [](const std::string& dataset, const std::string& folder) {
    return train({"--image_size=32", "--dataset=" + dataset, "--data_dir=" + folder});
  };
  for (const auto& [dataset, folder] :
       {std::pair{"cifar10", root / "ten"}, std::pair{"cifar100", root / "hundred"}}) {
    const ProgramResult run = on(dataset, folder);
    INFO(run.err);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains("test"));
  }
  fs::resize_file(root / "ten/data_batch_2.bin", 4000);
  check_one_line(on("cifar10", root / "ten"), 1, "data_batch_2.bin: has 4000 bytes");
}

TEST_CASE("resnet50 trains on PNG pictures and compressed records", "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  if (!distribute::data::has_png()) SKIP("no libpng");
  const TemporaryDirectory root;
  picture_files::write_folder(root / "p", 4);
  distribute::data::write_bytes(root / "p/a/png.jpg", png_files::file("rgba of 16 bits"));
  const ProgramResult folder =
      train({"--dataset=folder", "--data_dir=" + (root / "p"), "--num_classes=7", "--strict"});
  INFO(folder.err);
  CHECK(folder.status == 0);
  for (const char* split : {"train", "validation"})
    for (const auto& path : picture_files::write_shards(root.path(), split, 1, 12)) {
      auto file = *distribute::io::create_file(path + ".tmp", distribute::io::Compression::Gzip);
      REQUIRE(file->append(file_text(path)).ok());
      REQUIRE(file->close().ok());
      fs::rename(path + ".tmp", path);
    }
  const ProgramResult records = train(
      {"--dataset=tfrecord", "--data_dir=" + root.path(), "--train_images=12", "--num_classes=7"});
  INFO(records.err);
  CHECK(records.status == 0);
}

TEST_CASE("workers share a validation set of fewer files than workers by its pictures",
          "[examples][resnet50][multiproc]") {
  SKIP_WITHOUT("resnet50");
  const TemporaryDirectory root;
  picture_files::write_shards(root.path(), "train", 2, 12);
  picture_files::write_shards(root.path(), "validation", 1, 12);
  const auto train_on_two = [&](const std::string& policy) {
    Words words{"run", "-np",
                "2",   "--oversubscribe",
                "--",  distribute::testing::binary_dir() + "/resnet50"};
    words =
        words + Words{"--model=resnet8",   "--image_size=16",    "--batch_size=6",
                      "--steps=2",         "--dataset=tfrecord", "--data_dir=" + root.path(),
                      "--train_images=12", "--num_classes=7",    "--auto_shard_policy=" + policy};
    return run_program("distribute", words, "OMP_NUM_THREADS=1");
  };
  for (const char* policy : {"auto", "data", "off"}) {
    const ProgramResult run = train_on_two(policy);
    INFO(policy << "\n" << run.out << run.err);
    CHECK(run.status == 0);
    CHECK_THAT(run.out, Contains("test accuracy"));
  }
  const ProgramResult by_file = train_on_two("file");
  INFO(by_file.out << by_file.err);
  CHECK(by_file.status == 1);
  CHECK_THAT(by_file.err, Contains("not enough files for the required 2 shards: there are 1"));
  CHECK(by_file.out.find("step") == std::string::npos);  // before training
}

TEST_CASE("resnet50 trains on photographs of all kinds", "[examples][resnet50][slow]") {
  SKIP_WITHOUT("resnet50");
  const auto folder = shared_data("photos");
  if (!folder) SKIP("the photographs are not there");
  const TemporaryDirectory root;
  for (const char* name : {"a", "b"}) fs::create_directories(root / ("p/" + std::string(name)));
  int count = 0;
  for (const auto& file : fs::directory_iterator(*folder)) {
    if (file.path().extension() != ".JPEG") continue;
    fs::copy(file.path(),
             root / ("p/" + std::string(count % 2 ? "a/" : "b/") + std::to_string(count) + ".jpg"));
    ++count;
  }
  const std::string whole = file_text(root / "p/a/1.jpg");
  distribute::data::write_bytes(root / "p/a/cut.jpg", whole.substr(0, whole.size() / 2));
  distribute::data::write_bytes(root / "p/b/text.jpg", "not a JPEG file at all");
  const Words flags{"--dataset=folder", "--data_dir=" + (root / "p"), "--num_classes=7",
                    "--image_size=64"};
  const ProgramResult run = train(flags + Words{"--steps=12"});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.err, Contains("a/cut.jpg") && Contains("b/text.jpg"));
  CHECK(train(flags + Words{"--strict"}).status == 1);
}

TEST_CASE("resnet50 trains on records in the form of TensorFlow Datasets by flags",
          "[examples][resnet50]") {
  SKIP_WITHOUT("resnet50");
  const Words cassava{"--dataset=tfrecord",
                      "--data_dir=" + distribute::testing::source_dir() + "/tests/data/tfds",
                      "--train_files=cassava-train.tfrecord-*",
                      "--validation_files=cassava-validation.tfrecord-*",
                      "--image_key=image",
                      "--label_key=label",
                      "--label_offset=0",
                      "--num_classes=5",
                      "--train_images=6"};
  const ProgramResult run = train(cassava);
  INFO(run.out << run.err);
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("test accuracy"));
  // With ImageNet's offset of 1 the first class would be -1.
  Words wrong = cassava;
  wrong[6] = "--label_offset=1";
  const ProgramResult refused = train(wrong);
  CHECK(refused.status == 1);
  CHECK_THAT(refused.err, Contains("label"));
  check_one_line(train({"--dataset=synthetic", "--image_key=image"}), 2,
                 "--image_key is for --dataset=tfrecord");
}
