#include <distribute/data/pictures.hpp>

#include <distribute/base/status.hpp>
#include <distribute/data/distribute_options.hpp>
#include <distribute/data/example.hpp>
#include <distribute/io/file_system.hpp>
#include <distribute/io/tfrecord.hpp>

#include <tests/data/cifar_files.hpp>
#include <tests/data/picture_support.hpp>
#include <tests/data/png_files.hpp>
#include <tests/support/catch.hpp>
#include <tests/support/check_throws.hpp>
#include <tests/support/shared_data.hpp>
#include <tests/support/temporary_directory.hpp>

using namespace distribute;
using namespace distribute::data;

namespace {

PictureOptions small(PictureOptions options) {
  options.transform.image_size = 16;
  return options;
}

void make_folder(const std::string& root, const std::string& name, int count, double phase) {
  if (!has_jpeg()) SKIP("no libjpeg");
  REQUIRE(value_or_throw(io::file_system_for(root))->make_dirs(root + "/" + name).ok());
  for (int i = 0; i < count; ++i)
    write_bytes(str_cat(root, "/", name, "/", i, i % 2 ? ".jpg" : ".JPEG"),
                encode_jpeg(gradient_image(40 + i, 50, 3, phase + i)));
}

/// Two shards with five pictures each, labels 0 to 9 plus `offset`.
std::vector<std::string> make_shards(const std::string& root, int64_t offset = 0,
                                     int64_t shards = 2) {
  if (!has_jpeg()) SKIP("no libjpeg");
  std::vector<std::string> paths;
  int64_t label = offset;
  for (int64_t shard = 0; shard < shards; ++shard) {
    paths.push_back(str_cat(root, "/train-0000", shard, "-of-0000", shards));
    auto writer = value_or_throw(io::RecordWriter::create(paths.back()));
    for (int i = 0; i < 5; ++i, ++label)
      REQUIRE(writer
                  .write(encode_example({{"image/encoded", BytesList{encode_jpeg(gradient_image(
                                                               30, 20, 3, double(label)))}},
                                         {"image/class/label", Int64List{label}}}))
                  .ok());
    REQUIRE(writer.close().ok());
  }
  return paths;
}

std::vector<int64_t> labels_of(const Dataset& dataset) {
  std::vector<int64_t> labels;
  for (const Batch& element : dataset) labels.push_back(element.y.item<int64_t>());
  return labels;
}

/// Pictures by label.
std::map<int64_t, std::vector<float>> pictures_of(const Dataset& dataset) {
  std::map<int64_t, std::vector<float>> pictures;
  for (const Batch& element : dataset) pictures[element.y.item<int64_t>()] = element.x.to_vector();
  return pictures;
}

}  // namespace

TEST_CASE("a folder of pictures is read in order, class by class", "[data][pictures]") {
  const TemporaryDirectory root;
  make_folder(root.path(), "dog", 3, 0);
  make_folder(root.path(), "cat", 2, 1);
  const Dataset dataset = picture_folder(root.path(), small({.strict = true}));
  CHECK(labels_of(dataset) == std::vector<int64_t>{0, 0, 1, 1, 1});
  CHECK(dataset.cardinality() == 5);
  CHECK(picture_folder(root.path(), small({})).cardinality() == kUnknownCardinality);
  CHECK(dataset.iterator().next().x.shape() == Shape{16, 16, 3});
  CHECK(dataset.element_spec() == ElementSpec{{{16, 16, 3}, DType::Float32}, {{}, DType::Int64}});
}

