#include "webdriver.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <vector>

#include "longtail/base/file.h"

namespace longtail::test {
namespace {

using nlohmann::json;

std::size_t append(char* data, std::size_t size, std::size_t count, void* target) {
  static_cast<std::string*>(target)->append(data, size * count);
  return size * count;
}

}  // namespace

std::optional<std::string> find_program(const std::string& name) {
  const char* path = ::getenv("PATH");
  std::string rest = path ? path : "/usr/bin";
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = rest.substr(0, end) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.erase(0, end + 1);
  }
  return std::nullopt;
}

Browser::Browser(const std::string& chromedriver, const std::string& chromium) {
  std::string name = (std::filesystem::temp_directory_path() / "longtail-browser-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder for the browser");
  folder_ = name;
  const std::string words = (folder_ / "driver.txt").string();
  std::string program = chromedriver, port = "--port=0";
  char* arguments[] = {program.data(), port.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, words.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  const int failed = ::posix_spawn(&driver_, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + chromedriver);
  // ChromeDriver chooses a free port and says which.
  for (int wait = 0; wait < 300 && address_.empty(); ++wait) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    const std::string said = base::read_text(words);
    const std::size_t at = said.find("successfully on port ");
    if (at != std::string::npos && said.find('.', at) != std::string::npos) {
      address_ = "http://127.0.0.1:" + std::to_string(std::atoi(said.c_str() + at + 21));
    }
  }
  try {
    if (address_.empty()) throw std::runtime_error("ChromeDriver did not start: " + base::read_text(words));
    const json options = {{"binary", chromium},
                          {"args",
                           {"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic",
                            "--no-first-run", "--disable-background-networking", "--disable-component-update",
                            "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
                            "--user-data-dir=" + (folder_ / "profile").string()}}};
    session_ = call("POST", "/session",
                    {{"capabilities",
                      {{"alwaysMatch",
                        {{"goog:chromeOptions", options},
                         {"timeouts", {{"script", 240000}}},  // a busy machine is no fault of the page
                         {"goog:loggingPrefs", {{"browser", "ALL"}}}}}}}})["sessionId"];
  } catch (...) {
    stop();
    throw;
  }
}

Browser::~Browser() {
  try {
    call("DELETE", "/session/" + session_);
  } catch (const std::exception&) {
    // the driver is ended below in any case
  }
  stop();
}

void Browser::stop() {
  ::kill(driver_, SIGTERM);
  ::waitpid(driver_, nullptr, 0);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

json Browser::call(const std::string& method, const std::string& path, const json& body) {
  CURL* handle = ::curl_easy_init();
  std::string answer;
  const std::string url = address_ + path,
                    text = method == "POST" ? (body.is_null() ? "{}" : body.dump()) : "";
  curl_slist* headers = ::curl_slist_append(nullptr, "Content-Type: application/json");
  ::curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  ::curl_easy_setopt(handle, CURLOPT_NOPROXY, "*");
  ::curl_easy_setopt(handle, CURLOPT_CUSTOMREQUEST, method.c_str());
  ::curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers);
  if (method == "POST") ::curl_easy_setopt(handle, CURLOPT_POSTFIELDS, text.c_str());
  ::curl_easy_setopt(handle, CURLOPT_TIMEOUT, 300L);
  ::curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &append);
  ::curl_easy_setopt(handle, CURLOPT_WRITEDATA, &answer);
  const CURLcode code = ::curl_easy_perform(handle);
  ::curl_slist_free_all(headers);
  ::curl_easy_cleanup(handle);
  if (code != CURLE_OK) throw std::runtime_error(path + ": " + ::curl_easy_strerror(code));
  const json value = json::parse(answer)["value"];
  if (value.is_object() && value.contains("error"))
    throw std::runtime_error(path + ": " + value["message"].get<std::string>());
  return value;
}

void Browser::open(const std::string& url) { call("POST", "/session/" + session_ + "/url", {{"url", url}}); }

json Browser::run(const std::string& script) {
  return call("POST", "/session/" + session_ + "/execute/sync",
              {{"script", script}, {"args", json::array()}});
}

void Browser::click(const std::string& selector) {
  run("document.querySelector(" + json(selector).dump() +
      ").scrollIntoView({block: 'center', behavior: 'instant'})");
  const json element =
      call("POST", "/session/" + session_ + "/element", {{"using", "css selector"}, {"value", selector}});
  const std::string id = element.begin().value();
  call("POST", "/session/" + session_ + "/element/" + id + "/click");
}

void Browser::pointer(json actions) {
  const json mouse = {{"type", "pointer"},
                      {"id", "mouse"},
                      {"parameters", {{"pointerType", "mouse"}}},
                      {"actions", std::move(actions)}};
  call("POST", "/session/" + session_ + "/actions", {{"actions", json::array({mouse})}});
}

void Browser::hover(double x, double y) {
  const auto move = [](double to_x, double to_y) {
    return json{{"type", "pointerMove"}, {"duration", 0}, {"x", std::lround(to_x)}, {"y", std::lround(to_y)}};
  };
  pointer(json::array({move(x + 3, y + 3), move(x, y)}));
}

void Browser::drag(double x1, double y1, double x2, double y2) {
  const auto move = [](double x, double y) {
    return json{{"type", "pointerMove"}, {"duration", 20}, {"x", std::lround(x)}, {"y", std::lround(y)}};
  };
  pointer(json::array({move(x1, y1),
                       {{"type", "pointerDown"}, {"button", 0}},
                       move((x1 + x2) / 2, y1),
                       move(x2, y2),
                       {{"type", "pointerUp"}, {"button", 0}}}));
}

json Browser::devtools(const std::string& command, const json& parameters) {
  return call("POST", "/session/" + session_ + "/goog/cdp/execute",
              {{"cmd", command}, {"params", parameters}});
}

void Browser::resize(int width, int height) {
  devtools("Emulation.setDeviceMetricsOverride",
           {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", width < 600}});
}

json Browser::console() { return call("POST", "/session/" + session_ + "/se/log", {{"type", "browser"}}); }

void Browser::screenshot(const std::filesystem::path& path) {
  const std::string text =
      devtools("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}})["data"];
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (char c : text) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string::npos) break;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if ((count += 6) >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 0xFF);
  }
  base::write_atomically(path, bytes);
}

}  // namespace longtail::test
