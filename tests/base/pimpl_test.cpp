#include <distribute/base/detail/pimpl.hpp>

#include "../support/catch.hpp"

namespace {

using namespace distribute;

struct Counted {
  explicit Counted(int& alive) : alive_(alive) { ++alive_; }
  ~Counted() { --alive_; }
  Counted(const Counted&) = delete;
  int& alive_;
};

TEST_CASE("a pimpl destroys what it holds once") {
  int alive = 0;
  {
    Pimpl<Counted> first(new Counted(alive));
    CHECK(alive == 1);
    Pimpl<Counted> second(std::move(first));
    CHECK_FALSE(first);
    CHECK(&second->alive_ == &alive);
    CHECK(alive == 1);
  }
  CHECK(alive == 0);
}

TEST_CASE("a pimpl that is assigned to destroys what it held, and the other one is empty") {
  int alive = 0, others = 0;
  Pimpl<Counted> target(new Counted(alive)), source(new Counted(others));
  target = std::move(source);
  CHECK(alive == 0);
  CHECK(others == 1);
  CHECK_FALSE(source);
  CHECK(&(*target).alive_ == &others);
  target = nullptr;
  CHECK(others == 0);
  CHECK(target.get() == nullptr);
}

TEST_CASE("a pimpl survives being moved into itself") {
  int alive = 0;
  Pimpl<Counted> one(new Counted(alive));
  Pimpl<Counted>& same = one;
  one = std::move(same);
  CHECK(alive == 1);
  CHECK(one);
}

}  // namespace