TEST_CASE("bad pictures are left out and counted, or an error with strict", "[data][pictures]") {
  const TemporaryDirectory root;
  make_folder(root.path(), "a", 4, 0);
  const std::string good = *io::read_file(root / "a/1.jpg");
  write_bytes(root / "a/1.jpg", good.substr(0, good.size() / 2));
  write_bytes(root / "a/5.jpg", "not a JPEG file at all");
  write_bytes(root / "a/6.jpg", "");
  const auto bad = std::make_shared<BadPictures>();
  CHECK(labels_of(picture_folder(root.path(), small({.bad_pictures = bad}))).size() == 3);
  CHECK(bad->count() == 3);
  CHECK(bad->first_reasons().size() == 3);
  CHECK_THAT(bad->summary(), Contains("3 pictures could not be decoded"));
  CHECK_THAT(bad->summary(), Contains("a/5.jpg"));
  const Dataset strict = picture_folder(root.path(), small({.strict = true}));
  CHECK_THROWS_SAYING(labels_of(strict), InvalidArgumentError, "a/1.jpg");
}

TEST_CASE("a pass of which no picture can be decoded says how many and why", "[data][pictures]") {
  const TemporaryDirectory root;
  make_folder(root.path(), "a", 3, 0);
  const auto names = list_image_folder(root.path()).paths;
  REQUIRE(names.size() == 3);
  write_bytes(names[0], "GIF89a and so on");
  write_bytes(names[1], "a text");
  write_bytes(names[2], "");
  const Dataset none = picture_folder(root.path(), small({}));
  for (const Dataset& dataset : {none, none.repeat(), none.batch(2), none.batch(2).prefetch()}) {
    const std::string said = [&] {
      try {
        return dataset.iterator().next(), std::string();
      } catch (const InvalidArgumentError& error) {
        return std::string(error.what());
      }
    }();
    CHECK_THAT(said, Contains("no picture that can be decoded") &&
                         Contains("pictures could not be decoded and were") && Contains(names[0]) &&
                         Contains("it is a GIF file; convert it to JPEG or PNG") &&
                         Contains(names[1]));
  }
  CHECK_THROWS_AS(none.iterator().next(),
                  InvalidArgumentError);  // also with what was counted before
}

TEST_CASE("threads and workers change no picture of training", "[data][pictures]") {
  const TemporaryDirectory root;
  const auto paths = make_shards(root.path());
  const auto make = [&](int64_t threads) {
    return picture_records(
        paths,
        {.pictures = small({.training = true, .seed = 5, .num_threads = threads, .strict = true}),
         .shuffle_buffer = 4});
  };
  const Dataset one = make(1);
  const auto order = labels_of(one);
  const auto second = pictures_of(one);
  CHECK(order.size() == 10);
  CHECK(std::set<int64_t>(order.begin(), order.end()).size() == 10);
  for (int64_t threads : {2, 5}) {
    const Dataset other = make(threads);
    CHECK(labels_of(other) == order);
    CHECK(pictures_of(other) == second);
  }
  const auto first = pictures_of(make(2));
  CHECK(first != second);
  std::map<int64_t, std::vector<float>> shared;
  for (int64_t worker = 0; worker < 2; ++worker)
    shared.merge(
        pictures_of(Dataset(auto_shard(make(2).node(), 2, worker, AutoShardPolicy::File))));
  CHECK(shared == first);
}

TEST_CASE("every pass of training has its own order", "[data][pictures]") {
  const TemporaryDirectory root;
  make_folder(root.path(), "a", 9, 0);
  make_folder(root.path(), "b", 9, 0);
  const auto make = [&] {
    return picture_folder(root.path(), small({.training = true, .seed = 1}));
  };
  const Dataset dataset = make();
  const auto first = labels_of(dataset), second = labels_of(dataset);
  CHECK(first != second);
  auto both = first;
  both.insert(both.end(), second.begin(), second.end());
  CHECK(labels_of(make().repeat(2)) == both);
}

