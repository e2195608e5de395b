// Every test, and every run of one that generates its values, counts the names of modules anew.

#include "catch.hpp"

#include <distribute/nn/module.hpp>

#if __has_include(<catch2/catch_all.hpp>)
using CatchListenerBase = Catch::EventListenerBase;
#else
using CatchListenerBase = Catch::TestEventListenerBase;
#endif

class FreshNamesListener : public CatchListenerBase {
 public:
  using CatchListenerBase::CatchListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    CatchListenerBase::testCaseStarting(info);
    name_ = info.name;
  }
  /// A test's run is a section of its name.
  void sectionStarting(const Catch::SectionInfo& info) override {
    CatchListenerBase::sectionStarting(info);
    if (info.name == name_) distribute::nn::clear_session();
  }

 private:
  std::string name_;
};

CATCH_REGISTER_LISTENER(FreshNamesListener)
