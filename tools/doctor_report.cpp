#include "doctor_report.hpp"

#include <array>
#include <cstdio>

namespace distribute_tools {

namespace {

const char* word(Mark mark) {
  constexpr const char* words[] = {"ok", "note", "WARN", "FAIL"};
  return words[int(mark)];
}

std::string formatted(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

}  // namespace

std::string bytes_text(double bytes) {
  constexpr std::array units = {"bytes", "KB", "MB", "GB", "TB"};
  size_t unit = 0;
  for (; bytes >= 1000 && unit + 1 < units.size(); ++unit) bytes /= 1000;
  return formatted(bytes < 10 && unit > 0 ? "%.1f " : "%.0f ", bytes) + units[unit];
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return formatted("%.0f us", seconds * 1e6);
  if (seconds < 0.1) return formatted("%.1f ms", seconds * 1e3);
  return formatted(seconds < 10 ? "%.2f s" : "%.0f s", seconds);
}

bool DoctorReport::healthy() const { return failures().empty(); }

std::vector<std::string> DoctorReport::failures() const {
  std::vector<std::string> all;
  for (const Finding& finding : findings_)
    if (finding.mark == Mark::Failure)
      all.push_back(finding.section + ": " + finding.name + ": " + finding.text);
  return all;
}

std::string DoctorReport::text(bool brief) const {
  std::string text, section;
  for (const Finding& finding : findings_) {
    const bool own = finding.section == "cluster" || finding.section == "reachability" ||
                     finding.section == "host";
    const bool well = finding.mark == Mark::Ok || finding.mark == Mark::Note;
    if (brief && well && !own) continue;
    if (finding.section != section) text += finding.section + "\n";
    section = finding.section;
    char start[64];
    std::snprintf(start, sizeof start, "  %-4s  %-15s ", word(finding.mark), finding.name.c_str());
    text += start + finding.text + "\n";
  }
  return text;
}

nlohmann::ordered_json DoctorReport::json() const {
  auto list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings_) {
    nlohmann::ordered_json one = {{"section", finding.section},
                                  {"name", finding.name},
                                  {"mark", word(finding.mark)},
                                  {"text", finding.text}};
    if (!finding.data.is_null()) one["data"] = finding.data;
    list.push_back(std::move(one));
  }
  return {{"healthy", healthy()}, {"findings", std::move(list)}};
}

}  // namespace distribute_tools