TEST_CASE("resuming in the middle of an epoch repeats and loses no picture", "[data][pictures]") {
  const TemporaryDirectory root;
  const auto paths = make_shards(root.path(), 0, 4);
  const auto make = [&](int64_t threads) {
    return picture_records(
               paths, {.pictures = small(
                           {.training = true, .seed = 3, .num_threads = threads, .strict = true}),
                       .shuffle_buffer = 6})
        .repeat(2)
        .batch(3)
        .prefetch(2);
  };
  const Dataset dataset = make(2);
  std::vector<std::vector<float>> all;
  std::vector<Tensor> states;
  for (Iterator it = dataset.iterator();;) {
    states.push_back(it.state());
    const auto batch = it.get_next_as_optional();
    if (!batch) break;
    all.push_back(batch->x.to_vector());
  }
  REQUIRE(all.size() == 14);
  for (size_t i = 0; i < states.size(); ++i) {
    const Dataset fresh = make(i % 3 + 1);
    Iterator it = fresh.iterator();
    it.restore(states[i]);
    for (size_t k = i; k < all.size(); ++k) CHECK(it.next().x.to_vector() == all[k]);
    CHECK(!it.get_next_as_optional());
  }
}

TEST_CASE("three workers see every picture once, by files or by elements", "[data][pictures]") {
  const TemporaryDirectory root;
  const auto paths = make_shards(root.path(), 0, 4);
  const auto make = [&](AutoShardPolicy policy) {
    Options options;
    options.experimental_distribute.auto_shard_policy = policy;
    return picture_records(paths, {.pictures = small({.training = true, .strict = true})})
        .batch(6)
        .with_options(options);
  };
  for (auto policy : {AutoShardPolicy::File, AutoShardPolicy::Auto, AutoShardPolicy::Data}) {
    std::vector<int64_t> seen;
    for (int64_t worker = 0; worker < 3; ++worker) {
      const WorkerShare share{.num_workers = 3, .worker_index = worker, .num_replicas_in_sync = 3};
      for (const Batch& piece : Dataset(dataset_for_worker(make(policy).node(), share)))
        for (int64_t label : piece.y.data<int64_t>()) seen.push_back(label);
    }
    std::sort(seen.begin(), seen.end());
    std::vector<int64_t> all(20);
    std::iota(all.begin(), all.end(), 0);
    CHECK(seen == all);
  }
}

TEST_CASE("statistics tell what was read, decoded and left out", "[data][pictures]") {
  const TemporaryDirectory root;
  make_folder(root.path(), "a", 5, 0);
  write_bytes(root / "a/9.jpg", "not a picture");
  const auto statistics = std::make_shared<PipelineStatistics>();
  labels_of(picture_folder(root.path(), small({.statistics = statistics})));
  const auto stages = statistics->stages();
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].name == "read");
  CHECK(stages[0].elements == 6);
  CHECK(stages[1].name == "decode");
  CHECK(stages[1].elements == 5);
}

TEST_CASE("labels and features that do not fit name file and record", "[data][pictures]") {
  const TemporaryDirectory root;
  const auto paths = make_shards(root.path());
  const auto read = [&](PictureRecordOptions options) {
    options.pictures.transform.image_size = 16;
    labels_of(picture_records(paths, options));
  };
  CHECK_THROWS_SAYING(read({.pictures = {.num_classes = 7}}), InvalidArgumentError,
                      "00001-of-00002, record 2: the label is 7, expected 0 to 6");
  CHECK_THROWS_SAYING(read({.label_offset = 1}), InvalidArgumentError,
                      "00000-of-00002, record 0: the label is -1");
  CHECK_THROWS_SAYING(read({.label_key = "label"}), InvalidArgumentError,
                      "record 0: feature \"label\": wanted int64 []");
  CHECK_THROWS_SAYING(read({.files = {.with_origin = true}}), InvalidArgumentError,
                      "leave out files.with_origin");
  CHECK_THROWS_SAYING(read({.files = {.shuffle_files = true}}), InvalidArgumentError,
                      "which pictures.training sets");
}

