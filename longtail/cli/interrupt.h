// Clean stop on SIGINT, SIGTERM and SIGHUP: long work polls interrupted() and ends cleanly. A second signal
// ends the program at once. That loses nothing either, because a checkpoint is written whole or not at all. A
// signal that was ignored from the start (`nohup`) stays ignored.
#pragma once

namespace longtail::cli {

void catch_interrupts();
bool interrupted();

}  // namespace longtail::cli
