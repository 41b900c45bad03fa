#include "longtail/study/trainer.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "longtail/base/error.h"
#include "longtail/base/file.h"
#include "longtail/base/hash.h"
#include "longtail/base/text.h"
#include "longtail/study/grid.h"
#include "longtail/train/config.h"

namespace longtail::study {
namespace {

namespace fs = std::filesystem;
using base::fail;
using Clock = std::chrono::steady_clock;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kLook(100);
constexpr seconds kGrace(20);  // between asking a trainer to stop and killing it
constexpr std::size_t kLastWords = 600;
constexpr int kCannotStart = 127;

// A parameter as JSON, with its type in the parameter table.
json typed(const base::ParamInfo& info, const std::string& text) {
  if (info.type == "integer") return base::parse_integer(text).value_or(0);
  if (info.type == "real") return base::parse_real(text).value_or(0);
  if (info.type == "switch") return text == "true";
  if (info.type != "integers") return text;
  json list = json::array();
  if (!text.empty()) {
    for (const std::string& part : base::split(text, ','))
      list.push_back(base::parse_integer(part).value_or(0));
  }
  return list;
}

std::vector<std::string> filled(const PlannedRun& run, const TrainerCall& call) {
  const std::map<std::string, std::string> words = {{"{config}", (call.folder / "config.json").string()},
                                                    {"{run}", call.folder.string()},
                                                    {"{data}", call.data},
                                                    {"{threads}", fmt::format("{}", call.threads)}};
  std::vector<std::string> command = run.trainer->command;
  for (std::string& argument : command) {
    for (const auto& [word, value] : words) {
      for (auto at = argument.find(word); at != std::string::npos;
           at = argument.find(word, at + value.size()))
        argument.replace(at, word.size(), value);
    }
  }
  return command;
}

// The processes whose parent is this one.
std::vector<pid_t> children() {
  std::vector<pid_t> all;
  std::error_code error;
  for (const auto& thread : fs::directory_iterator("/proc/self/task", error)) {
    std::ifstream list(thread.path() / "children");
    for (pid_t pid = 0; list >> pid;) all.push_back(pid);
  }
  return all;
}

// Runs the trainer in its own process group, so that the processes it starts can be stopped with it. Those in
// other groups become children of this process when all processes in between have ended, and are killed then.
class Process {
 public:
  Process(std::vector<std::string> command, const fs::path& output) {
    std::vector<char*> arguments;
    arguments.reserve(command.size() + 1);
    for (std::string& argument : command) arguments.push_back(argument.data());
    arguments.push_back(nullptr);
    const int out = ::open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (out < 0) fail<base::StorageError>("cannot write {}: {}", output.string(), std::strerror(errno));
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // see all_ended() and kill_orphans()
    others_ = children();
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ == 0) become(arguments.data(), out, parent);
    const int error = errno;
    ::close(out);
    if (pid_ < 0) fail<base::StorageError>("cannot start a process: {}", std::strerror(error));
    ::setpgid(pid_, pid_);  // in parent and child, whichever runs first
  }
  ~Process() {
    if (status_) return;
    ::kill(-pid_, SIGKILL);
    reap(true);
    kill_orphans();
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  bool ended() {
    if (!reap(false)) return false;
    ::kill(-pid_, SIGKILL);  // processes it left running
    kill_orphans();
    return true;
  }
  // Asks the whole group to end, and kills what is left of it after a while. The command may be a wrapper
  // that ends long before the program it started.
  void stop() {
    ::kill(-pid_, SIGTERM);
    for (const auto start = Clock::now(); !all_ended();) {
      if (Clock::now() - start >= kGrace) {
        ::kill(-pid_, SIGKILL);
        break;
      }
      std::this_thread::sleep_for(kLook);
    }
    reap(true);
    kill_orphans();
  }
  // "" after exit code 0, else what happened.
  std::string ending() const {
    if (WIFSIGNALED(*status_))
      return fmt::format("was killed by signal {} ({})", WTERMSIG(*status_), ::strsignal(WTERMSIG(*status_)));
    const int code = WEXITSTATUS(*status_);
    if (code == kCannotStart) return "could not be started (exit code 127)";
    return code == 0 ? "" : fmt::format("ended with exit code {}", code);
  }

 private:
  [[noreturn]] static void become(char* const* arguments, int out, pid_t parent) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(kCannotStart);
    for (const int signal : {SIGINT, SIGTERM, SIGPIPE})
      ::signal(signal, SIG_DFL);  // SIGHUP stays as `nohup` set it
    const int null = ::open("/dev/null", O_RDONLY);
    if (null >= 0) ::dup2(null, STDIN_FILENO);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    ::execvp(arguments[0], arguments);
    ::_exit(kCannotStart);
  }
  // Whether the command itself has ended.
  bool reap(bool block) {
    int status = 0;
    while (!status_) {
      const pid_t got = ::waitpid(pid_, &status, block ? 0 : WNOHANG);
      if (got == pid_) {
        status_ = status;
      } else if (got == 0 || errno != EINTR) {
        break;
      }
    }
    return status_.has_value();
  }
  // Whether no process of the group is left. A process that has ended counts until its parent has waited for
  // it; orphans of the command become our children.
  bool all_ended() {
    if (!reap(false)) return false;
    while (::waitpid(-pid_, nullptr, WNOHANG) > 0) continue;
    return ::kill(-pid_, 0) != 0 && errno == ESRCH;
  }
  // Kills processes that the command started in other sessions (as torchrun does) and left behind. Those
  // whose parent is killed here are found in the next round.
  void kill_orphans() const {
    for (bool found = true; found;) {
      found = false;
      for (const pid_t pid : children()) {
        if (std::find(others_.begin(), others_.end(), pid) != others_.end()) continue;
        found = true;
        ::kill(pid, SIGKILL);
        while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
      }
    }
  }

