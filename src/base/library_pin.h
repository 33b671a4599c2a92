// Keeps the library that this code is in loaded after the application's
// dlclose(), for as long as a thread of the library runs. The thread's end
// unloads it: the C library calls dlclose() there, so no code of the library
// runs afterwards.
//
// Thread-safety: all may be called on any thread.
#ifndef TAKT_BASE_LIBRARY_PIN_H_
#define TAKT_BASE_LIBRARY_PIN_H_

namespace takt {

// A further reference to the library. Null if this code is part of the program,
// or if the C library cannot say which library it is.
void* PinLibrary();

// Releases a pin, or null. Not the last reference: the caller returns here.
void UnpinLibrary(void* pin);

// Releases a pin, or null, when this thread ends. Called once on a thread. If
// the system has no memory for that, the library stays loaded.
void UnpinLibraryAtThreadEnd(void* pin);

}  // namespace takt

#endif  // TAKT_BASE_LIBRARY_PIN_H_
