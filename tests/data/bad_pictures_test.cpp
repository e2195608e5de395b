#include <distribute/data/pictures.hpp>

#include <distribute/base/error.hpp>

#include <tests/support/catch.hpp>

using distribute::data::BadPictures;

TEST_CASE("bad pictures are counted, and the first ten keep their reasons", "[data][pictures]") {
  BadPictures bad;
  CHECK(bad.summary().empty());
  bad.add("a.jpg: cut off");
  CHECK(bad.summary() == "1 picture could not be decoded and was left out: a.jpg: cut off");
  for (int i = 0; i < 11; ++i) bad.add(distribute::str_cat(i));
  CHECK(bad.count() == 12);
  CHECK(bad.first_reasons().size() == 10);
  CHECK(bad.summary() ==
        "12 pictures could not be decoded and were left out: a.jpg: cut off; 0; 1; 2; 3; 4; 5; 6; "
        "7; 8; ...");
}

TEST_CASE("threads may count at the same time", "[data][pictures]") {
  BadPictures bad;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) bad.add("x");
    });
  for (auto& thread : threads) thread.join();
  CHECK(bad.count() == 3000);
}