  pid_t pid_ = -1;
  std::vector<pid_t> others_;  // children of this process from before
  std::optional<int> status_;
};

// The last lines of the output since `from`, on one line.
std::string last_words(const fs::path& output, std::uintmax_t from) {
  const std::string all = base::read_text(output);
  std::string text = all.substr(std::min<std::size_t>(from, all.size()));
  if (text.size() > kLastWords) text.erase(0, text.size() - kLastWords);
  std::vector<std::string> lines;
  for (const std::string& line : base::split(base::to_utf8(text), '\n')) {
    if (!base::trim(line).empty()) lines.emplace_back(base::trim(line));
  }
  return lines.empty() ? "" : ": " + base::join(lines, " | ");
}

// Reports epochs as they appear in log.json. A log that cannot be read now is judged when the trainer has
// ended.
class LogWatch {
 public:
  explicit LogWatch(const TrainerCall& call) : call_(call), path_(call.folder / "log.json") { look(); }
  void look() {
    std::error_code error;
    const auto time = fs::last_write_time(path_, error);
    if (error || time == seen_) return;
    seen_ = time;
    try {
      const train::RunLog log = train::read_log(path_);
      if (log.epochs() > epochs_ && call_.on_log) call_.on_log(log);
      epochs_ = log.epochs();
    } catch (const base::Error&) {
    }
  }
  int epochs() const { return epochs_; }

 private:
  const TrainerCall& call_;
  fs::path path_;
  fs::file_time_type seen_{};
  int epochs_ = 0;
};

// Whether a failed call was in fact stopped along with the study. A stop of the whole job (a reboot,
// `systemctl stop`, Slurm) reaches the trainer too, perhaps before this process.
bool stopped_with_study(const TrainerCall& call) {
  if (!call.should_stop) return false;
  if (call.should_stop()) return true;
  std::this_thread::sleep_for(kLook);
  return call.should_stop();
}

// Makes one call; returns what went wrong, or "".
std::string call_once(const PlannedRun& run, const TrainerCall& call, LogWatch& watch) {
  const fs::path output = call.folder / "output.txt";
  std::error_code error;
  const auto before = fs::exists(output, error) ? fs::file_size(output) : 0;
  Process process(filled(run, call), output);
  const auto start = Clock::now();
  while (!process.ended()) {
    if (call.should_stop && call.should_stop()) {
      process.stop();
      throw base::Interrupted("stopped");
    }
    if (run.trainer->seconds > 0 &&
        Clock::now() - start > std::chrono::duration<double>(run.trainer->seconds)) {
      process.stop();
      return fmt::format("the trainer was not done within {} (`time_limit`) and was stopped{}",
                         base::duration(run.trainer->seconds), last_words(output, before));
    }
    watch.look();
    std::this_thread::sleep_for(kLook);
  }
  watch.look();
  const std::string ending = process.ending();
  return ending.empty() ? "" : fmt::format("the trainer {}{}", ending, last_words(output, before));
}

}  // namespace

