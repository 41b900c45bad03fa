// A small WebDriver client: starts ChromeDriver, opens a page in headless Chromium, asks and clicks. Only
// what the page's tests need.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace longtail::test {

// The program's path, if it is installed.
std::optional<std::string> find_program(const std::string& name);

class Browser {
 public:
  // Throws std::runtime_error with ChromeDriver's words if it does not start.
  Browser(const std::string& chromedriver, const std::string& chromium);
  ~Browser();
  Browser(const Browser&) = delete;
  Browser& operator=(const Browser&) = delete;

  void open(const std::string& url);
  // The value of a script's `return`.
  nlohmann::json run(const std::string& script);
  void click(const std::string& selector);
  // Moves the mouse to a point of the viewport; drag() presses, moves and releases.
  void hover(double x, double y);
  void drag(double x1, double y1, double x2, double y2);
  // A command of the DevTools protocol.
  nlohmann::json devtools(const std::string& command, const nlohmann::json& parameters);
  void resize(int width, int height);
  // What the console has said since the last time it was asked: [{level, message}, ...].
  nlohmann::json console();
  void screenshot(const std::filesystem::path& path);

 private:
  nlohmann::json call(const std::string& method, const std::string& path, const nlohmann::json& body = {});
  void pointer(nlohmann::json actions);
  void stop();

  pid_t driver_ = 0;
  std::filesystem::path folder_;
  std::string address_;
  std::string session_;
};

}  // namespace longtail::test
