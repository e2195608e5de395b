#pragma once
/// What `distribute doctor` has found, for people and as JSON.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace distribute_tools {

enum class Mark { Ok, Note, Warning, Failure };

/// One line: "  WARN  open files     1024 ...". A failure keeps a job from running.
struct Finding {
  std::string section, name;
  Mark mark = Mark::Ok;
  std::string text;
  nlohmann::ordered_json data = {};  // the figures in it, for programs
};

class DoctorReport {
 public:
  void add(Finding finding) { findings_.push_back(std::move(finding)); }
  void ok(const std::string& section, const std::string& name, const std::string& text,
          nlohmann::ordered_json data = {}) {
    add({section, name, Mark::Ok, text, std::move(data)});
  }

  bool healthy() const;
  /// "section/name: text" of all failures.
  std::vector<std::string> failures() const;
  /// `brief` leaves out what is well and the same for all tasks.
  std::string text(bool brief = false) const;
  nlohmann::ordered_json json() const;

 private:
  std::vector<Finding> findings_;
};

/// "1.5 GB", "64 KB"; powers of 1000.
std::string bytes_text(double bytes);
/// "12.3 us", "0.50 s".
std::string seconds_text(double seconds);

}  // namespace distribute_tools
