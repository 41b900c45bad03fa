// The data that `longtail recommend` is asked about: a folder of pictures, in any spelling, or the name of a
// data set.
#pragma once

#include <filesystem>
#include <string>

namespace longtail::cli {

// The name of the data set that holds the copy of the pictures in the folder of the answer.
inline constexpr const char* kCopy = "pictures";

// True for an existing folder or `folder:DIR`; false for the name of published data or a folder of arrays.
bool is_picture_folder(const std::string& asked);
// Whether a copy is kept in the folder of the answer. Picture files are copied, because they are slow to read
// and may change. Data imported under a name are not copied again.
bool is_copied(const std::string& asked);
// The name in the form that load_dataset takes.
std::string source_name(const std::string& asked);
// The name as a plan keeps it: folders and list files by absolute path, which does not depend on the current
// folder.
std::string lasting_name(const std::string& asked);
// Whether a plan about `kept` is about the data asked for, however spelled. The folder may be gone.
bool same_pictures(const std::string& kept, const std::string& asked);
// "birds" for "/photos/birds"; other names unchanged.
std::string short_name(const std::string& lasting);
// Where the answer is written without --out.
std::filesystem::path answer_folder(const std::string& asked);
// The absolute path of the folder in the answer that holds the data set kCopy.
std::string copy_folder(const std::filesystem::path& answer);
// A UsageError if the answer, or a folder that it will have, is the folder of pictures or lies in it: its
// contents would be taken for pictures.
void refuse_among_pictures(const std::string& asked, const std::filesystem::path& answer);

}  // namespace longtail::cli
