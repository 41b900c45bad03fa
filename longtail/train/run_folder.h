// The folder of a run: which process works in it, and whether it belongs to the configuration at hand.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "longtail/train/checkpoint.h"
#include "longtail/train/config.h"
#include "longtail/train/run_log.h"

namespace longtail::train {

// Keeps a second process out of a folder. The lock ends with the process, however that ends.
class FolderLock {
 public:
  // Creates the folder if needed, and removes it again if it stays empty; a StorageError if another process
  // works in it. Removes the temporary files that a killed process left (remove_temporaries).
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
  std::filesystem::path made_;  // the folder, if it was not there
};

// Removes the temporary files (base::write_atomically) that killed writers of the files of a run left, and
// nothing else. The caller has the lock of the folder.
void remove_temporaries(const std::filesystem::path& folder);

// Writes the log of a finished run if it is missing or stale: the process may have been killed between the
// checkpoint, which has it, and the log.
void mend_log(const std::filesystem::path& folder, const RunLog& log);

// Whether a folder holds the run of a resolved configuration: the same parameters or, if one of them names a
// file, the same hash, because the file may have another path by now, or another content.
bool is_run(const Checkpoint& held, const RunConfig& config);
// An Error naming the parameter that differs, unless is_run().
void refuse_other_run(const std::filesystem::path& folder, const Checkpoint& held, const RunConfig& wanted);
// The state that the folder has of the run of a resolved configuration, if it has one. An Error if it is of
// another run or if, without a state, the log is: it would be overwritten.
std::optional<Checkpoint> held_state(const std::filesystem::path& folder, const RunConfig& wanted);

// An Error naming the parameter that differs. Files are compared by their current content.
void refuse_other_config(const std::filesystem::path& folder, const std::map<std::string, std::string>& held,
                         const std::map<std::string, std::string>& wanted);
// An Error saying what changed since the run began: the data set, the subset, the initial weights.
void refuse_other_fingerprint(const std::filesystem::path& folder, const Fingerprint& held,
                              const Fingerprint& wanted);
// An Error if the classes were divided into other groups when the run began: another version's `auto`.
void refuse_other_groups(const std::filesystem::path& folder, const RunLog& held, const RunLog& wanted);

}  // namespace longtail::train
