// What `longtail recommend` is asked about: a folder of pictures, written in any way, or the name of a data set.
#pragma once

#include <filesystem>
#include <string>

namespace longtail::cli {

// The data set that a copy of the pictures is, in the folder of the answer.
inline constexpr const char* kCopy = "pictures";

// A folder that is there, or `folder:DIR`. The name of published data is never one, nor is a folder of arrays.
bool is_picture_folder(const std::string& asked);
// Whether a copy is kept in the folder of the answer: of picture files, which are slow to read and may change. What is
// imported under a name is not copied again.
bool is_copied(const std::string& asked);
// As load_dataset takes it.
std::string source_name(const std::string& asked);
// As a plan keeps it: folders and list files by their absolute paths, which mean the same from everywhere.
std::string lasting_name(const std::string& asked);
// Whether a plan about `kept` is about what is asked for, however it is written; it need not be there any more.
bool same_pictures(const std::string& kept, const std::string& asked);
// "birds" of "/photos/birds"; other names as they are.
std::string short_name(const std::string& lasting);
// Where the answer is put unless --out says so.
std::filesystem::path answer_folder(const std::string& asked);
// The folder in the answer that holds the data set kCopy; its absolute path.
std::string copy_folder(const std::filesystem::path& answer);
// A UsageError if the answer, or a folder that it will have, would lie in the folder of pictures or be that folder: what is
// in it would be taken for pictures.
void refuse_among_pictures(const std::string& asked, const std::filesystem::path& answer);

}  // namespace longtail::cli
