#include <distribute/data/example.hpp>
#include <distribute/data/pictures.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/data/picture_support.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/run_program.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>

#include <nlohmann/json.hpp>

using namespace distribute;
using Json = nlohmann::json;

namespace {

/// Classes "cat" with 3 and "dog" with 4 pictures, and a file that is none in "dog".
void make_folder(const TemporaryDirectory& root) {
  int phase = 0;
  for (const auto& [name, count] : {std::pair{"cat", 3}, std::pair{"dog", 4}}) {
    std::filesystem::create_directories(root / ("in/" + std::string(name)));
    for (int i = 0; i < count; ++i)
      data::write_bytes(root / str_cat("in/", name, "/", i, ".jpg"),
                        data::encode_jpeg(data::gradient_image(20 + i, 30, 3, phase++)));
  }
  data::write_bytes(root / "in/dog/bad.jpg", "no picture");
}

ProgramResult write_shards(const TemporaryDirectory& root, std::vector<std::string> more) {
  std::vector<std::string> words = {"data",      "tfrecord",     "--input_dir",
                                    root / "in", "--output_dir", root / "out"};
  words.insert(words.end(), more.begin(), more.end());
  return run_program("distribute", words);
}

std::vector<int64_t> labels_of(const std::string& directory) {
  std::vector<int64_t> labels;
  data::PictureRecordOptions options{.pictures = {.strict = true}};
  options.pictures.transform.image_size = 8;
  options.files.num_parallel_reads = 1;
  for (const auto& element : data::load_imagenet(directory, data::PictureSplit::Train, options))
    labels.push_back(element.y.item<int64_t>());
  return labels;
}

}  // namespace

TEST_CASE("data tfrecord writes shards that the ImageNet reader takes", "[tools][data_command]") {
  if (!data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory root;
  make_folder(root);
  const ProgramResult result = write_shards(root, {"--shards=3"});
  CHECK(result.status == 0);
  CHECK(result.out == "7 pictures of 2 classes in 3 files\n");
  CHECK_THAT(result.err, Contains("1 picture could not be decoded") && Contains("dog/bad.jpg"));
  CHECK(labels_of(root / "out") == std::vector<int64_t>{0, 0, 0, 1, 1, 1, 1});
  CHECK(*io::read_file(root / "out/labels.txt") == "cat\ndog\n");
  CHECK(std::filesystem::exists(root / "out/train-00002-of-00003"));
  const ProgramResult again = write_shards(root, {});
  CHECK(again.status == 1);
  CHECK_THAT(again.err, Contains("is there already"));
}

TEST_CASE("data tfrecord mixes the classes by a seed", "[tools][data_command]") {
  if (!data::has_jpeg()) SKIP("no libjpeg");
  std::vector<std::vector<int64_t>> orders;
  for (const char* seed : {"--seed=1", "--seed=1", "--seed=2"}) {
    const TemporaryDirectory root;
    make_folder(root);
    CHECK(write_shards(root, {"--shards=2", "--shuffle", seed}).status == 0);
    orders.push_back(labels_of(root / "out"));
  }
  CHECK(orders[0].size() == 7);
  CHECK(orders[0] == orders[1]);
  CHECK(orders[0] != orders[2]);
}

TEST_CASE("data tfrecord leaves nothing behind after an error", "[tools][data_command]") {
  if (!data::has_jpeg()) SKIP("no libjpeg");
  const TemporaryDirectory root;
  make_folder(root);
  const ProgramResult strict = write_shards(root, {"--strict"});
  CHECK(strict.status == 1);
  CHECK_THAT(strict.err, Contains("dog/bad.jpg: image_size: neither a JPEG nor a PNG file"));
  CHECK(std::filesystem::is_empty(root / "out"));
  // The header is whole, the picture is not.
  const std::string whole = data::encode_jpeg(data::gradient_image(40, 40, 3, 0));
  data::write_bytes(root / "in/dog/bad.jpg", whole.substr(0, whole.size() / 2));
  CHECK_THAT(write_shards(root, {"--strict"}).err, Contains("dog/bad.jpg: "));
  CHECK(std::filesystem::is_empty(root / "out"));
  CHECK_THAT(write_shards(root, {"--shards=9"}).err, Contains("there are only 8 pictures"));
  CHECK(write_shards(root, {"--shards=0"}).status == 2);
  CHECK(run_program("distribute", {"data", "tfrecord"}).status == 2);
  CHECK(run_program("distribute", {"data"}).status == 2);
  const ProgramResult absent = run_program(
      "distribute",
      {"data", "tfrecord", "--input_dir", root / "absent", "--output_dir", root / "out"});
  CHECK(absent.status == 1);
  CHECK_THAT(absent.err, Contains("absent"));
}

TEST_CASE("data ls tells what the records of a file hold", "[tools][data_command]") {
  const auto folder = shared_data("tf_files/tfrecord");
  if (!folder) SKIP("no reference data");
  Json first;
  for (const auto& [file, compression] :
       {std::pair{"plain.tfrecord", "none"}, std::pair{"gzip.tfrecord.gz", "gzip"},
        std::pair{"zlib.tfrecord.zlib", "zlib"}}) {
    const auto result = run_program("distribute", {"data", "ls", *folder + "/" + file, "--json"});
    CHECK(result.status == 0);
    Json json = Json::parse(result.out);
    CHECK(json["compression"] == compression);
    CHECK(json["records"] == 25);
    CHECK(json["examples"] == 25);
    if (first.is_null()) first = json["features"];
    CHECK(json["features"] == first);
  }
  const Json id = *std::find_if(first.begin(), first.end(),
                                [](const Json& feature) { return feature["name"] == "id"; });
  CHECK(id["kind"] == "int64");
  CHECK(id["records"] == 25);
  CHECK(id["max_values"] == 1);
  const auto text = run_program("distribute", {"data", "ls", *folder + "/raw_records.tfrecord"});
  CHECK(text.status == 0);
  CHECK_THAT(text.out, Contains("no tf.train.Example"));
  CHECK(run_program("distribute", {"data", "ls", *folder + "/empty.tfrecord"}).status == 0);
}

TEST_CASE("data ls shows what came before damage", "[tools][data_command]") {
  const TemporaryDirectory root;
  const std::string record = io::frame_record(data::encode_example({{"n", data::Int64List{1}}}));
  data::write_bytes(root / "cut", record + record.substr(0, 9));
  const auto result = run_program("distribute", {"data", "ls", root / "cut"});
  CHECK(result.status == 1);
  CHECK_THAT(result.out, Contains("1 records"));
  CHECK_THAT(result.err, Contains("record 1 at offset") && Contains("is cut off"));
  CHECK(run_program("distribute", {"data", "ls", root / "absent"}).status == 1);
}
