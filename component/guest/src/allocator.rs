//! The allocator that std would provide.
//!
//! wasi-libc is linked only for its allocator, and for `memcpy` and the like. Its allocator starts in
//! the memory that an instance has from the beginning, so that a fresh instance need not grow.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_void;

#[expect(
    unsafe_code,
    reason = "wasi-libc's allocator; the signatures are those of the C standard"
)]
unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void;
    fn realloc(pointer: *mut c_void, size: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
}

/// What `malloc` promises on wasm32: two words. (wasi-libc promises more; std relies on no more.)
const MALLOC_ALIGNMENT: usize = 8;

struct Libc;

#[global_allocator]
static ALLOCATOR: Libc = Libc;

#[expect(unsafe_code, reason = "an allocator is unsafe by its nature")]
// SAFETY: each pointer comes from `malloc`, `aligned_alloc` or `realloc`, which return null or memory of at least the
// requested size and alignment, and `free` accepts pointers from each of them.
unsafe impl GlobalAlloc for Libc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller asks for more than 0 bytes; `aligned_alloc` requires a power of two, as every `Layout` has
        // it, and a size that is a multiple of it, which cannot overflow because a `Layout` rounded up is at most
        // isize::MAX.
        let pointer = unsafe {
            if layout.align() <= MALLOC_ALIGNMENT {
                malloc(layout.size())
            } else {
                aligned_alloc(layout.align(), layout.size().next_multiple_of(layout.align()))
            }
        };
        pointer.cast()
    }

    unsafe fn dealloc(&self, pointer: *mut u8, _: Layout) {
        // SAFETY: the caller hands back what this allocator gave.
        unsafe { free(pointer.cast()) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if layout.align() <= MALLOC_ALIGNMENT {
            // SAFETY: the caller hands back what this allocator gave, and a size that is not 0.
            return unsafe { realloc(pointer.cast(), new_size) }.cast();
        }
        // SAFETY: the caller vouches for the new size under this alignment; the two blocks do not
        // overlap, and both hold the smaller of the two sizes.
        unsafe {
            let new = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            if !new.is_null() {
                core::ptr::copy_nonoverlapping(pointer, new, layout.size().min(new_size));
                self.dealloc(pointer, layout);
            }
            new
        }
    }
}

/// The host calls this to allocate memory for arguments; wit-bindgen leaves it to std's libc.
#[expect(unsafe_code, reason = "the canonical ABI asks for this function by name")]
// SAFETY: the name belongs to the canonical ABI, and nothing else here has it.
#[unsafe(export_name = "cabi_realloc")]
unsafe extern "C" fn cabi_realloc(
    pointer: *mut u8,
    old_size: usize,
    alignment: usize,
    new_size: usize,
) -> *mut u8 {
    // SAFETY: by the canonical ABI the alignment is a power of two and the pointer, if there is an
    // old size, came from here.
    let new = unsafe {
        match (old_size, new_size) {
            (0, 0) => return core::ptr::without_provenance_mut(alignment),
            (0, _) => ALLOCATOR.alloc(Layout::from_size_align_unchecked(new_size, alignment)),
            _ => {
                let layout = Layout::from_size_align_unchecked(old_size, alignment);
                ALLOCATOR.realloc(pointer, layout, new_size)
            }
        }
    };
    if new.is_null() {
        // Nothing can be logged: the host is in the middle of a call and accepts none from us.
        core::arch::wasm32::unreachable();
    }
    new
}
