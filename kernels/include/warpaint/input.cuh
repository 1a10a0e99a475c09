// warpaint/input.cuh: which keys are held. A kernel takes `uint4 keys`.
//
//     if (warpaint::held(keys, 'W')) ...           // letters in upper case
//     if (warpaint::held(keys, warpaint::KEY_SHIFT)) ...
#pragma once

namespace warpaint {

// Keys that type no character.
enum Key { KEY_SHIFT = 14, KEY_CONTROL = 15, KEY_ALT = 16, KEY_LEFT = 17, KEY_UP = 18, KEY_RIGHT = 19, KEY_DOWN = 20 };

// Whether the key is held: an ASCII character (letters in upper case) or a Key.
__host__ __device__ inline bool held(uint4 keys, int key)
{
    unsigned word = key < 32 ? keys.x : key < 64 ? keys.y : key < 96 ? keys.z : keys.w;
    return key >= 0 && key < 128 && ((word >> (key & 31)) & 1u);
}

}  // namespace warpaint
