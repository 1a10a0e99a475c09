#ifndef WARPAINT_PLACED
#define WARPAINT_PLACED
namespace warpaint {

// A value and its place among those reduced.
template <class T> struct Placed {
    T value;
    unsigned long long place;
};

// The least and the greatest of some values.
template <class T> struct Range {
    T least, greatest;
};

}  // namespace warpaint
#endif