std::string trainer_hash(const PlannedRun& run) {
  std::string text;
  for (const std::string& line : base::split(train::config_identity(run.config), '\n')) {
    if (!line.empty() && !line.starts_with("engine=")) text += line + "\n";
  }
  text += "trainer.command=" + json(run.trainer->command).dump() + "\n";
  for (const auto& [key, value] : run.trainer->params)
    text += fmt::format("trainer.params.{}={}\n", key, value);
  return base::sha256(text);
}

std::string config_json(const PlannedRun& run, const std::string& data, int threads) {
  json config = json::object(), params = json::object();
  for (const auto& entry : train::run_params().entries()) {
    if (entry.info.section == "run" || entry.info.name == "engine") continue;
    config[entry.info.name] = typed(entry.info, entry.get(run.config));
  }
  for (const auto& [key, value] : run.trainer->params) params[key] = json::parse(value);
  const json object = {{"schema", 1},      {"name", run.name}, {"hash", run.hash},  {"config", config},
                       {"params", params}, {"data", data},     {"threads", threads}};
  return object.dump(1) + "\n";
}

void check_trainer_log(const PlannedRun& run, const train::RunLog& log) {
  const auto compare = [](const char* field, const auto& has, const auto& wants) {
    if (has != wants)
      fail("the log is not of this run: its `{}` is `{}`, the run's is `{}`", field, has, wants);
  };
  if (log.schema != train::kLogSchema)
    fail("the log has no `schema`: write {} (docs/log.schema.json), or use longtail.RunLog",
         train::kLogSchema);
  compare("strategy", log.strategy, run.config.strategy);
  compare("seed", log.seed, run.config.seed);
  compare("dataset", log.dataset, run.config.dataset);
  compare("fingerprint.protocol", log.fingerprint.protocol, run.hash);
  if (log.finished) compare("number of epochs", log.epochs(), run.config.epochs);
}

namespace {

// Whether the trainer has finished the run, but the process that called it ended before recording that.
bool is_finished(const PlannedRun& run, const fs::path& log_file) {
  try {
    const train::RunLog log = train::read_log(log_file);
    check_trainer_log(run, log);
    return log.finished;
  } catch (const base::StorageError&) {
    throw;
  } catch (const base::Error&) {
    return false;  // no log, or one that the trainer will replace
  }
}

}  // namespace

void run_trainer(const PlannedRun& run, const TrainerCall& call) {
  base::write_atomically(call.folder / "config.json", config_json(run, call.data, call.threads));
  const fs::path path = call.folder / "log.json";
  LogWatch watch(call);
  if (is_finished(run, path)) return;
  for (int failures = 0;;) {
    const int before = watch.epochs();
    std::string wrong = call_once(run, call, watch);
    if (wrong.empty()) {
      if (!fs::exists(path)) {
        if (stopped_with_study(call)) throw base::Interrupted("stopped");
        fail("the trainer ended with exit code 0, but wrote no log.json into {}", call.folder.string());
      }
      const train::RunLog log = train::read_log(path);
      check_trainer_log(run, log);
      if (log.finished) return;
      if (log.epochs() > before) continue;  // it trains a part per call
      wrong = fmt::format(
          "the trainer ended with exit code 0 after {} of {} epochs, with `finished` false and no epoch more "
          "than before",
          log.epochs(), run.config.epochs);
    }
    if (stopped_with_study(call)) throw base::Interrupted("stopped");
    if (++failures > run.trainer->retries) throw base::Error(wrong);
    if (call.on_note)
      call.on_note(fmt::format("{}; it is called again, {} of {}", wrong, failures, run.trainer->retries));
  }
}

}  // namespace longtail::study
