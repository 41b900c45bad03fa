#include "longtail/report/keys.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <utility>

#include "longtail/base/hash.h"
#include "longtail/sampling/shown.h"

namespace longtail::report {
namespace {

std::string ratio_text(double rho) { return fmt::format("{:g}", rho); }
std::string after(const std::string& data) { return data.empty() ? "" : data + ", "; }

}  // namespace

Series::Series(std::string strategy, std::string beside)
    : strategy_(std::move(strategy)),
      beside_(std::move(beside)),
      text_(beside_.empty() ? strategy_ : strategy_ + " (" + beside_ + ")") {}

std::string Series::title() const {
  if (!name_.empty()) return name_;
  const std::string title = sampling::strategy_title(strategy_);
  const std::string own = strategy_.substr(sampling::strategy_name(strategy_).size());
  if (!own.starts_with(':')) return title + own + (beside_.empty() ? "" : " (" + beside_ + ")");
  // Parameters of the strategy and of the run share one pair of brackets.
  return title + " (" + own.substr(1) + (beside_.empty() ? "" : ", " + beside_) + ")";
}

std::string Series::label() const {
  constexpr std::size_t kLongest = 52;
  std::string whole = title();
  if (whole.size() <= kLongest) return whole;
  std::size_t end = kLongest - 1;
  while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xC0) == 0x80) --end;  // split no character
  return whole.substr(0, end) + "…";
}

std::string Series::words() const {
  if (!name_.empty()) return name_;
  std::string words = title();
  for (std::size_t i = 0; i < sampling::strategy_name(strategy_).size(); ++i)
    words[i] = static_cast<char>(std::tolower(static_cast<unsigned char>(words[i])));
  return words;
}

std::string Series::slug() const { return slug_of(text_); }

Condition::Condition(std::string data, double rho)
    : rho_(std::strtod(ratio_text(rho).c_str(), nullptr)),
      text_(after(data) + ratio_text(rho)),
      data_(std::move(data)) {}

std::string Condition::phrase() const { return after(data_) + "ρ = " + ratio_text(rho_); }

std::string Condition::slug() const {
  if (!slug_.empty()) return slug_;
  return (data_.empty() ? "" : slug_of(data_) + "_") + "rho" + slug_of(ratio_text(rho_));
}

std::string slug_of(std::string_view words) {
  std::string out;
  for (char c : words) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      out += c;
    } else if (!out.empty() && out.back() != '_') {
      out += '_';
    }
  }
  constexpr std::size_t kLongest = 80;  // file systems limit names to 255 bytes
  if (out.size() > kLongest) out = out.substr(0, kLongest - 9) + "_" + base::sha256(words).substr(0, 8);
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

std::string untaken(const std::string& name, std::set<std::string>& taken) {
  std::string own = name;
  for (int number = 2; !taken.insert(own).second; ++number) own = fmt::format("{}_{}", name, number);
  return own;
}

void give_slugs(std::span<Condition> conditions) {
  std::set<std::string> taken;
  // In the order of the tables: the most imbalanced condition first.
  for (auto one = conditions.rbegin(); one != conditions.rend(); ++one)
    one->file_under(untaken(one->slug(), taken));
}

}  // namespace longtail::report
