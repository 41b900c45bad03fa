// What the precompiled headers belong to; it has nothing of its own.