TEST_CASE("fewer files than workers is an error, whatever asks for the files", "[data][pictures]") {
  const Dataset dataset = picture_records({"a", "b"});
  for (auto policy : {AutoShardPolicy::File, AutoShardPolicy::Auto})
    CHECK_THROWS_SAYING(auto_shard(dataset.node(), 3, 0, policy), InvalidArgumentError,
                        "not enough files for the required 3 shards: there are 2");
  CHECK_THROWS_AS(labels_of(dataset), NotFoundError);
  CHECK_THROWS_AS(load_imagenet("/nonexistent", PictureSplit::Train), NotFoundError);
}

TEST_CASE("ImageNet's labels begin at 1", "[data][pictures]") {
  const TemporaryDirectory root;
  make_shards(root.path(), 1);
  PictureRecordOptions options;
  options.pictures.transform.image_size = 16;
  options.files.num_parallel_reads = 1;
  const auto labels = labels_of(load_imagenet(root.path(), PictureSplit::Train, options));
  CHECK(labels == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("PNG pictures train beside JPEG pictures, whatever their names say", "[data][pictures]") {
  if (!has_jpeg() || !has_png()) SKIP("no libjpeg or no libpng");
  const TemporaryDirectory root;
  make_folder(root.path(), "a", 2, 0);
  const std::string png = png_files::file("palette of 8 bits");
  write_bytes(root / "a/2.jpg", png);
  write_bytes(root / "a/3.png", png);
  write_bytes(root / "a/4.png", *io::read_file(root / "a/1.jpg"));
  write_bytes(root / "a/5.png", png.substr(0, png.size() - 20));
  const auto bad = std::make_shared<BadPictures>();
  const auto load = [&](bool training, bool strict) {
    PictureOptions options{.training = training, .seed = 1, .strict = strict, .bad_pictures = bad};
    return picture_folder(root.path(), small(options));
  };
  std::vector<std::vector<float>> pictures;
  for (const Batch& element : load(false, false)) pictures.push_back(element.x.to_vector());
  REQUIRE(pictures.size() == 5);
  CHECK(pictures[2] == pictures[3]);
  CHECK(pictures[1] == pictures[4]);
  PictureTransform transform = small({}).transform;
  CHECK(pictures[2] == evaluation_picture(decode_png(png), transform).to_vector());
  CHECK(bad->count() == 1);
  CHECK_THAT(bad->summary(), Contains("a/5.png: decode_png: the PNG file ends early"));
  CHECK(labels_of(load(true, false)).size() == 5);
  CHECK_THROWS_SAYING(labels_of(load(false, true)), InvalidArgumentError, "a/5.png");
  for (const Augmentation augmentation : {Augmentation::DistortedCrop, Augmentation::PadAndCrop}) {
    transform.augmentation = augmentation;
    CHECK(training_picture(png, transform, 3).to_vector() ==
          training_picture(decode_png(png), transform, 3).to_vector());
  }
}

TEST_CASE("compressed records train without being told so", "[data][pictures]") {
  const TemporaryDirectory root;
  const auto paths = make_shards(root.path());
  PictureRecordOptions options;
  options.pictures.transform.image_size = 16;
  const auto plain = pictures_of(picture_records(paths, options));
  for (const auto compression : {io::Compression::Gzip, io::Compression::Zlib}) {
    auto writer = value_or_throw(io::RecordWriter::create(root / "compressed", compression));
    auto reader = value_or_throw(io::RecordReader::open(paths[0]));
    for (std::string record; value_or_throw(reader.next(record));)
      REQUIRE(writer.write(record).ok());
    REQUIRE(writer.close().ok());
    CHECK(pictures_of(picture_records({root / "compressed", paths[1]}, options)) == plain);
  }
}

TEST_CASE("CIFAR-10's binary files train as its records do", "[data][pictures][cifar]") {
  const TemporaryDirectory root;
  cifar_files::write_cifar10(root / "cifar-10-batches-bin", 4);
  PictureRecordOptions options{.pictures = {.training = true, .seed = 3}};
  const Dataset train = load_cifar10(root.path(), PictureSplit::Train, options);
  CHECK(train.cardinality() == 20);
  CHECK(train.element_spec() == ElementSpec{{{32, 32, 3}, DType::Float32}, {{}, DType::Int64}});
  std::vector<int64_t> labels = labels_of(train);
  CHECK(labels == labels_of(load_cifar10(root.path(), PictureSplit::Train, options)));
  CHECK(!std::is_sorted(labels.begin(), labels.end()));
  std::sort(labels.begin(), labels.end());
  CHECK(std::count(labels.begin(), labels.end(), 4) == 5);
  const Batch first = load_cifar10(root.path(), PictureSplit::Validation).iterator().next();
  CHECK(first.y.item<int64_t>() == 1);
  // The first pixel is (0, 4, 8).
  CHECK(first.x.to_vector()[1] == Approx((4 - 123.0) / 62.1));
  const TemporaryDirectory empty;
  CHECK_THROWS_SAYING(load_cifar10(empty.path(), PictureSplit::Validation), NotFoundError,
                      "has test_batch.bin; there is no such file, and no records test-*-of-*");
  std::filesystem::remove(root / "cifar-10-batches-bin/test_batch.bin");
  CHECK_THROWS_SAYING(load_cifar10(root.path(), PictureSplit::Validation), NotFoundError,
                      "test_batch.bin is missing");
}

TEST_CASE("CIFAR-100 has its fine labels", "[data][pictures][cifar]") {
  const TemporaryDirectory root;
  for (const char* name : {"train.bin", "test.bin"}) cifar_files::write(root / name, 2, true);
  CHECK(labels_of(load_cifar100(root.path(), PictureSplit::Validation)) ==
        std::vector<int64_t>{40, 41});
}

TEST_CASE("CIFAR-10 has its 10,000 test pictures, 1,000 of each class", "[data][pictures]") {
  const auto folder = shared_data("cifar10");
  if (!folder || !has_jpeg()) SKIP("no CIFAR-10 or no libjpeg");
  std::map<int64_t, int64_t> counts;
  std::array<double, 3> sums{};
  PictureRecordOptions options{.pictures = {.strict = true}};
  const Dataset test = load_cifar10(*folder, PictureSplit::Validation, options);
  for (const Batch& element : test.batch(100)) {
    for (int64_t label : element.y.data<int64_t>()) ++counts[label];
    const auto values = element.x.data<float>();
    for (size_t i = 0; i < values.size(); ++i) sums[i % 3] += double(values[i]);
  }
  REQUIRE(counts.size() == 10);
  for (const auto& [label, count] : counts) CHECK(count == 1000);
  const double pixels = 10'000 * 32 * 32;  // means from the data's README
  CHECK(sums[0] / pixels * 63.0 + 125.3 == Approx(124.86).margin(0.05));
  CHECK(sums[1] / pixels * 62.1 + 123.0 == Approx(123.71).margin(0.05));
  CHECK(sums[2] / pixels * 66.7 + 113.9 == Approx(113.55).margin(0.05));
}

TEST_CASE("photographs of all kinds are decoded", "[data][pictures]") {
  const auto folder = shared_data("photos");
  if (!folder || !has_jpeg()) SKIP("no photographs or no libjpeg");
  const TemporaryDirectory root;
  REQUIRE(value_or_throw(io::file_system_for(root.path()))->make_dirs(root / "all").ok());
  int64_t count = 0;
  auto* files = value_or_throw(io::file_system_for(*folder));
  for (const std::string& name : value_or_throw(files->list_directory(*folder))) {
    if (!name.ends_with(".JPEG")) continue;
    write_bytes(root / ("all/" + name), *io::read_file(*folder + "/" + name));
    ++count;
  }
  for (bool training : {false, true}) {
    const Dataset dataset = picture_folder(root.path(), {.training = training, .strict = true});
    CHECK(int64_t(labels_of(dataset).size()) == count);
  }
}
